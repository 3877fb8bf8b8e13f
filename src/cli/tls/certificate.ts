import type { TlsIdentity } from '../../net/tls/identity.ts';

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
