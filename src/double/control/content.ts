import { readJsonBytes } from '../../formats/json/decoder.ts';
import type { Reading } from '../../pipeline/resource.ts';

/** How deep what is sent to the control interface may be nested. */
const maxDepth = 64;

/** Reads JSON as plain values. */
export const plainJson: Reading = {
  type: 'application/json',
  decoder() {
    const chunks: Uint8Array[] = [];
    return {
      // The chunk is the socket's own memory, so what is kept is a copy.
      write: (chunk) => void chunks.push(Uint8Array.from(chunk)),
      end() {
        // Unlike JSON.parse, it says where a fault is, and refuses a name that stands twice.
        const { text } = readJsonBytes(Buffer.concat(chunks), maxDepth);
        return JSON.parse(text);
      },
    };
  },
};
