import { readJsonBytes } from '../../formats/json/decoder.ts';
import { CollectedBytes } from '../../http/collected-bytes.ts';
import type { Reading } from '../../pipeline/resource.ts';

/** How deep what is sent to the control interface may be nested. */
const maxDepth = 64;

/** Reads JSON as plain values. */
export const plainJson: Reading = {
  type: 'application/json',
  decoder() {
    const collected = new CollectedBytes();
    return {
      write: (chunk) => collected.write(chunk),
      end() {
        // Unlike JSON.parse, it says where a fault is, and refuses a name that stands twice.
        const { text } = readJsonBytes(collected.bytes, maxDepth);
        return JSON.parse(text);
      },
    };
  },
};
