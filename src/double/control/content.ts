// What contents and answers of several operations have in common.
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import { Problem } from '../../http/problem.ts';
import { formatFault, formatPath } from '../../shape/fault.ts';
import {
  anything,
  either,
  grammar,
  leaf,
  listOf,
  mapOf,
  number,
  optional,
  type Shape,
  text,
  word,
} from '../../shape/shape.ts';
import { matchMembers, pathShape, type RequestMatch, writePattern } from '../match.ts';
import type { RuleHandle } from '../rules.ts';

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

/** Bytes in base64. */
export function bytesInBase64(description: string): Shape<Uint8Array> {
  return grammar({ type: 'string', description }, 'text', (value, what) => {
    const bytes = typeof value === 'string' ? decodeCanonicalBase64(value) : undefined;
    if (bytes === undefined) throw new RangeError(`${what} is not canonical base64 (RFC 4648 §4)`);
    return bytes;
  });
}

/** The members of a response that a stub or a partner's operation sends. */
export const responseMembers = {
  status: optional(number({ min: 200, max: 599 }, 'default: 200')),
  headers: optional(describeHeaders('header fields; Content-Type names another type than that of the body')),
  body: optional({
    ...anything,
    schema: { description: 'text is sent as text, any other value as JSON' },
  }),
  base64: optional(bytesInBase64('content as bytes, instead of body')),
};

/** Returns a response with its content. Throws RangeError if that is given twice. */
export function readResponse<Response extends { readonly body?: unknown; readonly base64?: Uint8Array }>({
  body,
  base64,
  ...others
}: Response) {
  if (body !== undefined && base64 !== undefined) throw new RangeError('body and base64 exclude each other');
  return { ...others, body: base64 ?? body };
}

const textOrNone = leaf(
  { type: ['string', 'null'], description: 'null requires that it is absent' },
  'text or null',
  (value): value is string | null => value === null || typeof value === 'string',
);

/** The members of an object that selects requests. A request matches if it matches every member that is present. */
export const requestMatchMembers = {
  method: matchMembers.method,
  path: optional(pathShape),
  user: optional(text('the user whom the credentials name, or to whom the token was issued, valid or not')),
  scheme: optional(text('the scheme of the credentials, valid or not')),
  query: optional(mapOf(textOrNone, 'parameters of the query, decoded')),
  headers: optional(mapOf(textOrNone, 'header fields by name')),
  body: optional({ ...anything, schema: { description: 'a part of JSON or of a form, or the whole text' } }),
};

/** Returns a match without what JSON cannot represent: patterns become text, and functions their names. */
function matchToJson(match: RequestMatch): Readonly<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify(match, (name, value: unknown) =>
      typeof value === 'function' ? { function: value.name } : writePattern(name, value),
    ),
  );
}

/** The number of requests to which a rule will still be applied. */
const remainingShape = either(
  number({}),
  word(['always']),
  'the number of requests that it will still answer or change',
);

/** The members of a rule that every list of rules shows. */
export const ruleMembers = {
  match: anyObject(),
  count: number({}, 'the number of requests to which it was applied'),
  remaining: remainingShape,
};

/** Returns these members of a rule. JSON has no infinite number. */
export function ruleToJson({ match, count, remaining }: RuleParts) {
  const left: number | 'always' = Number.isFinite(remaining) ? remaining : 'always';
  return { match: matchToJson(match), count, remaining: left };
}

type RuleParts = Pick<RuleHandle, 'count' | 'remaining'> & { readonly match: RequestMatch };

/** The header fields of a response. */
export function describeHeaders(
  description: string,
): Shape<Readonly<Record<string, string | readonly string[]>>> {
  return mapOf(either(text(), listOf(text())), `${description}; a list is sent as several lines`);
}
