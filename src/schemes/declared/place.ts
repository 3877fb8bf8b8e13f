// The places of the parts of credentials in a request.

import { removeParameters, takeParameter } from '../../http/form.ts';
import { replaceInvalidUtf8 } from '../../http/syntax/octets.ts';
import type { FormatName } from './signature-format.ts';

/** A field of the request, by its name as declared. */
export interface FieldPlace {
  readonly field: string;
}

/** A parameter of the query, by its exact name. */
interface QueryPlace {
  readonly query: string;
}

/** A value in the content: at a JSON Pointer (RFC 6901), or a parameter of a form. */
type ContentPlace = { readonly json: string } | { readonly form: string };

/** The place of a value. */
export type Place = FieldPlace | QueryPlace | ContentPlace;

/** The place of a value that may be in the text with the signature, at a placeholder: `{nonce}` in `signature.format`. */
export type RolePlace = Place | { readonly format: FormatName };

/** Returns the name of the field; undefined if the place is another one. */
export function fieldIn(place: FieldPlace | object | string | undefined): string | undefined {
  return typeof place === 'object' && 'field' in place && typeof place.field === 'string'
    ? place.field
    : undefined;
}

/** Returns the name of the parameter of the query; undefined if the place is another one. */
export function parameterIn(place: RolePlace | string | undefined): string | undefined {
  return typeof place === 'object' && 'query' in place ? place.query : undefined;
}

/** Returns whether a place is in the content. */
export function isInContent(place: RolePlace | string | undefined): place is ContentPlace {
  return typeof place === 'object' && ('json' in place || 'form' in place);
}

/** Returns a text that is equal for equal places. Names of fields are case-insensitive (RFC 9110 §5.1). */
export function placeKey(place: Place): string {
  return JSON.stringify('field' in place ? { field: place.field.toLowerCase() } : place);
}

/** Describes a place in sentences: `the field X-Nonce`. */
export function describePlace(place: RolePlace): string {
  if ('field' in place) return `the field ${place.field}`;
  if ('query' in place) return `the query parameter ${place.query}`;
  if ('json' in place) return `the member ${place.json} of the content`;
  return 'form' in place ? `the parameter ${place.form} of the form` : 'the value with the signature';
}

/** Parses a JSON Pointer (RFC 6901 §3) to the names of members. Returns undefined if it is malformed, or is that of the whole. */
export function parsePointer(text: string): readonly string[] | undefined {
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Returns the text at a JSON Pointer: a string, or a number or a boolean as JSON writes it. Undefined if there is none, or anything
 * else.
 */
export function textAt(value: unknown, pointer: string): string | undefined {
  let found: unknown = value;
  for (const name of parsePointer(pointer) ?? []) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined;
    found = Reflect.get(found, name);
  }
  if (typeof found === 'string') return found;
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : undefined;
}

type FieldLines = readonly (readonly [name: string, value: string])[];

/** A request into which credentials are written. */
interface PlacedRequest {
  readonly fields: FieldLines;
  readonly target: string;
  readonly content?: Uint8Array | undefined;
  /** The field lines that were added. Default: none. */
  readonly added?: FieldLines;
}

/**
 * Writes values to their places, in which they replace those of the same name. Each character of a value is one octet. Those within the
 * value of the signature are written with it.
 *
 * @throws RangeError if the content is not JSON, or a pointer leads through a value that has no members
 */
export function writePlaces(
  { fields, target: sent, content, added = [] }: PlacedRequest,
  values: readonly (readonly [place: RolePlace, value: string])[],
): Required<PlacedRequest> {
  const lines: (readonly [string, string])[] = [];
  let target = sent;
  let written: string | undefined;
  const read = (): string => written ?? Buffer.from(content ?? []).toString('utf8');
  for (const [place, octets] of values) {
    const value = replaceInvalidUtf8(octets);
    if ('field' in place) lines.push([place.field, octets]);
    else if ('query' in place) {
      const bare = removeParameters(target, [place.query]);
      target = bare + (bare.includes('?') ? '&' : '?') + formatPair(place.query, value);
    } else if ('json' in place) written = writeTextAt(read(), place.json, value);
    else if ('form' in place) {
      const { rest = '' } = takeParameter(read(), place.form);
      written = rest + (rest === '' ? '' : '&') + formatPair(place.form, value);
    }
  }
  const names = new Set(lines.map(([name]) => name.toLowerCase()));
  return {
    added: [...added, ...lines],
    fields: [...fields.filter(([name]) => !names.has(name.toLowerCase())), ...lines],
    target,
    content: written === undefined ? content : Buffer.from(written),
  };
}

function formatPair(name: string, value: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}

/**
 * Returns a JSON text with a string written at a JSON Pointer; members that are missing are added.
 *
 * @throws RangeError if the text is not JSON, or the pointer leads through a value that has no members
 */
function writeTextAt(json: string, pointer: string, text: string): string {
  const root = parseJson(json);
  const names = parsePointer(pointer) ?? [];
  let at: unknown = root;
  for (const [depth, name] of names.entries()) {
    if (typeof at !== 'object' || at === null)
      throw new RangeError(`the content is not JSON with the member ${pointer}`);
    const isLast = depth === names.length - 1;
    if (isLast || !Object.hasOwn(at, name))
      Object.defineProperty(at, name, {
        value: isLast ? text : {},
        writable: true,
        enumerable: true,
        configurable: true,
      });
    at = Reflect.get(at, name);
  }
  return JSON.stringify(root);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
