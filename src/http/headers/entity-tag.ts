import { skipWhitespace } from '../syntax/token.ts';

const quoteMark = 0x22;
const comma = 0x2c;

/** A parsed entity tag (RFC 9110 §8.8.3). */
export interface EntityTag {
  readonly weak: boolean;
  /** The text between the quotes. */
  readonly opaque: string;
}

/**
 * Parses the value of If-Match or If-None-Match: `*`, or a list of entity tags, which may be empty (RFC 9110 §13.1.1). Returns
 * undefined if it is malformed, including `*` in a list.
 */
export function parseEntityTags(value: string): '*' | readonly EntityTag[] | undefined {
  if (value === '*') return '*';
  const tags: EntityTag[] = [];
  let at = skipWhitespace(value, 0);
  while (at < value.length) {
    if (value.charCodeAt(at) !== comma) {
      const weak = value.startsWith('W/', at);
      const start = weak ? at + 2 : at;
      const end = findOpaqueEnd(value, start);
      if (end < 0) return undefined;
      tags.push({ weak, opaque: value.slice(start + 1, end) });
      at = skipWhitespace(value, end + 1);
      if (at < value.length && value.charCodeAt(at) !== comma) return undefined;
    }
    at = skipWhitespace(value, at + 1);
  }
  return tags;
}

/** Returns the index of the closing quote of the opaque tag at `at`, in which a backslash is no escape; -1 if there is none. */
function findOpaqueEnd(value: string, at: number): number {
  if (value.charCodeAt(at) !== quoteMark) return -1;
  for (let end = at + 1; end < value.length; end += 1) {
    const code = value.charCodeAt(end);
    if (code === quoteMark) return end;
    if (!isTagCharacter(code)) return -1;
  }
  return -1;
}

/** Returns whether a character is an etagc: visible ASCII except the quote, or obs-text (RFC 9110 §8.8.3). */
function isTagCharacter(code: number): boolean {
  return code > 0x20 && code !== quoteMark && code !== 0x7f && code <= 0xff;
}

/** Formats a strong entity tag. Throws RangeError if it contains an invalid character. */
export function formatEntityTag(opaque: string): string {
  for (let at = 0; at < opaque.length; at += 1)
    if (!isTagCharacter(opaque.charCodeAt(at)))
      throw new RangeError(`An entity tag cannot contain the character at index ${at}`);
  return `"${opaque}"`;
}

/** Returns whether the value of If-Match or If-None-Match is exactly this strong tag. `opaque` must be valid. */
export function isTag(value: string, opaque: string): boolean {
  const end = value.length - 1;
  return (
    end === opaque.length + 1 &&
    value.charCodeAt(0) === quoteMark &&
    value.charCodeAt(end) === quoteMark &&
    value.startsWith(opaque, 1)
  );
}

/** Compares strongly (RFC 9110 §8.8.3.2): equal, and neither is weak. */
export function matchesStrongly(one: EntityTag, other: EntityTag): boolean {
  return !one.weak && !other.weak && one.opaque === other.opaque;
}

/** Compares weakly (RFC 9110 §8.8.3.2): equal, weak or not. */
export function matchesWeakly(one: EntityTag, other: EntityTag): boolean {
  return one.opaque === other.opaque;
}

/**
 * Returns the base of the entity tags of a state: the store, the revision, and the version of the serialization. It is unique for
 * each state, and changes if the same state is serialized differently.
 */
export function revisionTag(storeId: string, revision: number, form: string): string {
  return `${storeId}.${revision.toString(36)}.${form}`;
}
