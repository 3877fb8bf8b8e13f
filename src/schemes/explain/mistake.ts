import type { IncomingRequest } from '../../http/message.ts';
import type { Part, PartKind, Piece } from '../message.ts';

/** What a request shows beside the part in which a mistake may be. */
export interface Facts {
  readonly request: IncomingRequest;
  /** The request target without the signature. */
  readonly target: string;
  /** The authority that the client addressed, as sent. */
  readonly host: string;
  /** The content; empty if it was not read. */
  readonly content: Uint8Array;
  /** The time of the request (ms); undefined if it has none. */
  readonly time: number | undefined;
  /** The name of the header whose value the part is. Default: it is none. */
  readonly header?: string;
}

/** A value that a client may have signed in place of a part, and a hint that describes the mistake. */
export type Variant = readonly [hint: string, value: Piece];

/**
 * A mistake that clients make in a part: the hint, and the values that they sign in its place. In a hint, `{part}` is the part,
 * `{name}` the part without an article, `{signed}` what was signed, `{expected}` what must be, `{host}` the host as sent,
 * `{authority}` the host that was signed, `{parameter}` the parameter that was not signed, `{added}` the text that was signed and not
 * sent, `{length}` the length (bytes) of what was signed, `{instead}` the first characters that differ, `{leftOut}` the beginning that was left out, `{prefix}` the prefix of the
 * path that was signed or left out, and `{front}` the beginning that was signed in place of the one that arrived. Values equal to the expected one are ignored, so a mistake need not
 * ask whether it can occur.
 */
export type Mistake = readonly [hint: string, values: (value: string, facts: Facts) => Values];

/** A mistake that depends on nothing but the value. */
export type TextMistake = readonly [hint: string, values: (value: string) => Values];

/** One value, several, or none. */
type Values = Piece | Iterable<Piece> | undefined;

/** Yields the variants of a value. Each is written when it is asked for. */
export function* listVariants(
  mistakes: readonly Mistake[],
  part: string,
  value: string,
  facts: Facts,
): Generator<Variant> {
  for (const [hint, values] of mistakes)
    for (const signed of toList(values(value, facts)))
      yield [describe(hint, part, value, signed, facts), signed];
}

/** Yields the variants of a text by mistakes that depend on nothing else. */
export function* listTextVariants(
  mistakes: readonly TextMistake[],
  part: string,
  text: string,
  expected = text,
): Generator<Variant> {
  for (const [hint, values] of mistakes)
    for (const signed of toList(values(text))) yield [describe(hint, part, expected, signed), signed];
}

/** Returns values as a list, each of which may be computed when it is asked for. */
function toList(values: Values): Iterable<Piece> {
  if (values === undefined) return [];
  return typeof values === 'string' || values instanceof Uint8Array ? [values] : values;
}

const placeholder =
  /\{(part|name|authority|host|prefix|front|leftOut|expected|parameter|added|signed|instead|length)\}/g;

/** Returns the hint of a mistake in a part. What depends on nothing but the texts needs no facts. */
export function describe(hint: string, part: string, expected: string, signed: Piece, facts?: Facts): string {
  if (!hint.includes('{')) return hint;
  const text = typeof signed === 'string' ? signed : '';
  return hint.replace(placeholder, (_, name: string) => {
    if (name === 'part') return part;
    if (name === 'name') return part.replace(/^the (?:value of )?/, '');
    if (name === 'authority') return /^(?:https?:)?(?:\/\/)?([^/]*)/.exec(text)?.[1] ?? '';
    if (name === 'host') return facts?.host ?? '';
    if (name === 'prefix') return facts?.request.basePath ?? findInserted(text, expected);
    if (name === 'front') return findFront(text, expected);
    if (name === 'leftOut') return findInserted(expected, text);
    if (name === 'expected') return expected;
    if (name === 'length') return String(signed.length);
    if (name === 'instead') return findReplacement(text, expected);
    if (name === 'added') return findAdded(text, expected);
    return name === 'parameter' ? findMissingParameter(expected, text) : text;
  });
}

/** Returns the first place in which a text differs from another one: `"+" for "%20"`. */
function findReplacement(text: string, other: string): string {
  let at = 0;
  while (at < other.length && text[at] === other[at]) at += 1;
  // The difference may be in the digits of an escape.
  const start = /%[\dA-Fa-f]?$/.exec(other.slice(0, at))?.index ?? at;
  const [own, another] = [text, other].map((each) => /%[\dA-Fa-f]{2}|./sy.exec(each.slice(start))?.[0]);
  return `${JSON.stringify(own ?? '')} for ${JSON.stringify(another ?? '')}`;
}

/** Returns what a text has in one place in addition to a shorter one, without separators: `b=undefined`. */
function findAdded(longer: string, shorter: string): string {
  let at = 0;
  while (at < shorter.length && longer[at] === shorter[at]) at += 1;
  let start = at;
  let end = at + longer.length - shorter.length;
  while (start < end && separators.has(longer.charAt(start))) start += 1;
  while (start < end && separators.has(longer.charAt(end - 1))) end -= 1;
  return longer.slice(start, end);
}

const separators = new Set(['?', '&', ',', ' ', '\t', '\r', '\n']);

/** Returns the segments at the beginning of a text that another one, which ends in the same segments, does not have. */
function findFront(text: string, other: string): string {
  let common = 0;
  while (common < Math.min(text.length, other.length) && text.at(-1 - common) === other.at(-1 - common))
    common += 1;
  const end = text.indexOf('/', text.length - common);
  return (end < 0 ? text : text.slice(0, end)).replace(/^(?:https?:)?\/\/[^/]*/i, '');
}

/** Returns the segments that a longer text has in a place where a shorter one does not: `/api`. */
function findInserted(longer: string, shorter: string): string {
  const added = longer.length - shorter.length;
  let at = 0;
  while (at < shorter.length && longer[at] === shorter[at]) at += 1;
  const slash = shorter.lastIndexOf('/', at);
  const start = slash >= 0 && longer.slice(slash + added) === shorter.slice(slash) ? slash : at;
  return longer.slice(start, start + added);
}

/** Returns the name of the first parameter of a query that another one lacks. */
function findMissingParameter(expected: string, signed: string): string {
  const signedParameters = new Set(signed.split(/[?&]/));
  const missing = expected.split(/[?&]/).find((parameter) => !signedParameters.has(parameter)) ?? '';
  return missing.replace(/=.*$/s, '');
}

/** Returns mistakes in a piece of a text as mistakes in the text. */
export function embedMistakes(
  mistakes: readonly Mistake[],
  split: (text: string) => readonly [before: string, piece: string, after: string],
): Mistake[] {
  return mistakes.map(
    ([hint, values]): Mistake => [
      hint,
      (text, facts) => {
        const [before, piece, after] = split(text);
        return Array.from(toList(values(piece, facts))).flatMap((signed) =>
          typeof signed === 'string' ? [before + signed + after] : [],
        );
      },
    ],
  );
}

/** Returns all orders of a few items. */
export function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) =>
    permutations(items.filter((_, index) => index !== at)).map((others) => [item, ...others]),
  );
}

/** The kinds whose parts have names of their own in a scheme. */
const namedKinds: readonly PartKind[] = ['other', 'digest', 'time', 'id', 'user'];

/** Returns how hints name a part. */
export function formatLabel(part: Part): string {
  const { kind, name } = part;
  if (kind === 'header') return `the value of ${parseFieldName(part)}`;
  if (kind === 'url') return 'the URL';
  if (kind === 'search') return 'the query';
  if (name.startsWith('json:')) return `the member ${name.slice('json:'.length)}`;
  return namedKinds.includes(kind) ? `the ${name}` : `the ${kind}`;
}

/** Returns the name of the header whose value a part is. */
export function parseFieldName({ name }: Part): string {
  return /^"([^"]*)"/.exec(name)?.[1] ?? name.replace(/^(?:field:|header )/, '');
}
