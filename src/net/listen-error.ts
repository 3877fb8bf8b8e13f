import { CountersignError } from '../countersign-error.ts';

/**
 * The system's error code, or `UNSUPPORTED_RUNTIME` in Bun. Other codes of the system are possible.
 */
type ListenErrorCode =
  /** Another process uses the port. */
  | 'EADDRINUSE'
  /** This user has no permission to open the port. */
  | 'EACCES'
  /** The host is not an address of this machine. */
  | 'EADDRNOTAVAIL'
  /** The host is neither an address nor a name that can be resolved. */
  | 'ENOTFOUND'
  /** The runtime is Bun. */
  | 'UNSUPPORTED_RUNTIME'
  | (string & Record<never, never>);

/** Thrown if an address cannot be listened on. */
export class ListenError extends CountersignError {
  override readonly name = 'ListenError';
  readonly code: ListenErrorCode;

  /** @param cause the error of the system. Default: none */
  constructor(code: ListenErrorCode, message: string, cause?: Error) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/** Throws ListenError in Bun, whose node:http lacks the close() of node:net, and its node:https a certificate that can be replaced. */
export function checkRuntime(versions: Readonly<Record<string, string | undefined>>): void {
  if (versions['bun'] === undefined) return;
  throw new ListenError('UNSUPPORTED_RUNTIME', 'Bun is not supported: use Node.js, or Deno.');
}

/** Returns an error that explains in one line why `host` and `port` could not be bound. */
export function toListenError(error: Error, host: string, port: number): ListenError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
  return new ListenError(code, formatMessage(code, host, port), error);
}

function formatMessage(code: string, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use by another process.`;
    case 'EACCES':
      return `This user has no permission to open port ${port} on ${host}.`;
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine.`;
    case 'ENOTFOUND':
      return `${host} is neither an address nor a name that can be resolved.`;
    default:
      return `Port ${port} on ${host} cannot be listened on (${code}).`;
  }
}
