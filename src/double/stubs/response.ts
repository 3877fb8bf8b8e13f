import { type HeadersInput, toLines } from '../../http/field-lines.ts';
import { createFurtherLine, sendableLine } from '../../http/fields.ts';
import { neverHasContent } from '../../http/message.ts';
import { isPlatformResponse } from '../../pipeline/platform-response.ts';
import type { ActionResponse, Representation } from '../../pipeline/resource.ts';
import { describeKind } from '../../shape/fault.ts';
import { anything, number, object, optional, read, type ShapesOf } from '../../shape/shape.ts';

/** The response of a stub, as a value. A function of a stub can return a `Response` of the platform, too. */
export interface StubResponse {
  /** The status code, 200 to 599. Default: 200. */
  readonly status?: number | undefined;
  /** Header fields, by name or as a list of lines. A list of values is sent as several lines. Content-Type names another type than that of `body`. */
  readonly headers?: HeadersInput | undefined;
  /**
   * The content: an object, array, number, boolean or null is sent as JSON, a string as text, bytes as they are. Default: none.
   */
  readonly body?: unknown | undefined;
}

const responseShape = object(
  {
    status: optional(number({ min: 200, max: 599 })),
    headers: optional(anything),
    body: optional(anything),
  } satisfies ShapesOf<StubResponse>,
  undefined,
  { expected: 'an object such as { status: 201, body: { id: 1 } }' },
);

/** Converts the response of a stub to an outcome. Throws RangeError if it cannot be sent. */
export function toActionResponse(response: StubResponse): ActionResponse {
  if (isPlatformResponse(response))
    throw new RangeError('a Response can be sent only once; return it from a function instead');
  read(responseShape, response, 'the response of a stub');
  const tag = tagOf(response);
  if (tag !== 'Object')
    throw new RangeError(
      `the response of a stub must be ${responseShape.expected}, or a Response, is a ${tag}`,
    );
  const { status = 200, headers = {}, body } = response;
  const lines = toLines(headers).map(([name, value]) => sendableLine(name, value));
  const type = lines.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const fields = lines
    .filter(([name]) => name.toLowerCase() !== 'content-type')
    .map(([name, value]) => createFurtherLine(name, value));
  if (body === undefined) return { status, headers: fields };
  if (neverHasContent(status)) throw new RangeError(`a response with status ${status} cannot have content`);
  const { type: own, body: content } = toRepresentation(body);
  return { status, headers: fields, representation: { type: type ?? own, body: content } };
}

/** Returns the name of the class of a built-in value: `Map`. */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function toRepresentation(body: unknown): Representation {
  if (typeof body === 'string') return { type: 'text/plain; charset=utf-8', body };
  if (body instanceof Uint8Array) return { type: 'application/octet-stream', body };
  if (body instanceof ArrayBuffer) return { type: 'application/octet-stream', body: new Uint8Array(body) };
  return { type: 'application/json', body: formatJson(body) };
}

/** Returns a value as JSON. Throws RangeError for what would be sent as `{}` or as nothing, such as a Map, a form or a promise. */
function formatJson(body: unknown): string {
  const tag = tagOf(body);
  const isPlain = ['Object', 'Array', 'Number', 'Boolean', 'Null', 'Date'].includes(tag);
  const content = isPlain ? JSON.stringify(body) : undefined;
  if (content !== undefined && !(typeof body === 'number' && !Number.isFinite(body))) return content;
  const found = isPlain || typeof body !== 'object' ? describeKind(body) : `a ${tag}`;
  throw new RangeError(`body of the response of a stub must be JSON, text or bytes, is ${found}`);
}
