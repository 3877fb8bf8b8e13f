import { isUtf8 } from 'node:buffer';
import { parseContentCoding } from './headers/content-coding.ts';
import { isFormType } from './headers/media-type.ts';
import type { IncomingRequest } from './message.ts';
import { contentTooLarge } from './problem.ts';
import { isEscape } from './syntax/uri-character.ts';

/** The longest form that is parsed before its sender is authenticated, in bytes. */
export const maxFormLength = 65_536;

/** The highest number of parameters of a form or a query that is parsed before its sender is authenticated. */
export const maxFormParameters = 1000;

/** Returns whether the content of the request is a form by its Content-Type. */
export function hasForm({ body, headers: fields }: IncomingRequest): boolean {
  return body.present && isFormType(fields.get('content-type'));
}

/** Returns whether the content of the request has a content coding. */
export function isCoded({ headers: fields }: IncomingRequest): boolean {
  return parseContentCoding(fields.get('content-encoding')) !== 'identity';
}

/** Returns whether Content-Length announces more than `limit` bytes. */
export function isDeclaredLonger({ headers: fields }: IncomingRequest, limit: number): boolean {
  return Number(fields.get('content-length') ?? 0) > limit;
}

/**
 * Reads the content of a request, which is a form that will be parsed. Rejects with a Problem (413) if it has more than 64 KiB, or
 * more than `bodyLimit` bytes.
 */
export async function holdForm(request: IncomingRequest, bodyLimit: number): Promise<Uint8Array> {
  const limit = Math.min(bodyLimit, maxFormLength);
  if (isDeclaredLonger(request, limit)) throw contentTooLarge(limit);
  return request.body.hold(limit);
}

/** Returns whether a form or a query has more than 1,000 parameters. Counts separators, before anything is decoded. */
export function hasTooManyParameters(text: string): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0 && count <= maxFormParameters; at = text.indexOf('&', at + 1))
    count += 1;
  return count > maxFormParameters;
}

/** The decoded parameters of a form or a query, in the order sent. A name may occur more than once. */
export type Form = readonly (readonly [name: string, value: string])[];

/**
 * Parses `application/x-www-form-urlencoded` (WHATWG URL §5.1); each octet is one character. Unlike that algorithm, it is strict:
 * it returns undefined if two hexadecimal digits do not follow a percent sign, or if something does not decode to UTF-8.
 */
export function parseForm(text: string): Form | undefined {
  const form: (readonly [string, string])[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = decodeFormText(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    form.push([name, value]);
  }
  return form;
}

/**
 * Parses the query of a request target, each octet of which is one character. Returns undefined for a malformed query, and for one
 * with more than 1,000 parameters, which is not decoded.
 */
export function parseTargetQuery(target: string): Form | undefined {
  const query = findQuery(target);
  return hasTooManyParameters(query) ? undefined : parseForm(query);
}

/** Returns the query of a request target without its question mark; '' if there is none. */
export function findQuery(target: string): string {
  const question = target.indexOf('?');
  return question < 0 ? '' : target.slice(question + 1);
}

/** Decodes a name or value: `+` is a space, `%XX` an octet, and the octets are UTF-8. Returns undefined if it is malformed. */
export function decodeFormText(text: string): string | undefined {
  if (/^[\w.*-]*$/.test(text)) return text;
  const octets = Buffer.alloc(text.length);
  let length = 0;
  for (let at = 0; at < text.length; length += 1) {
    const escaped = text.charAt(at) === '%';
    if (escaped && !isEscape(text, at)) return undefined;
    const octet = escaped ? Number.parseInt(text.slice(at + 1, at + 3), 16) : text.charCodeAt(at);
    octets[length] = !escaped && octet === 0x2b ? 0x20 : octet;
    at += escaped ? 3 : 1;
  }
  const decoded = octets.subarray(0, length);
  return isUtf8(decoded) ? decoded.toString('utf8') : undefined;
}
