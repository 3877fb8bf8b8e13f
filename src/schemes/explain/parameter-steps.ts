// Parameters in the forms in which programs sign them: those of a query, of a form, or the members of JSON. A text is split, its names and
// values are decoded, some are selected, encoded, ordered and written. A mistake is a step that was made in another way than the right one,
// and the ways are the same for all places and schemes.

import { hasTooManyParameters } from '../../http/form.ts';
import { decodeOctets } from '../../http/syntax/percent.ts';
import { listMembers, readJsonNode } from './json-writers.ts';

/** A parameter, each octet of which is one character. Without a value it is written without "=". */
export type Pair = readonly [name: string, value?: string | undefined];
export type Pairs = readonly Pair[];

/** Changes the octets of a name or a value; undefined if that is impossible. */
export type Convert = (octets: string, isValue: boolean) => string | undefined;

/** The steps that make a text of parameters. Where clients do several things that one hint describes, a step has several results. */
export interface Steps {
  /** The largest number of parameters with which the steps are made. Default: no limit. */
  readonly limit?: number;
  readonly split: (text: string) => Pairs | undefined;
  readonly decode: Convert;
  readonly select: (pairs: Pairs) => Iterable<Pairs>;
  readonly encode: Convert;
  readonly order: (pairs: Pairs) => Iterable<Pairs>;
  readonly write: (pairs: Pairs) => Iterable<string>;
}

/**
 * A mistake: a hint, and the steps that are made otherwise. In a hint, `{of}` and `{in}` are ` of the query` and ` in the query`, for
 * instance, or nothing.
 */
export type Row = readonly [hint: string, ...ways: Partial<Steps>[]];

/** The largest number of parameters with which steps are made that take as long as hundreds of verifications. */
export const maxCostly = 256;

export const keep = (octets: string): string => octets;
export const all = (pairs: Pairs): Pairs[] => [pairs];

/** Decodes as in a form. */
export function decodeForm(octets: string): string | undefined {
  return decodeOctets(octets.replaceAll('+', ' '));
}

/** Splits parameters, with empty ones. */
export function split(text: string): Pairs {
  return text.split('&').map((parameter): Pair => {
    const equals = parameter.indexOf('=');
    return equals < 0 ? [parameter] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
  });
}

/** Returns whether a content can be a form. */
export function isForm(content: string): boolean {
  return content.includes('=') && /^[!-~]+$/.test(content);
}

export function splitForm(content: string): Pairs | undefined {
  return isForm(content) ? split(content) : undefined;
}

/** Returns the members of a JSON object as parameters; undefined if the content is none. */
export function readMembers(content: string): Pairs | undefined {
  const node = readJsonNode(content);
  return node && listMembers(node);
}

/** Returns the fields of multipart/form-data (RFC 7578) that are texts; undefined if the content is none. */
export function readMultipart(content: string): Pairs | undefined {
  const [boundary] = /^--[^\r\n]{1,70}/.exec(content) ?? [];
  if (boundary === undefined) return undefined;
  return content.split(boundary).flatMap((part): Pairs => {
    const end = part.indexOf('\r\n\r\n');
    const [, name] = /\bname="([^"\r\n]*)"/.exec(part.slice(0, Math.max(end, 0))) ?? [];
    return name === undefined ? [] : [[name, part.slice(end + 4).replace(/\r\n$/, '')]];
  });
}

/** Returns the decoded parameters of a form; undefined if the content is none. */
export function readForm(content: string): Pairs | undefined {
  return convertAll(splitForm(content), decodeForm);
}

/** Yields the texts that steps make. */
export function* makeTexts(text: string, steps: Steps): Generator<string> {
  const { limit = Number.POSITIVE_INFINITY } = steps;
  // Counted first, because splitting takes time.
  if (hasTooManyParameters(text, limit)) return;
  const pairs = steps.split(text);
  if (pairs === undefined || pairs.length > limit) return;
  const decoded = convertAll(pairs, steps.decode);
  for (const selected of decoded === undefined ? [] : steps.select(decoded)) {
    const encoded = convertAll(selected, steps.encode);
    for (const ordered of encoded === undefined ? [] : steps.order(encoded)) yield* steps.write(ordered);
  }
}

function convertAll(pairs: Pairs | undefined, convert: Convert): Pairs | undefined {
  if (pairs === undefined || convert === keep) return pairs;
  const converted: Pair[] = [];
  for (const [name, value] of pairs) {
    const [ownName, ownValue] = [
      convert(name, false),
      value === undefined ? undefined : convert(value, true),
    ];
    if (ownName === undefined || (ownValue === undefined && value !== undefined)) return undefined;
    converted.push(ownValue === undefined ? [ownName] : [ownName, ownValue]);
  }
  return converted;
}
