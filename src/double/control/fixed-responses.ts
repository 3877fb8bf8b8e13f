import { furtherLine, sendableLine } from '../../http/fields.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import { neverHasContent } from '../../http/message.ts';
import { type Access, action, type Outcome, type Resource } from '../../pipeline/resource.ts';

/** The fixed response of a method. */
export interface StubResponse {
  /** The principals with access. */
  readonly access: Access;
  /** Default: 200. */
  readonly status?: number;
  /** The media type of the content. Default: `text/plain; charset=utf-8`. */
  readonly type?: string;
  /** The content as text. */
  readonly content?: string;
  /** The content as bytes in base64. */
  readonly base64?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The fixed responses of a resource, by method. */
export type StubResponses = Readonly<Partial<Record<'GET' | 'PUT' | 'POST' | 'DELETE', StubResponse>>>;

/**
 * Creates a resource with fixed responses. Throws RangeError if a response cannot be sent, or if `template` does not have
 * the parameter that names an owner.
 */
export function stubResource(template: string, responses: StubResponses): Resource {
  const methods = Object.entries(responses).map(([method, response]) => {
    checkAccess(response.access, template);
    const outcome = outcomeOf(response);
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

function outcomeOf({ status = 200, type, content, base64, fields = {} }: StubResponse): Outcome {
  const bytes = bytesOf(content, base64);
  const lines = Object.entries(fields).map(([name, value]) => furtherLine(name, value));
  if (type !== undefined) sendableLine('type', type);
  if (bytes === undefined) return { status, fields: lines };
  if (neverHasContent(status)) throw new RangeError(`a response with status ${status} cannot have content`);
  return {
    status,
    fields: lines,
    representation: { type: type ?? 'text/plain; charset=utf-8', content: bytes },
  };
}

function bytesOf(content: string | undefined, base64: string | undefined): string | Uint8Array | undefined {
  if (base64 === undefined) return content;
  if (content !== undefined) throw new RangeError('content and base64 exclude each other');
  const bytes = decodeCanonicalBase64(base64);
  if (bytes === undefined) throw new RangeError('base64 is not canonical base64 (RFC 4648 §4)');
  return bytes;
}
