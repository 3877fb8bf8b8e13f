import type { EventEmitter } from 'node:events';
import type { Outlet } from '../terminal.ts';

/** The parts of `process` that a server uses. Signals and warnings are its events. */
export interface ServerProcess extends EventEmitter {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: Outlet & EventEmitter;
  /** The access log is written to its file descriptor. */
  readonly stderr: Outlet & EventEmitter & { readonly fd: number };
  /** Ends the process. */
  exit(status: number): void;
}
