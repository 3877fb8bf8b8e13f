// The files of a data directory: the only list. docs/data-format.md describes them.
import { parseLogName } from '../log/line.ts';

/** The file names of the current and of the previous snapshot. */
export const snapshotName = 'store.jsonl';
export const previousName = 'store.previous.jsonl';
/** The names of the account files, without their extension. */
export const accountFileNames = ['users', 'clients', 'consumers', 'keys', 'revocations'] as const;
/** The name of the file with the key of OAuth 1.0a. */
export const masterKeyFile = 'oauth.key';
/** The directory of the certificate and its key. */
export const tlsDirectory = 'tls';
/** The file that a directory has while the files of a copy are moved into it. Without it, the copy is complete. */
export const incompleteCopyName = 'copy.incomplete';
/** The subdirectory in which a copy is prepared. */
export const preparedCopyName = 'copy.tmp';

/** What a file of a data directory is, which decides who copies or replaces it. */
export type FileKind =
  /** A snapshot or a journal. */
  | 'store'
  /** Claims of nonces. */
  | 'nonces'
  /** Accounts, keys or requested revocations. */
  | 'accounts'
  /** The version of an account file that a server uses. */
  | 'seen'
  /** The directory of the certificate. */
  | 'certificate'
  /** A lock of the directory, or of one file. */
  | 'lock'
  /** A copy that is not complete. */
  | 'copy'
  /** What a repair or a start has set aside for a person. */
  | 'saved'
  /** A file that a process is writing. */
  | 'temporary';

const account = `(?:${accountFileNames.join('|')})`;

/** The forms of the names, of which the first that fits decides. */
const forms: readonly (readonly [form: RegExp, kind: FileKind])[] = [
  [/^(?:store|store\.previous)\.jsonl$/, 'store'],
  [new RegExp(`^(?:${account}\\.json|oauth\\.key)$`), 'accounts'],
  [new RegExp(`^${account}\\.seen$`), 'seen'],
  [/^tls$/, 'certificate'],
  [/^lock\.[0-9]+(?:-[0-9]+\.tmp)?$/, 'lock'],
  [new RegExp(`^(?:${account}|oauth\\.key)\\.lock$`), 'lock'],
  [/^copy\.(?:tmp|incomplete(?:\.[0-9]+-[0-9]+\.tmp)?)$/, 'copy'],
  [/^(?:torn-.*\.bin|store\.damaged-[0-9]+\.jsonl)$/, 'saved'],
  [/\.[0-9]+-[0-9]+\.tmp$/, 'temporary'],
];

/** Returns what a file of this name is; undefined if no data directory has such a file. */
export function kindOf(name: string): FileKind | undefined {
  if (parseLogName('journal', name) !== undefined) return 'store';
  if (parseLogName('nonces', name) !== undefined) return 'nonces';
  return forms.find(([form]) => form.test(name))?.[1];
}

/** Returns the name of the file to which the end of a journal is moved, from a byte on. */
export function formatTornName(generation: number, byte: number): string {
  return `torn-${generation}-${byte}.bin`;
}

/** Returns the name of a damaged snapshot that was replaced. */
export function formatDamagedName(number: number): string {
  return `store.damaged-${number}.jsonl`;
}
