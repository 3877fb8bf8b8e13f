import { readJsonBytes } from '../../formats/json/decoder.ts';
import { CollectedBytes } from '../../http/collected-bytes.ts';
import type { ContentReader } from '../../pipeline/resource.ts';

/** The maximum nesting depth of JSON content. */
const maxDepth = 64;

/** Decodes JSON content to plain values. */
export const plainJson: ContentReader = {
  type: 'application/json',
  decoder() {
    const collected = new CollectedBytes();
    return {
      write: (chunk) => collected.write(chunk),
      end() {
        // Unlike JSON.parse, readJsonBytes reports positions and rejects duplicate names.
        const { text } = readJsonBytes(collected.bytes, maxDepth);
        return JSON.parse(text);
      },
    };
  },
};
