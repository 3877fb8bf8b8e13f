// Reads the parts of credentials from their places in a request.

import {
  decodeFormText,
  findQueryValues,
  hasForm,
  hasTooManyParameters,
  holdForm,
  isCoded,
  maxFormParameters,
  mayHoldSigned,
  parseForm,
} from '../../http/form.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { octetsOf, toOctets } from '../../http/syntax/octets.ts';
import type { ContentLocation } from '../auth-scheme.ts';
import { type Fault, sentence } from '../scheme.ts';
import { createJsonReader } from './message.ts';
import { describePlace, isInContent, type Place, type RolePlace } from './place.ts';
import type { FormatValues } from './signature-format.ts';

/** Where the parts of credentials are read from. Each character of a value is one octet. */
export interface PlaceReader {
  readonly request: IncomingRequest;
  /** The values in the text with the signature. */
  readonly values: FormatValues;
  /** The content; undefined before it is read. */
  readonly content: ContentReader | undefined;
  /** Whether a parameter that the query lacks may be one of a form. */
  readonly queryOrForm: boolean;
}

/** Reads values from content. */
export interface ContentReader {
  /** Returns the text at a JSON Pointer. */
  readonly json: (pointer: string) => string | undefined;
  /** Returns the values of a parameter of the form. */
  readonly form: (name: string) => readonly string[];
}

/** Returns whether the content is JSON by its Content-Type. */
function hasJson({ body, headers: fields }: IncomingRequest): boolean {
  const type = body.present ? fields.get('content-type') : undefined;
  const name = type === undefined ? undefined : parseMediaType(type)?.type;
  return name !== undefined && (name === 'application/json' || name.endsWith('+json'));
}

/** Creates a reader of content, which parses it once. Returns a fault if the content is a form with too many parameters. */
export function readContent(request: IncomingRequest, content: Uint8Array): ContentReader | Fault {
  const isReadable = !isCoded(request);
  const isForm = isReadable && hasForm(request);
  const text = isForm ? octetsOf(content) : '';
  if (hasTooManyParameters(text))
    return { detail: `A form with credentials can have at most ${maxFormParameters} parameters.` };
  const json = isReadable && hasJson(request) ? createJsonReader(content) : undefined;
  const form = parseForm(text) ?? [];
  return {
    json: (pointer) => json?.(pointer),
    form: (name) => form.flatMap(([own, value]) => (own === name ? [toOctets(value)] : [])),
  };
}

/** Returns whether a value can only be read after the content. */
export function isPending(place: RolePlace, { content, request, queryOrForm }: PlaceReader): boolean {
  if (content !== undefined) return false;
  if (isInContent(place)) return true;
  const isAbsent = 'query' in place && findQueryValues(request.target, place.query).length === 0;
  return queryOrForm && isAbsent && hasForm(request);
}

/** Returns the value at a place; undefined if there is none, or a fault if there are several or it is malformed. */
export function readPlace(place: RolePlace, reader: PlaceReader): string | Fault | undefined {
  const { request, values, content } = reader;
  if ('field' in place) {
    const name = place.field.toLowerCase();
    const { headers } = request;
    return headers.repeated ? requireSingle(headers.getAll(name), place) : headers.get(name);
  }
  if ('format' in place) return values[place.format];
  if ('json' in place) {
    const text = content?.json(place.json);
    return text === undefined ? undefined : toOctets(text);
  }
  if ('form' in place) return requireSingle(content?.form(place.form) ?? [], place);
  const found = findQueryValues(request.target, place.query);
  if (found.length === 0 && reader.queryOrForm) return requireSingle(content?.form(place.query) ?? [], place);
  const encoded = requireSingle(found, place);
  if (typeof encoded !== 'string') return encoded;
  const decoded = decodeFormText(encoded);
  return decoded === undefined
    ? { detail: `The query parameter ${place.query} cannot be decoded.` }
    : toOctets(decoded);
}

function requireSingle(found: readonly string[], place: RolePlace): string | Fault | undefined {
  const [only, another] = found;
  return another === undefined ? only : { detail: `${sentence(describePlace(place))} was sent twice.` };
}

/** Returns the content as a place of credentials: it has some if one of the places has a value. */
export function locateContent(places: readonly Place[], bodyLimit: number): ContentLocation {
  return {
    isPossible: (request) => mayHold(request, places),
    async isPresent(request) {
      const content = readContent(request, await holdForm(request, bodyLimit));
      if ('detail' in content) return true;
      const reader = { request, values: {}, content, queryOrForm: false };
      return places.some((place) => readPlace(place, reader) !== undefined);
    },
  };
}

/** Returns whether the content may have a value at a place. */
function mayHold(request: IncomingRequest, places: readonly Place[]): boolean {
  return (
    mayHoldSigned(request) &&
    places.some((place) => ('json' in place ? hasJson(request) : 'form' in place && hasForm(request)))
  );
}
