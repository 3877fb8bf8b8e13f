/** The standard streams of a command; `process` is one. */
export interface Terminal {
  readonly stdin: AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  readonly stdout: Outlet;
  readonly stderr: Outlet;
}

/** An output stream of a command. */
export interface Outlet {
  readonly isTTY?: boolean;
  /** Writes text. Calls `onWritten` when it is written, or with the error if it cannot be. */
  write(text: string, onWritten?: (error?: Error | null) => void): unknown;
}
