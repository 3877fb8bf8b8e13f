import type { HttpHeaders } from '../fields.ts';
import { Problem } from '../problem.ts';
import { parseDate } from './date.ts';
import { type EntityTag, isTag, matchesStrongly, matchesWeakly, parseEntityTags } from './entity-tag.ts';

/** The current state of the target resource, as far as preconditions need it. */
export interface Current {
  /** The opaque parts of the strong entity tags of all representations to consider. */
  readonly tags: readonly string[];
  /** The time of the last change in ms; NaN if unknown. */
  readonly modified: number;
}

/** The result: to proceed, or to send 304 with the tag that matched ('' if a date matched). */
export type Verdict = 'proceed' | { readonly notModified: string };

/** Returns whether the request has a precondition. Most requests have none. */
export function isConditional(fields: HttpHeaders): boolean {
  return (
    fields.has('if-none-match') ||
    fields.has('if-match') ||
    fields.has('if-modified-since') ||
    fields.has('if-unmodified-since')
  );
}

/**
 * Throws the Problem `precondition-required` (428, RFC 6585 §3) if PUT, POST or DELETE could overwrite a change that the client has not
 * seen: without If-Match, without a valid date in If-Unmodified-Since, and without `If-None-Match: *` on PUT.
 */
export function requirePrecondition(fields: HttpHeaders, method: string, now: number): void {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return;
  if (fields.has('if-match') || parseOptionalDate(fields.get('if-unmodified-since'), now) !== undefined)
    return;
  if (method === 'PUT' && fields.get('if-none-match') === '*') return;
  const creation = method === 'PUT' ? ', or If-None-Match: * to create' : '';
  throw new Problem(
    'precondition-required',
    `${method} requires If-Match, or If-Unmodified-Since with a valid date${creation}.`,
  );
}

/**
 * Evaluates the preconditions of a request in the order of RFC 9110 §13.2.2. `current` is undefined if the resource does not exist;
 * `now` is in ms. An invalid date is ignored. Throws a Problem: `precondition-failed` (412) if a condition is false, and
 * `malformed-field` (400) for a malformed If-Match or If-None-Match.
 */
export function evaluatePreconditions(
  fields: HttpHeaders,
  method: string,
  current: Current | undefined,
  now: number,
): Verdict {
  // OPTIONS selects no representation, so preconditions do not apply (RFC 9110 §13.2.1).
  if (method === 'OPTIONS') return 'proceed';
  const reads = method === 'GET' || method === 'HEAD';

  const ifMatch = fields.get('if-match');
  if (ifMatch !== undefined) requireMatch(ifMatch, current);
  else requireUnmodified(fields.get('if-unmodified-since'), current, now);

  const ifNoneMatch = fields.get('if-none-match');
  if (ifNoneMatch !== undefined) {
    const matched = findMatchedTag(ifNoneMatch, current);
    if (matched === undefined) return 'proceed';
    if (reads) return { notModified: matched };
    throw new Problem('precondition-failed', 'If-None-Match matches the current state.');
  }

  if (!reads || current === undefined) return 'proceed';
  const date = parseOptionalDate(fields.get('if-modified-since'), now);
  return date !== undefined && wholeSecond(current.modified) <= date ? { notModified: '' } : 'proceed';
}

/** Evaluates If-Match (RFC 9110 §13.1.1). */
function requireMatch(value: string, current: Current | undefined): void {
  const wanted = parseTags('If-Match', value);
  if (current !== undefined) {
    if (wanted === '*') return;
    for (const opaque of current.tags) if (isAmong(wanted, opaque, matchesStrongly)) return;
  }
  const detail = 'If-Match does not match the current state.';
  const weak = wanted === '*' ? undefined : wanted.find((tag) => tag.weak);
  throw new Problem('precondition-failed', weak === undefined ? detail : `${detail} ${weakTag(weak)}`);
}

/** Returns the explanation of a weak tag in If-Match. The server sends strong tags only. */
function weakTag({ opaque }: EntityTag): string {
  return `The entity tag W/"${opaque}" is weak, and If-Match compares strongly (RFC 9110 §13.1.1): a weak tag never matches. This server sends strong tags only; a proxy that compresses responses makes them weak. Turn off compression in the proxy (nginx: gzip off): the server compresses by itself.`;
}

/** Evaluates If-Unmodified-Since (RFC 9110 §13.1.4). It is ignored without a valid date or a time of modification. */
function requireUnmodified(value: string | undefined, current: Current | undefined, now: number): void {
  const date = parseOptionalDate(value, now);
  if (date === undefined || current === undefined) return;
  if (wholeSecond(current.modified) > date)
    throw new Problem(
      'precondition-failed',
      'The resource was changed after the date in If-Unmodified-Since.',
    );
}

/** Returns the current tag that If-None-Match names; undefined if there is none (RFC 9110 §13.1.2). */
function findMatchedTag(value: string, current: Current | undefined): string | undefined {
  // Most clients send a single tag, which is compared without parsing.
  if (current !== undefined) for (const opaque of current.tags) if (isTag(value, opaque)) return opaque;
  const unwanted = parseTags('If-None-Match', value);
  if (current === undefined) return undefined;
  if (unwanted === '*') return current.tags[0] ?? '';
  for (const opaque of current.tags) if (isAmong(unwanted, opaque, matchesWeakly)) return opaque;
  return undefined;
}

/** Returns whether a strong tag is in the list, by this comparison. */
function isAmong(tags: readonly EntityTag[], opaque: string, matches: typeof matchesWeakly): boolean {
  const present: EntityTag = { weak: false, opaque };
  for (const tag of tags) if (matches(tag, present)) return true;
  return false;
}

function parseTags(field: string, value: string): '*' | readonly EntityTag[] {
  const tags = parseEntityTags(value);
  if (tags !== undefined) return tags;
  throw new Problem('malformed-field', `${field} is neither * nor a list of entity tags in quotes.`, {
    members: { field },
  });
}

/** Parses a date. Returns undefined if it is absent or invalid, as two joined field lines are. */
function parseOptionalDate(value: string | undefined, now: number): number | undefined {
  return value === undefined ? undefined : parseDate(value, now);
}

/** Rounds down to a whole second, which is the precision of a date field. */
function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
