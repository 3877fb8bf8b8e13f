import { readJsonBytes } from '../representation/json-decoder.ts';
import type { JsonNode } from '../representation/json-reader.ts';
import type { Reading } from '../resource.ts';

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
      end: () => plainOf(readJsonBytes(Buffer.concat(chunks), maxDepth).node),
    };
  },
};

function plainOf(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries([...node.members].map(([name, { value }]) => [name, plainOf(value)]));
    case 'array':
      return node.items.map(plainOf);
    case 'number':
      return Number(node.text);
    case 'boolean':
      return node.text === 'true';
    case 'null':
      return null;
    case 'string':
      return node.text;
  }
}
