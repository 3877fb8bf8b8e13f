import { skipWhitespace } from '../syntax/token.ts';

const quoteMark = 0x22;
const comma = 0x2c;

/** An entity tag as a value (RFC 9110 §8.8.3). */
export interface EntityTag {
  readonly weak: boolean;
  /** What stands between the quotes. */
  readonly opaque: string;
}

/**
 * Reads the value of If-Match or If-None-Match: `*`, or a list of entity tags, which may be empty (RFC 9110
 * §13.1.1). Undefined when it is malformed, also for `*` in a list.
 */
export function parseEntityTags(value: string): '*' | readonly EntityTag[] | undefined {
  if (value === '*') return '*';
  const tags: EntityTag[] = [];
  let at = skipWhitespace(value, 0);
  while (at < value.length) {
    if (value.charCodeAt(at) !== comma) {
      const weak = value.startsWith('W/', at);
      const start = weak ? at + 2 : at;
      const end = opaqueEnd(value, start);
      if (end < 0) return undefined;
      tags.push({ weak, opaque: value.slice(start + 1, end) });
      at = skipWhitespace(value, end + 1);
      if (at < value.length && value.charCodeAt(at) !== comma) return undefined;
    }
    at = skipWhitespace(value, at + 1);
  }
  return tags;
}

/** Where the closing mark of the opaque tag at `at` stands; a backslash escapes nothing in it. -1 when there is none. */
function opaqueEnd(value: string, at: number): number {
  if (value.charCodeAt(at) !== quoteMark) return -1;
  for (let end = at + 1; end < value.length; end += 1) {
    const code = value.charCodeAt(end);
    if (code === quoteMark) return end;
    if (!isTagCharacter(code)) return -1;
  }
  return -1;
}

/** etagc: visible ASCII but the quote, and obs-text (RFC 9110 §8.8.3). */
function isTagCharacter(code: number): boolean {
  return code > 0x20 && code !== quoteMark && code !== 0x7f && code <= 0xff;
}

/** Writes a strong entity tag. Throws a RangeError when a character stands in it that may not. */
export function formatEntityTag(opaque: string): string {
  for (let at = 0; at < opaque.length; at += 1)
    if (!isTagCharacter(opaque.charCodeAt(at)))
      throw new RangeError(`An entity tag cannot hold the character at index ${at}`);
  return `"${opaque}"`;
}

/** Whether the value of If-Match or If-None-Match is this strong tag, which can be written, and nothing else. */
export function isTag(value: string, opaque: string): boolean {
  const end = value.length - 1;
  return (
    end === opaque.length + 1 &&
    value.charCodeAt(0) === quoteMark &&
    value.charCodeAt(end) === quoteMark &&
    value.startsWith(opaque, 1)
  );
}

/** Strong comparison (RFC 9110 §8.8.3.2): equal, and neither is weak. */
export function matchesStrongly(one: EntityTag, other: EntityTag): boolean {
  return !one.weak && !other.weak && one.opaque === other.opaque;
}

/** Weak comparison (RFC 9110 §8.8.3.2): equal, weak or not. */
export function matchesWeakly(one: EntityTag, other: EntityTag): boolean {
  return one.opaque === other.opaque;
}

/**
 * The base of the tags of one state: which history, which change in it, and under which form of writing. Never the
 * same for two states, nor for one state that is written in another way since.
 */
export function revisionTag(lineage: string, revision: number, form: string): string {
  return `${lineage}.${revision.toString(36)}.${form}`;
}
