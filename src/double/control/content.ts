import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import { Problem } from '../../http/problem.ts';
import { formatFault, formatPath } from '../../shape/fault.ts';
import { anything, type Shape } from '../../shape/shape.ts';

/** Describes an object of any members. */
export function anyObject(description?: string): Shape<unknown> {
  return { ...anything, schema: { type: 'object', ...(description !== undefined && { description }) } };
}

/** Reads content by its shape. Throws a Problem `invalid-content` that names the path of the first fault: `faults.times`. */
export function readContent<T>(shape: Shape<T>, content: unknown): T {
  const read = shape.read(content);
  if ('value' in read) return read.value;
  const [first] = read.faults;
  const field = first === undefined ? '' : formatPath(first.path);
  const detail = first === undefined ? 'the content is invalid' : formatFault(first, 'the content');
  throw refuseContent(field, detail.endsWith('?') ? detail : `${detail}.`);
}

/** Returns the problem of content that is invalid at `field`, the path of a member. */
export function invalid(field: string, why: string): Problem {
  return refuseContent(field, `${field} of the content ${why}.`);
}

function refuseContent(field: string, detail: string): Problem {
  return new Problem('invalid-content', detail, { members: field === '' ? {} : { field } });
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
