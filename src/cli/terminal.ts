/** What a command reads and writes; `process` is one. */
export interface Terminal {
  readonly stdin: AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  readonly stdout: Outlet;
  readonly stderr: Outlet;
}

/** Where a command says something. */
export interface Outlet {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}
