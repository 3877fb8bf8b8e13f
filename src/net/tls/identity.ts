/** What a server proves with who it is, in PEM: the certificate, with those between it and its authority, and its key. */
export interface ServerIdentity {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** A certificate or its key cannot be used. The message names no file: who read them knows which. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code = 'identity';
  /** Where the fault is; `both` when each may be good by itself. */
  readonly part: keyof ServerIdentity | 'both';

  constructor(part: IdentityError['part'], message: string, cause?: unknown) {
    super(message, { cause });
    this.part = part;
  }
}

/** Gives what `use` makes of an identity; what Node throws at one that cannot be used becomes an IdentityError. */
export function usable<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new IdentityError(
      'cert',
      `TLS does not take the certificate and its key (${reasonOf(cause)})`,
      cause,
    );
  }
}

/** What OpenSSL says, without the place in its source. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
