import type { Reading } from '../pipeline/resource.ts';

/** Reads content of every type as its bytes, for resources in code. */
export const bytes: Reading<unknown, Uint8Array> = {
  type: '*/*',
  decoder() {
    const pieces: Uint8Array[] = [];
    return {
      // The chunk is the socket's own memory, so what is kept is a copy.
      write: (chunk) => void pieces.push(Uint8Array.from(chunk)),
      end: () => Buffer.concat(pieces),
    };
  },
};
