import { createFurtherLine, sendableLine } from '../../http/fields.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import { type Access, type ActionResponse, action, type Resource } from '../../pipeline/resource.ts';
import { toActionResponse } from '../stubs/response.ts';

/** The fixed response of a method. */
export interface FixedResponse {
  /** The principals with access. */
  readonly access: Access;
  /** Default: 200. */
  readonly status?: number;
  /** The media type of the content. Default: `text/plain; charset=utf-8`. */
  readonly type?: string;
  /** The content as text. */
  readonly body?: string;
  /** The content as bytes in base64. */
  readonly base64?: string;
  /** Further header fields. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The fixed responses of a resource, by method. */
export type FixedResponses = Readonly<Partial<Record<'GET' | 'PUT' | 'POST' | 'DELETE', FixedResponse>>>;

/**
 * Creates a resource with fixed responses. Throws RangeError if a response cannot be sent, or if `template` does not have
 * the parameter that names an owner.
 */
export function createFixedResource(template: string, responses: FixedResponses): Resource {
  const methods = Object.entries(responses).map(([method, response]) => {
    checkAccess(response.access, template);
    const outcome = buildFixedOutcome(response);
    return [method, action(response.access, () => outcome)];
  });
  if (methods.length === 0) throw new RangeError('a resource must have at least one method');
  return Object.fromEntries(methods);
}

function checkAccess(access: Access, template: string): void {
  if (typeof access !== 'string' || !access.startsWith('owner:')) return;
  const parameter = access.slice('owner:'.length);
  if (!template.includes(`{${parameter}}`))
    throw new RangeError(`${JSON.stringify(access)} does not name a parameter of ${template}`);
}

function buildFixedOutcome({ status, type, body, base64, headers = {} }: FixedResponse): ActionResponse {
  const content = readBody(body, base64);
  const lines = Object.entries(headers).map(([name, value]) => createFurtherLine(name, value));
  if (type !== undefined) sendableLine('type', type);
  lines.push(['Content-Type', type ?? 'text/plain; charset=utf-8']);
  return toActionResponse({ headers: lines, body: content, ...(status !== undefined && { status }) });
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
