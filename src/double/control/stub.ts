import { furtherLine, sendableLine } from '../../http/fields.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import { neverHasContent } from '../../http/message.ts';
import { type Access, action, type Outcome, type Resource } from '../../pipeline/resource.ts';

/** The fixed answer of a method. */
export interface StubResponse {
  /** Who may get it. */
  readonly access: Access;
  /** 200 when left out. */
  readonly status?: number;
  /** The media type of the content; `text/plain; charset=utf-8` when left out. */
  readonly type?: string;
  /** The content as text. */
  readonly content?: string;
  /** The content as bytes in base64. */
  readonly base64?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The fixed answers of a resource, by method. */
export type StubResponses = Readonly<Partial<Record<'GET' | 'PUT' | 'POST' | 'DELETE', StubResponse>>>;

/** Makes a resource that always answers the same. Throws RangeError on what cannot be sent, or on an owner that `template` does not name. */
export function stubResource(template: string, answers: StubResponses): Resource {
  const methods = Object.entries(answers).map(([method, answer]) => {
    checkAccess(answer.access, template);
    const outcome = outcomeOf(answer);
    return [method, action(answer.access, () => outcome)];
  });
  if (methods.length === 0) throw new RangeError('a resource has one method at least');
  return Object.fromEntries(methods);
}

function checkAccess(access: Access, template: string): void {
  if (typeof access !== 'string' || !access.startsWith('owner:')) return;
  const parameter = access.slice('owner:'.length);
  if (!template.includes(`{${parameter}}`))
    throw new RangeError(`${JSON.stringify(access)} names no parameter of ${template}`);
}

function outcomeOf({ status = 200, type, content, base64, fields = {} }: StubResponse): Outcome {
  const bytes = bytesOf(content, base64);
  const lines = Object.entries(fields).map(([name, value]) => furtherLine(name, value));
  if (type !== undefined) sendableLine('type', type);
  if (bytes === undefined) return { status, fields: lines };
  if (neverHasContent(status)) throw new RangeError(`an answer of status ${status} has no content`);
  return {
    status,
    fields: lines,
    representation: { type: type ?? 'text/plain; charset=utf-8', content: bytes },
  };
}

function bytesOf(content: string | undefined, base64: string | undefined): string | Uint8Array | undefined {
  if (base64 === undefined) return content;
  if (content !== undefined) throw new RangeError('content and base64 are two contents of one answer');
  const bytes = decodeCanonicalBase64(base64);
  if (bytes === undefined) throw new RangeError('base64 is not canonical base64 (RFC 4648 §4)');
  return bytes;
}
