import { readJsonBytes } from '../../formats/json/decoder.ts';
import { CollectedBytes } from '../../http/collected-bytes.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import { Problem } from '../../http/problem.ts';
import type { ContentReader } from '../../pipeline/resource.ts';
import { formatFault, formatPath } from '../../shape/fault.ts';
import type { Shape } from '../../shape/shape.ts';

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

/** Reads content by its shape. Throws a Problem `invalid-content` that names the path of the first fault: `faults.times`. */
export function readContent<T>(shape: Shape<T>, content: unknown): T {
  const read = shape.read(content);
  if ('value' in read) return read.value;
  const [first] = read.faults;
  if (first === undefined) throw invalid('', 'is invalid');
  const field = formatPath(first.path);
  const detail = formatFault(first, 'the content');
  throw new Problem('invalid-content', detail.endsWith('?') ? detail : `${detail}.`, {
    members: field === '' ? {} : { field },
  });
}

/** Returns the problem of content that is invalid at `field`, the path of a member. */
export function invalid(field: string, why: string): Problem {
  return new Problem('invalid-content', `${field === '' ? 'The content' : field} ${why}.`, {
    members: field === '' ? {} : { field },
  });
}

/** Returns content given as text or in base64. Throws RangeError if it is given as both, or is not canonical. */
export function readBody<Body>(
  body: Body | undefined,
  base64: string | undefined,
): Body | Uint8Array | undefined {
  if (base64 === undefined) return body;
  if (body !== undefined) throw new RangeError('body and base64 exclude each other');
  const bytes = decodeCanonicalBase64(base64);
  if (bytes === undefined) throw new RangeError('base64 is not canonical base64 (RFC 4648 §4)');
  return bytes;
}
