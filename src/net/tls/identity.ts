/** The TLS identity of a server, in PEM: the certificate, followed by intermediate certificates, and its private key. */
export interface TlsIdentity {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Thrown if a certificate or its key cannot be used. The message does not name a file, because the caller knows it. */
export class TlsError extends Error {
  override readonly name = 'TlsError';
  readonly code = 'identity';
  /** The part that is invalid; `both` if they do not match. */
  readonly part: keyof TlsIdentity | 'both';

  constructor(part: TlsError['part'], message: string, cause?: unknown) {
    super(message, { cause });
    this.part = part;
  }
}

/** Calls `use` with an identity. Converts an error of Node to an TlsError. */
export function usable<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new TlsError('cert', `TLS does not accept the certificate and its key (${reasonOf(cause)})`, cause);
  }
}

/** Returns OpenSSL's reason, without the position in its source. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
