import type { Fields } from '../fields.ts';
import type { Method } from '../method.ts';
import { Problem } from '../problem.ts';
import { parseDate } from './date.ts';
import { type EntityTag, isTag, matchesStrongly, matchesWeakly, parseEntityTags } from './entity-tag.ts';

/** What is there now, as far as preconditions ask for it. */
export interface Current {
  /** The opaque part of the strong entity tag of every current representation that is considered. */
  readonly tags: readonly string[];
  /** When it last changed, in ms; NaN when that is not known. */
  readonly modified: number;
}

/** Go on, or answer 304 with the tag that matched: '' when it was the date. */
export type Verdict = 'proceed' | { readonly notModified: string };

/** Whether there is any precondition to be evaluated, which most requests do not have. */
export function isConditional(fields: Fields): boolean {
  return (
    fields.has('if-none-match') ||
    fields.has('if-match') ||
    fields.has('if-modified-since') ||
    fields.has('if-unmodified-since')
  );
}

/**
 * Evaluates the preconditions of a request in the order of RFC 9110 §13.2.2. `current` is undefined when nothing
 * is there; `now` is in ms. Throws a Problem: `precondition-failed` (412) when one does not hold,
 * `malformed-field` (400) for a malformed If-Match or If-None-Match. An invalid date counts as not sent.
 */
export function evaluatePreconditions(
  fields: Fields,
  method: Method,
  current: Current | undefined,
  now: number,
): Verdict {
  // OPTIONS selects no representation, so nothing of this concerns it (RFC 9110 §13.2.1).
  if (method === 'OPTIONS') return 'proceed';
  const reads = method === 'GET' || method === 'HEAD';

  const ifMatch = fields.get('if-match');
  if (ifMatch !== undefined) requireMatch(ifMatch, current);
  else requireUnmodified(fields.get('if-unmodified-since'), current, now);

  const ifNoneMatch = fields.get('if-none-match');
  if (ifNoneMatch !== undefined) {
    const matched = matchedTag(ifNoneMatch, current);
    if (matched === undefined) return 'proceed';
    if (reads) return { notModified: matched };
    throw new Problem('precondition-failed', 'If-None-Match names a state that is the present one.');
  }

  if (!reads || current === undefined) return 'proceed';
  const date = dateOf(fields.get('if-modified-since'), now);
  return date !== undefined && wholeSecond(current.modified) <= date ? { notModified: '' } : 'proceed';
}

/** RFC 9110 §13.1.1 */
function requireMatch(value: string, current: Current | undefined): void {
  const wanted = tagsOf('If-Match', value);
  if (current !== undefined) {
    if (wanted === '*') return;
    for (const opaque of current.tags) if (isAmong(wanted, opaque, matchesStrongly)) return;
  }
  throw new Problem('precondition-failed', 'If-Match does not name the present state.');
}

/** RFC 9110 §13.1.4: without a valid date or a date of modification the field is ignored. */
function requireUnmodified(value: string | undefined, current: Current | undefined, now: number): void {
  const date = dateOf(value, now);
  if (date === undefined || current === undefined) return;
  if (wholeSecond(current.modified) > date)
    throw new Problem('precondition-failed', 'There was a change after the date in If-Unmodified-Since.');
}

/** The current tag that If-None-Match names, if there is one (RFC 9110 §13.1.2). */
function matchedTag(value: string, current: Current | undefined): string | undefined {
  // Most clients name the one tag that they were given, and it is compared where it stands.
  if (current !== undefined) for (const opaque of current.tags) if (isTag(value, opaque)) return opaque;
  const unwanted = tagsOf('If-None-Match', value);
  if (current === undefined) return undefined;
  if (unwanted === '*') return current.tags[0] ?? '';
  for (const opaque of current.tags) if (isAmong(unwanted, opaque, matchesWeakly)) return opaque;
  return undefined;
}

/** Whether the strong tag is one of these, by this comparison. */
function isAmong(tags: readonly EntityTag[], opaque: string, matches: typeof matchesWeakly): boolean {
  const present: EntityTag = { weak: false, opaque };
  for (const tag of tags) if (matches(tag, present)) return true;
  return false;
}

function tagsOf(field: string, value: string): '*' | readonly EntityTag[] {
  const tags = parseEntityTags(value);
  if (tags !== undefined) return tags;
  throw new Problem('malformed-field', `${field} is neither * nor a list of entity tags in quotes.`, {
    members: { field },
  });
}

/** Undefined for a date that is absent or not valid; two field lines joined are not valid either. */
function dateOf(value: string | undefined, now: number): number | undefined {
  return value === undefined ? undefined : parseDate(value, now);
}

/** A date in a field has whole seconds only, so what it is compared with must have them too. */
function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
