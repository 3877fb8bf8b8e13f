import { CountersignError } from '../../countersign-error.ts';

/** The TLS identity of a server, in PEM: the certificate, followed by intermediate certificates, and its private key. */
export interface TlsIdentity {
  /** The certificate in PEM, followed by intermediate certificates. */
  readonly cert: string | Buffer;
  /** The private key in PEM, without a passphrase. */
  readonly key: string | Buffer;
}

/** Thrown if a certificate or its key cannot be used. The message does not name a file, because the caller knows it. */
export class TlsError extends CountersignError {
  override readonly name = 'TlsError';
  /** The part that is invalid; `mismatch` if the key is not that of the certificate. */
  readonly code: 'certificate' | 'key' | 'mismatch';

  constructor(code: TlsError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/** Calls `use` with an identity. Converts an error of Node to a TlsError. */
export function usable<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new TlsError(
      'certificate',
      `TLS does not accept the certificate and its key (${formatReason(cause)})`,
      cause,
    );
  }
}

/** Returns OpenSSL's reason, without the position in its source. */
function formatReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
