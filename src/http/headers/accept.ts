import { parseParameters } from '../syntax/parameters.ts';
import { listElements, tokenEnd } from '../syntax/token.ts';
import { type MediaType, parseMediaType } from './media-type.ts';

/** The least rank of `type/*` and of a named type; a range's own parameters add one each. */
const partlyNamed = 100_000;
const named = 200_000;

/** A media range with its weight in thousandths; `rank` grows with how specific it is (RFC 9110 §12.5.1). */
interface MediaRange extends MediaType {
  readonly weight: number;
  readonly rank: number;
}

/**
 * Proactive negotiation (RFC 9110 §12.5.1): the variant that the client likes best. The most specific range that
 * matches a variant gives its weight, the first of equal weights wins, weight 0 excludes. Without an Accept
 * field, or with an empty one, it is the first variant. Elements that are malformed count as not sent; undefined
 * when nothing is acceptable. `type` is a media type with or without parameters.
 */
export function preferred<T extends { readonly type: string }>(
  accept: string | undefined,
  variants: readonly T[],
): T | undefined {
  if (accept === undefined || accept === '' || accept === '*/*') return variants[0];
  return literally(accept, variants) ?? negotiated(listElements(accept), variants);
}

/** The variant of the one type that is asked for, when the whole field is that type as the variant has it. */
function literally<T extends { readonly type: string }>(
  accept: string,
  variants: readonly T[],
): T | undefined {
  if (accept.includes(';')) return undefined;
  return variants.find(({ type }) => type === accept || type.startsWith(`${accept};`));
}

function negotiated<T extends { readonly type: string }>(
  elements: readonly string[],
  variants: readonly T[],
): T | undefined {
  if (elements.length === 0) return variants[0];
  const ranges = elements.map(parseRange).filter((range) => range !== undefined);
  let best: T | undefined;
  let highest = 0;
  for (const variant of variants) {
    const weight = weightOf(variant.type, ranges);
    if (weight > highest) {
      best = variant;
      highest = weight;
    }
  }
  return best;
}

function parseRange(element: string): MediaRange | undefined {
  // Java's HttpURLConnection sends a bare `*` as well.
  const range = parseMediaType(element.replace(/^\*(?=[\t ]*(?:;|$))/, '*/*'));
  if (range === undefined) return undefined;
  const { type, parameters } = range;
  if (type.startsWith('*/') && type !== '*/*') return undefined;
  // A parameter named q is the weight wherever it stands (RFC 9110 §12.5.1).
  const q = parameters.get('q');
  const weight = parseWeight(q);
  if (weight === undefined) return undefined;
  const own = q === undefined ? parameters.size : parameters.size - 1;
  return { type, parameters, weight, rank: width(type) + own };
}

/** A named type outranks `type/*`, and that outranks the full wildcard, however many parameters these have. */
function width(type: string): number {
  if (type === '*/*') return 0;
  return type.endsWith('/*') ? partlyNamed : named;
}

/** In thousandths; 0 for a variant that no range matches. */
function weightOf(type: string, ranges: readonly MediaRange[]): number {
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
    if (name !== 'q' && !sameValue(name, value, media.parameters.get(name))) return false;
  return true;
}

function includes(range: MediaRange, type: string): boolean {
  if (range.rank >= named) return range.type === type;
  return range.rank < partlyNamed || type.startsWith(range.type.slice(0, -1));
}

/**
 * Only charset is known to be read without regard to case (RFC 9110 §8.3.2). A variant that names none, as JSON
 * does not, is written in UTF-8.
 */
function sameValue(name: string, wanted: string, actual: string | undefined): boolean {
  if (wanted === actual) return true;
  return name === 'charset' && wanted.toLowerCase() === (actual ?? 'utf-8').toLowerCase();
}

/** A qvalue in thousandths, 1000 when there is none, undefined when it is malformed (RFC 9110 §12.4.2). */
function parseWeight(q: string | undefined): number | undefined {
  if (q === undefined) return 1000;
  // Without its 0 in Java's HttpURLConnection: `*; q=.2`.
  return /^(?:0(?:\.\d{0,3})?|\.\d{1,3}|1(?:\.0{0,3})?)$/.test(q) ? Math.round(Number(q) * 1000) : undefined;
}

/**
 * Whether the client asks for this content coding, by name or by `*`, with a weight above 0 (RFC 9110 §12.5.3).
 * False without the field: a coding that was not asked for is not used. `coding` is in lower case.
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

/** A coding has no parameter but its weight. */
function codingWeight(element: string, at: number): number | undefined {
  const parameters = parseParameters(element, at);
  if (parameters === undefined) return undefined;
  const q = parameters.get('q');
  return parameters.size > (q === undefined ? 0 : 1) ? undefined : parseWeight(q);
}
