import { TlsError, type TlsIdentity } from '../../net/tls/identity.ts';
import { errorCode, nodeDisk } from '../../store/files/disk.ts';
import { CommandError } from '../errors.ts';

/** A new certificate that replaces the current one. */
export interface Renewal {
  readonly identity: TlsIdentity;
  /** The line to report. */
  readonly message: string;
}

/** The certificate of HTTPS and its maintenance. */
export interface Certificate {
  readonly identity: TlsIdentity;
  /** Warnings to report at the start, one sentence each. */
  readonly notes: readonly string[];
  /** Path and validity, for the output of `check`. */
  readonly about: string;
  /** The certificate file that a client on this host can trust; undefined if there is none. */
  readonly file: string | undefined;
  /** Writes a generated certificate and key to disk. */
  save(): Promise<void>;
  /** Reads the files of `--tls-cert` and `--tls-key` again. Does nothing for a generated certificate. Throws CommandError. */
  reload(): Promise<Renewal | undefined>;
  /** Replaces and writes a generated certificate that is about to expire. */
  renew(): Promise<Renewal | undefined>;
}

/** The paths of a certificate and its private key. */
export interface PemFiles {
  readonly cert: string;
  readonly key: string;
}

/** Reads a file; undefined if it does not exist. Throws CommandError if it cannot be read. */
export async function readPem(path: string): Promise<Buffer | undefined> {
  try {
    const bytes = await nodeDisk.read(path);
    return bytes === undefined ? undefined : Buffer.from(bytes);
  } catch (error) {
    throw new CommandError([`${path} cannot be read (${errorCode(error) ?? 'unknown'})`], 1);
  }
}

/** Calls `action`. Converts a TlsError to a CommandError that names the file and ends with `hint`. */
export function withNames<T>(files: PemFiles, hint: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof TlsError)) throw error;
    const names = { certificate: files.cert, key: files.key, mismatch: `${files.cert} and ${files.key}` };
    throw new CommandError([`${names[error.code]}: ${error.message}${hint}`], 1);
  }
}

/** Returns a warning if a certificate is not valid at `now`. All times are milliseconds since the epoch. */
export function validityWarnings(
  path: string,
  { from, until }: { readonly from: number; readonly until: number },
  now: number,
): string[] {
  if (now > until) return [`${path}: the certificate expired at ${isoTime(until)}; clients reject it`];
  if (now < from) return [`${path}: the certificate is not valid before ${isoTime(from)}; clients reject it`];
  return [];
}

/** Formats a time without milliseconds: `2027-12-22T09:34:36Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.[0-9]+/, '');
}
