// Lexical elements of field values: lists (RFC 9110 §5.6.1), tokens (§5.6.2) and white space (§5.6.3).
import { createClasses, digits, letters, runEnd } from './character-class.ts';
import { findQuotedEnd } from './quoted-string.ts';

const tab = 0x09;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;

const tokenCharacters = createClasses([`${letters}${digits}!#$%&'*+-.^_\`|~`, 1]);

/** Returns where the token that begins at `at` ends; `at` itself if there is none (RFC 9110 §5.6.2). */
export function tokenEnd(text: string, at: number): number {
  return runEnd(tokenCharacters, 1, text, at);
}

/** Returns whether the whole text is a token. */
export function isToken(text: string): boolean {
  return text !== '' && tokenEnd(text, 0) === text.length;
}

/** Returns the first index from `at` on that is neither a space nor a tab (OWS, RFC 9110 §5.6.3). */
export function skipWhitespace(text: string, at: number): number {
  let end = at;
  while (end < text.length && isWhitespace(text.charCodeAt(end))) end += 1;
  return end;
}

function isWhitespace(code: number): boolean {
  return code === space || code === tab;
}

/**
 * Returns the elements of a comma-separated list without surrounding white space and without empty ones (RFC 9110 §5.6.1.2). A
 * comma in a quoted string does not separate; an unclosed quoted string extends to the end.
 */
export function listElements(value: string): string[] {
  const elements: string[] = [];
  let start = 0;
  while (start < value.length) {
    const end = elementEnd(value, start);
    const element = trimSpaces(value, start, end);
    if (element !== '') elements.push(element);
    start = end + 1;
  }
  return elements;
}

function elementEnd(value: string, start: number): number {
  let at = start;
  while (at < value.length) {
    const code = value.charCodeAt(at);
    if (code === comma) return at;
    if (code !== quote) at += 1;
    else {
      at = findQuotedEnd(value, at);
      if (at < 0) return value.length;
    }
  }
  return at;
}

/** Returns the text that stands twice in a value, joined with a comma; undefined if the value is something else. */
export function findRepeated(value: string): string | undefined {
  const half = value.slice(0, (value.length - 1) / 2);
  return value === `${half},${half}` || value === `${half}, ${half}` ? half : undefined;
}

/** Returns the part of the value from `start` to `end` without the spaces and tabs around it, in linear time. */
export function trimSpaces(value: string, start: number, end: number): string {
  const first = skipWhitespace(value, start);
  let last = end;
  while (last > first && isWhitespace(value.charCodeAt(last - 1))) last -= 1;
  return value.slice(first, last);
}
