import { parseParameters } from '../syntax/parameters.ts';
import { listElements, tokenEnd } from '../syntax/token.ts';
import { type MediaType, parseMediaType } from './media-type.ts';

/** The lowest ranks of `type/*` and of a named type. Each parameter of a range adds one. */
const partlyNamed = 100_000;
const named = 200_000;

/** A media range. `weight` is in thousandths; `rank` grows with its specificity (RFC 9110 §12.5.1). */
interface MediaRange extends MediaType {
  readonly weight: number;
  readonly rank: number;
}

/**
 * Selects a variant by proactive negotiation (RFC 9110 §12.5.1). The most specific matching range determines a variant's weight.
 * Of equal weights the first variant wins; the weight 0 excludes one. If Accept is absent or empty, the first variant is
 * returned. Malformed elements are ignored. Returns undefined if no variant is acceptable. `type` is a media type, with or
 * without parameters.
 */
export function selectPreferred<T extends { readonly type: string }>(
  accept: string | undefined,
  variants: readonly T[],
): T | undefined {
  if (accept === undefined || accept === '' || accept === '*/*') return variants[0];
  return findExactMatch(accept, variants) ?? negotiate(listElements(accept), variants);
}

/** Returns the variant whose type is the whole Accept value. */
function findExactMatch<T extends { readonly type: string }>(
  accept: string,
  variants: readonly T[],
): T | undefined {
  if (accept.includes(';')) return undefined;
  return variants.find(({ type }) => type === accept || type.startsWith(`${accept};`));
}

function negotiate<T extends { readonly type: string }>(
  elements: readonly string[],
  variants: readonly T[],
): T | undefined {
  if (elements.length === 0) return variants[0];
  const ranges = elements.map(parseRange).filter((range) => range !== undefined);
  let best: T | undefined;
  let highest = 0;
  for (const variant of variants) {
    const weight = computeWeight(variant.type, ranges);
    if (weight > highest) {
      best = variant;
      highest = weight;
    }
  }
  return best;
}

function parseRange(element: string): MediaRange | undefined {
  // Java's HttpURLConnection also sends a bare `*`.
  const range = parseMediaType(element.replace(/^\*(?=[\t ]*(?:;|$))/, '*/*'));
  if (range === undefined) return undefined;
  const { type, parameters } = range;
  if (type.startsWith('*/') && type !== '*/*') return undefined;
  // A parameter named q is the weight, wherever it is (RFC 9110 §12.5.1).
  const q = parameters.get('q');
  const weight = parseWeight(q);
  if (weight === undefined) return undefined;
  const own = q === undefined ? parameters.size : parameters.size - 1;
  return { type, parameters, weight, rank: width(type) + own };
}

/** A named type ranks above `type/*`, which ranks above the full wildcard, regardless of their parameters. */
function width(type: string): number {
  if (type === '*/*') return 0;
  return type.endsWith('/*') ? partlyNamed : named;
}

/** Returns a variant's weight in thousandths; 0 if no range matches. */
function computeWeight(type: string, ranges: readonly MediaRange[]): number {
  const media = parseMediaType(type);
  if (media === undefined) return 0;
  let rank = -1;
  let weight = 0;
  for (const range of ranges) {
    if (range.rank < rank || !matches(range, media)) continue;
    weight = range.rank > rank ? range.weight : Math.max(weight, range.weight);
    rank = range.rank;
  }
  return weight;
}

function matches(range: MediaRange, media: MediaType): boolean {
  if (!includes(range, media.type)) return false;
  for (const [name, value] of range.parameters)
    if (name !== 'q' && !isSameValue(name, value, media.parameters.get(name))) return false;
  return true;
}

function includes(range: MediaRange, type: string): boolean {
  if (range.rank >= named) return range.type === type;
  return range.rank < partlyNamed || type.startsWith(range.type.slice(0, -1));
}

/**
 * Compares parameter values. Only charset is known to be case-insensitive (RFC 9110 §8.3.2). A variant without one, such as JSON,
 * is in UTF-8.
 */
function isSameValue(name: string, wanted: string, actual: string | undefined): boolean {
  if (wanted === actual) return true;
  return name === 'charset' && wanted.toLowerCase() === (actual ?? 'utf-8').toLowerCase();
}

/** Parses a qvalue (RFC 9110 §12.4.2). Returns thousandths, 1000 by default, and undefined if it is malformed. */
function parseWeight(q: string | undefined): number | undefined {
  if (q === undefined) return 1000;
  // Java's HttpURLConnection leaves out the leading 0: `*; q=.2`.
  return /^(?:0(?:\.\d{0,3})?|\.\d{1,3}|1(?:\.0{0,3})?)$/.test(q) ? Math.round(Number(q) * 1000) : undefined;
}

/**
 * Returns whether the client accepts a content coding, by name or by `*`, with a weight above 0 (RFC 9110 §12.5.3). Returns false
 * if the field is absent. `coding` is in lower case.
 */
export function acceptsCoding(acceptEncoding: string | undefined, coding: string): boolean {
  if (acceptEncoding === undefined) return false;
  let byName: number | undefined;
  let others = 0;
  for (const element of listElements(acceptEncoding)) {
    const end = tokenEnd(element, 0);
    const weight = end === 0 ? undefined : codingWeight(element, end);
    if (weight === undefined) continue;
    const name = element.slice(0, end).toLowerCase();
    if (name === '*') others = Math.max(others, weight);
    else if (name === coding || name === `x-${coding}`) byName = Math.max(byName ?? 0, weight);
  }
  return (byName ?? others) > 0;
}

/** Returns the weight of a coding, which has no other parameter; undefined if it is malformed. */
function codingWeight(element: string, at: number): number | undefined {
  const parameters = parseParameters(element, at);
  if (parameters === undefined) return undefined;
  const q = parameters.get('q');
  return parameters.size > (q === undefined ? 0 : 1) ? undefined : parseWeight(q);
}
