import { parseContentCoding } from './headers/content-coding.ts';
import { isFormType } from './headers/media-type.ts';
import type { IncomingRequest } from './message.ts';
import { isSafe } from './method.ts';
import { contentTooLarge } from './problem.ts';
import { decodeUtf8 } from './syntax/octets.ts';
import { decodeOctets } from './syntax/percent.ts';
import { findQuery } from './target.ts';

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
 * Returns whether the content may have signed values, by the header section. Content of a safe method has no meaning (RFC 9110
 * §9.3.1), and content beyond the limit is not accepted as signed.
 */
export function mayHoldSigned(request: IncomingRequest): boolean {
  return !isSafe(request.method) && !isCoded(request) && !isDeclaredLonger(request, maxFormLength);
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

/** Returns whether a form or a query has more parameters, by default 1,000. Counts separators, before anything is decoded. */
export function hasTooManyParameters(text: string, most = maxFormParameters): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0 && count <= most; at = text.indexOf('&', at + 1)) count += 1;
  return count > most;
}

/** A parameter of a form or a query. */
export type Parameter = readonly [name: string, value: string];

/** The parameters of a form or a query, in the order sent. A name may occur more than once. */
export type Form = readonly Parameter[];

/** Splits a form or a query into its parameters as sent. Empty ones are skipped; one without an equals sign has the value ''. */
export function splitPairs(text: string): Parameter[] {
  const pairs: Parameter[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    pairs.push(equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]);
  }
  return pairs;
}

/**
 * Parses `application/x-www-form-urlencoded` (WHATWG URL §5.1); each octet is one character. Unlike that algorithm, it is strict:
 * it returns undefined if two hexadecimal digits do not follow a percent sign, or if something does not decode to UTF-8.
 */
export function parseForm(text: string): Form | undefined {
  return decodePairs(text, decodeFormText);
}

/** Parses a form or a query like `parseForm`, but to octets, which need not be UTF-8. */
export function parseFormOctets(text: string): Form | undefined {
  return decodePairs(text, decodeFormOctets);
}

function decodePairs(text: string, decode: (text: string) => string | undefined): Form | undefined {
  const form: Parameter[] = [];
  for (const pair of splitPairs(text)) {
    const name = decode(pair[0]);
    const value = decode(pair[1]);
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

/** Decodes a name or value: `+` is a space, `%XX` an octet, and the octets are UTF-8. Returns undefined if it is malformed. */
export function decodeFormText(text: string): string | undefined {
  const octets = decodeFormOctets(text);
  return octets === undefined ? undefined : decodeUtf8(octets);
}

/** Decodes a name or value like `decodeFormText`, but to octets. */
function decodeFormOctets(text: string): string | undefined {
  return decodeOctets(text.replaceAll('+', ' '));
}

/** The values of a parameter as sent, and the form or query without it. */
interface TakenParameter {
  readonly values: readonly string[];
  /** Undefined if nothing is left. */
  readonly rest: string | undefined;
}

/** Removes a parameter from a form or a query. A name is compared as sent, so it must not be escaped. */
export function takeParameter(text: string, name: string): TakenParameter {
  if (!text.includes(name)) return { values: [], rest: text };
  const values: string[] = [];
  const rest: string[] = [];
  for (const pair of text.split('&')) {
    if (pair === name || pair.startsWith(`${name}=`)) values.push(pair.slice(name.length + 1));
    else rest.push(pair);
  }
  return { values, rest: rest.length === 0 ? undefined : rest.join('&') };
}

/** Returns the values of a parameter of the query of a target, as sent. */
export function findQueryValues(target: string, name: string): readonly string[] {
  return takeParameter(findQuery(target), name).values;
}

/** Removes parameters from the query of a target; also the question mark if none is left. */
export function removeParameters(target: string, names: readonly string[]): string {
  return names.reduce((from, name) => {
    const query = findQuery(from);
    const { values, rest } = takeParameter(query, name);
    if (values.length === 0) return from;
    const before = from.slice(0, from.length - query.length - 1);
    return rest === undefined ? before : `${before}?${rest}`;
  }, target);
}
