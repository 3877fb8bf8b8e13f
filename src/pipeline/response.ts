import { createHash } from 'node:crypto';
import { type FieldLine, furtherLine } from '../http/fields.ts';
import { acceptsCoding } from '../http/headers/accept.ts';
import { formatEntityTag } from '../http/headers/entity-tag.ts';
import { neverHasContent, type Response } from '../http/message.ts';
import type { Principal } from '../principal.ts';
import type { CallContext } from './call.ts';
import type { Found, Outcome, Representation, Variant } from './resource.ts';

/** What a reply may depend on, whether or not this one did (RFC 9110 §12.5.5). */
const vary: FieldLine = ['Vary', 'Authorization, Authentication, Accept, Accept-Encoding'];

/** Nothing is used again without asking; what somebody may see is for that client alone (RFC 9111 §5.2.2). */
const cacheForNobody: FieldLine = ['Cache-Control', 'no-cache'];
const cacheForSomebody: FieldLine = ['Cache-Control', 'private, no-cache'];
const cacheNever: FieldLine = ['Cache-Control', 'no-store'];

/** Content shorter than this many characters is not worth packing. */
const worthPacking = 1024;

const packedSuffix = '-gzip';

/** The lines that every reply begins with: its Date, and who may keep it. `never` is for refusals of a principal. */
export function leadingFields(date: string, principal: Principal | undefined, never = false): FieldLine[] {
  const cache = principal === undefined ? cacheForNobody : cacheForSomebody;
  return [['Date', date], vary, never ? cacheNever : cache];
}

/** An action's result in full. */
export function toOutcome(done: Outcome | Representation): Outcome {
  return 'status' in done ? done : { status: 200, representation: done };
}

/** The opaque tags that are current: of the variant chosen where it is read, else of every variant. */
export function tagsOf(found: Found, call: CallContext, produces: readonly Variant[] | undefined): string[] {
  const reads = call.method === 'GET' || call.method === 'HEAD';
  if (reads || produces === undefined) return tagsOfVariant(found, reads ? call.variant : undefined);
  return produces.flatMap((variant) => tagsOfVariant(found, variant));
}

function tagsOfVariant(found: Found, variant: Variant | undefined): string[] {
  const tag = tagOf(found, variant);
  return [tag, tag + packedSuffix];
}

function tagOf(found: Found, variant: Variant | undefined): string {
  return variant === undefined ? found.tag : `${found.tag}.${variant.mark}`;
}

/** The same outcome with a state named after its content, for a resource that keeps no state of its own. */
export function withContentTag(
  outcome: Outcome,
  { content }: Representation,
): Outcome & { readonly shows: Found } {
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  return { ...outcome, shows: { tag, modified: Number.NaN, state: undefined } };
}

/** 304 with the lines that a 200 would have had (RFC 9110 §15.4.5). `tag` is the one that matched, '' is none. */
export function notModified(call: CallContext, tag: string): Response {
  const fields = leadingFields(call.date, call.principal);
  const { found, variant } = call;
  const current = tag === '' && found !== undefined ? tagOf(found, variant) : tag;
  if (current !== '') fields.push(['ETag', formatEntityTag(current)]);
  if (found !== undefined) addLastModified(fields, found, call);
  return { status: 304, fields, content: undefined };
}

// RFC 9110 §8.8.2.1: never later than Date, even after the clock was set back.
function addLastModified(fields: FieldLine[], { modified }: Found, call: CallContext): void {
  if (Number.isFinite(modified)) fields.push(['Last-Modified', call.httpDate(Math.min(modified, call.now))]);
}

/** Makes the reply of what an action did. Throws RangeError on what no reply can say. */
export function toResponse(call: CallContext, outcome: Outcome): Response | Promise<Response> {
  const { status, representation } = outcome;
  if (!isFinal(status)) throw new RangeError(`a reply cannot have the status ${status}`);
  if (representation !== undefined && neverHasContent(status))
    return toResponse(call, withoutContent(outcome));
  if (
    representation !== undefined &&
    representation.content.length >= worthPacking &&
    acceptsCoding(call.request.fields.get('accept-encoding'), 'gzip')
  ) {
    const packing = call.gzip.pack(representation.content);
    if (packing !== undefined) return packed(call, outcome, packing);
  }
  return assemble(call, outcome, representation?.content, '');
}

/** Whether a status ends an exchange: one of 1xx would leave its client waiting (RFC 9110 §15.2). */
function isFinal(status: number): boolean {
  return Number.isInteger(status) && status >= 200 && status <= 599;
}

/** Whatever an action gives: a client that knows the status takes what follows for the next reply. */
function withoutContent({ representation: _, ...others }: Outcome): Outcome {
  return others;
}

async function packed(call: CallContext, outcome: Outcome, packing: Promise<Uint8Array>): Promise<Response> {
  const response = assemble(call, outcome, await packing, packedSuffix);
  response.fields.push(['Content-Encoding', 'gzip']);
  return response;
}

function assemble(
  call: CallContext,
  outcome: Outcome,
  content: Response['content'],
  suffix: string,
): Response {
  const { status, representation, shows } = outcome;
  const fields = leadingFields(call.date, call.principal, outcome.noStore);
  if (representation !== undefined) fields.push(['Content-Type', representation.type]);
  if (shows !== undefined) {
    fields.push(['ETag', formatEntityTag(tagOf(shows, call.variant) + suffix)]);
    addLastModified(fields, shows, call);
  }
  for (const [name, value] of outcome.fields ?? []) fields.push(furtherLine(name, value));
  return { status, fields, content, headOnly: call.method === 'HEAD' };
}
