import { createHash } from 'node:crypto';
import { didYouMean } from '../did-you-mean.ts';
import { toLines } from '../http/field-lines.ts';
import { createFurtherLine, type FieldLine } from '../http/fields.ts';
import { acceptsCoding } from '../http/headers/accept.ts';
import { formatEntityTag } from '../http/headers/entity-tag.ts';
import { neverHasContent, type Response } from '../http/message.ts';
import type { Principal } from '../principal.ts';
import type { CallContext } from './call.ts';
import { isPlatformResponse, readPlatformResponse } from './platform-response.ts';
import type {
  ActionResponse,
  ActionResult,
  Representation,
  ResourceState,
  retryAction,
  Variant,
} from './resource.ts';

/** The fields that responses depend on; sent with every one (RFC 9110 §12.5.5). */
const vary: FieldLine = ['Vary', 'Authorization, Authentication, Accept, Accept-Encoding'];

/** Caches must revalidate; a response to a principal is for that client alone (RFC 9111 §5.2.2). */
const cacheAnonymous: FieldLine = ['Cache-Control', 'no-cache'];
const cachePrivate: FieldLine = ['Cache-Control', 'private, no-cache'];
const cacheNever: FieldLine = ['Cache-Control', 'no-store'];

/** Forbids a browser to guess another type than that of Content-Type. Sent with all content, as the control interface does. */
export const noSniff: FieldLine = ['X-Content-Type-Options', 'nosniff'];

/** The length, in characters, from which content is compressed. */
const compressibleLength = 1024;

const gzipSuffix = '-gzip';

/** Returns the fields that every response begins with. `never` forbids caching, as for the rejection of a principal. */
export function formatLeadingFields(
  date: string,
  principal: Principal | undefined,
  never = false,
): FieldLine[] {
  const cache = principal === undefined ? cacheAnonymous : cachePrivate;
  return [['Date', date], vary, never ? cacheNever : cache];
}

/** Returns the value of Vary if further fields can have credentials; undefined if there are none. */
export function varyWith(credentialFields: readonly string[]): string | undefined {
  return credentialFields.length === 0 ? undefined : [vary[1], ...credentialFields].join(', ');
}

/** Replaces the value of Vary in a response. */
export function replaceVary(fields: FieldLine[], value: string): void {
  const at = fields.findIndex(([name]) => name === 'Vary');
  if (at >= 0) fields[at] = ['Vary', value];
}

/** The names of the members of a response. The type checks that the list is complete. */
const responseNames: Readonly<Record<keyof ActionResponse, true>> = {
  status: true,
  headers: true,
  representation: true,
  noStore: true,
  state: true,
  warnings: true,
};

/** The names of the members of a representation. The type checks that the list is complete. */
const representationNames: Readonly<Record<keyof Representation, true>> = { type: true, body: true };

/** Converts an action's result to an outcome. Throws RangeError if it has another form, as in JavaScript it can. */
export function toOutcome(
  done: Exclude<ActionResult, typeof retryAction>,
): ActionResponse | Promise<ActionResponse> {
  if (typeof done !== 'object' || done === null)
    throw new RangeError('an action must return a response such as { status: 204 } or json({ id: 1 })');
  if (isPlatformResponse(done)) return readPlatformResponse(done);
  if (!('status' in done)) return { status: 200, representation: checkRepresentation(done) };
  checkNames(done, responseNames, 'the response of an action');
  if (done.representation !== undefined) checkRepresentation(done.representation);
  return done;
}

function checkRepresentation(representation: Representation): Representation {
  checkNames(representation, representationNames, 'the representation of an action');
  const { type, body } = representation;
  if (typeof type !== 'string' || (typeof body !== 'string' && !(body instanceof Uint8Array)))
    throw new RangeError(
      "the representation of an action must have a type and a body of text or bytes, such as { type: 'text/plain', body: 'tea' }",
    );
  return representation;
}

/** Throws RangeError on a member that would be ignored. It is called for every response, so it creates nothing. */
function checkNames(value: object, known: object, what: string): void {
  for (const name in value)
    if (!Object.hasOwn(known, name))
      throw new RangeError(`${name} is not a member of ${what}${didYouMean(name, Object.keys(known))}`);
}

/** Returns the current opaque tags: of the selected variant for GET and HEAD, of every variant otherwise. */
export function listTags(
  found: ResourceState,
  call: CallContext,
  produces: readonly Variant[] | undefined,
): string[] {
  const reads = call.method === 'GET' || call.method === 'HEAD';
  if (reads || produces === undefined) return tagsOfVariant(found, reads ? call.variant : undefined);
  return produces.flatMap((variant) => tagsOfVariant(found, variant));
}

function tagsOfVariant(found: ResourceState, variant: Variant | undefined): string[] {
  const tag = formatTag(found, variant);
  return [tag, tag + gzipSuffix];
}

function formatTag(found: ResourceState, variant: Variant | undefined): string {
  return variant === undefined ? found.tag : `${found.tag}.${variant.mark}`;
}

/** Adds an entity tag computed from the content, for a resource without `find`. */
export function addContentTag(
  outcome: ActionResponse,
  { body: content }: Representation,
): ActionResponse & { readonly state: ResourceState } {
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  return { ...outcome, state: { tag, modified: Number.NaN, value: undefined } };
}

/** Returns a 304 with the fields that a 200 would have (RFC 9110 §15.4.5). `tag` is the one that matched; '' for none. */
export function buildNotModified(call: CallContext, tag: string): Response {
  const fields = formatLeadingFields(call.date, call.principal);
  const { state: found, variant } = call;
  const current = tag === '' && found !== undefined ? formatTag(found, variant) : tag;
  if (current !== '') fields.push(['ETag', formatEntityTag(current)]);
  if (found !== undefined) addLastModified(fields, found, call);
  return { status: 304, headers: fields, body: undefined };
}

// RFC 9110 §8.8.2.1: not later than Date, even after the clock was set back.
function addLastModified(fields: FieldLine[], { modified }: ResourceState, call: CallContext): void {
  if (Number.isFinite(modified)) fields.push(['Last-Modified', call.httpDate(Math.min(modified, call.now))]);
}

/** Converts an outcome to a response. Throws RangeError on an invalid status. */
export function toResponse(call: CallContext, outcome: ActionResponse): Response | Promise<Response> {
  const { status, representation } = outcome;
  if (!(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new RangeError(`a response cannot have the status ${status}`);
  if (representation !== undefined && neverHasContent(status))
    return toResponse(call, removeContent(outcome));
  if (
    representation !== undefined &&
    representation.body.length >= compressibleLength &&
    acceptsCoding(call.incoming.headers.get('accept-encoding'), 'gzip') &&
    !isCoded(outcome)
  ) {
    const compressing = call.gzip.pack(representation.body);
    if (compressing !== undefined) return compressContent(call, outcome, compressing);
  }
  return assemble(call, outcome, representation?.body, '');
}

/** Returns whether the action has encoded the content itself. */
function isCoded({ headers = [] }: ActionResponse): boolean {
  return toLines(headers).some(([name]) => name.toLowerCase() === 'content-encoding');
}

/** A client would take content after such a status for the next response. */
function removeContent({ representation: _, ...others }: ActionResponse): ActionResponse {
  return others;
}

async function compressContent(
  call: CallContext,
  outcome: ActionResponse,
  compressing: Promise<Uint8Array>,
): Promise<Response> {
  // RFC 9110 §9.3.4: no validator, because the compressed representation is not the content of the PUT.
  const { state: _, ...withoutValidator } = outcome;
  const sent = call.method === 'PUT' ? withoutValidator : outcome;
  const response = assemble(call, sent, await compressing, gzipSuffix);
  response.headers.push(['Content-Encoding', 'gzip']);
  return response;
}

function assemble(
  call: CallContext,
  outcome: ActionResponse,
  content: Response['body'],
  suffix: string,
): Response {
  const { status, representation, state: shows } = outcome;
  const leading = formatLeadingFields(call.date, call.principal, outcome.noStore);
  const own = toLines(outcome.headers ?? []);
  // A Cache-Control of the action replaces the usual one.
  const isCached = outcome.noStore !== true && own.some(([name]) => name.toLowerCase() === 'cache-control');
  const fields = isCached ? leading.filter(([name]) => name !== 'Cache-Control') : leading;
  if (representation !== undefined) fields.push(['Content-Type', representation.type], noSniff);
  if (shows !== undefined) {
    fields.push(['ETag', formatEntityTag(formatTag(shows, call.variant) + suffix)]);
    addLastModified(fields, shows, call);
  }
  for (const [name, value] of own) fields.push(createFurtherLine(name, value));
  const headOnly = call.method === 'HEAD';
  if (outcome.warnings === undefined) return { status, headers: fields, body: content, headOnly };
  return { status, headers: fields, body: content, headOnly, warnings: outcome.warnings };
}
