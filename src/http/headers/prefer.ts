import type { FieldLine, HttpHeaders } from '../fields.ts';
import { valueBetween, valueEnd } from '../syntax/parameters.ts';
import { listElements, skipWhitespace, tokenEnd } from '../syntax/token.ts';

const semicolon = 0x3b;
const equals = 0x3d;

const none: ReadonlyMap<string, string> = new Map();

/**
 * Parses the lines of Prefer (RFC 7240 §2). Returns values by lower-case name, '' for a preference without a value. The first of
 * equal names counts; parameters and malformed preferences are ignored.
 */
export function preferences(values: readonly string[]): ReadonlyMap<string, string> {
  if (values.length === 0) return none;
  const found = new Map<string, string>();
  for (const element of values.flatMap(listElements)) {
    const preference = parsePreference(element);
    if (preference !== undefined && !found.has(preference.name)) found.set(preference.name, preference.value);
  }
  return found;
}

/** Parses one preference. White space around the equals sign is accepted (BWS, RFC 9110 §5.6.3). */
function parsePreference(element: string): { name: string; value: string } | undefined {
  const nameEnd = tokenEnd(element, 0);
  if (nameEnd === 0) return undefined;
  const name = element.slice(0, nameEnd).toLowerCase();
  let end = skipWhitespace(element, nameEnd);
  let value = '';
  if (element.charCodeAt(end) === equals) {
    const start = skipWhitespace(element, end + 1);
    end = valueEnd(element, start);
    if (end < 0) return undefined;
    value = valueBetween(element, start, end);
    end = skipWhitespace(element, end);
  }
  return end === element.length || element.charCodeAt(end) === semicolon ? { name, value } : undefined;
}

/** Returns whether the client prefers a response without a representation (RFC 7240 §4.2). */
export function wantsMinimal(fields: HttpHeaders): boolean {
  return returnPreference(fields) === 'minimal';
}

/** Returns `Preference-Applied` for the supported preference, `return` (RFC 7240 §3). */
export function formatAppliedPreference(fields: HttpHeaders): FieldLine[] {
  const preference = returnPreference(fields);
  if (preference !== 'minimal' && preference !== 'representation') return [];
  return [['Preference-Applied', `return=${preference}`]];
}

function returnPreference(fields: HttpHeaders): string | undefined {
  return fields.has('prefer') ? preferences(fields.getAll('prefer')).get('return') : undefined;
}
