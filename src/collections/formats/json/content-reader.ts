import { decodeWhole } from '../../../http/collected-bytes.ts';
import type { ContentReader } from '../../../pipeline/resource.ts';
import { parseJsonBytes } from './decoder.ts';

/** The maximum nesting of objects and arrays. */
const maxDepth = 64;

/**
 * Reads content in JSON as its value, for resources in code. Content that is malformed, not UTF-8, nested more than 64 levels deep, or
 * has a name twice in an object is refused with 400 and its position.
 * @example const POST = action('authenticated', ({ body }) => json({ received: body }), { reads: [readJson] });
 */
export const readJson: ContentReader = {
  type: 'application/json',
  decoder: () => decodeWhole((bytes) => parseJsonBytes(bytes, maxDepth)),
};
