import { IdentityError } from '../../net/tls/identity.ts';
import { errorCode, nodeDisk } from '../../store/files/disk.ts';
import { CommandError } from '../errors.ts';

/** Where a certificate and its private key are. */
export interface PemFiles {
  readonly cert: string;
  readonly key: string;
}

/** The content of a file; undefined when there is none. Throws Refusal when it cannot be read. */
export async function readPem(path: string): Promise<Buffer | undefined> {
  try {
    const bytes = await nodeDisk.read(path);
    return bytes === undefined ? undefined : Buffer.from(bytes);
  } catch (error) {
    throw new CommandError([`${path} cannot be read (${errorCode(error) ?? 'unknown'})`], 1);
  }
}

/** Does something with what is in the files. An IdentityError becomes a Refusal that names the file, and ends in `hint`. */
export function withNames<T>(files: PemFiles, hint: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    const where = error.part === 'both' ? `${files.cert} and ${files.key}` : files[error.part];
    throw new CommandError([`${where}: ${error.message}${hint}`], 1);
  }
}

/** What a client will not like about the time of a certificate at `now`; all in ms. One sentence, or none. */
export function validityWarnings(
  path: string,
  { from, until }: { readonly from: number; readonly until: number },
  now: number,
): string[] {
  if (now > until) return [`${path}: the certificate was valid until ${isoTime(until)}: clients refuse it`];
  if (now < from) return [`${path}: the certificate is valid from ${isoTime(from)} on: clients refuse it`];
  return [];
}

/** `2027-12-22T09:34:36Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.[0-9]+/, '');
}
