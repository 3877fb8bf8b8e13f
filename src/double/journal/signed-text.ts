// Compares what a client says that it has signed with the message that the server reconstructed.
import type { JournalEntry } from './entry.ts';

/** A part of a message, and what the client signed in its place. */
export interface ComparedPart {
  /** The name of the part, as `auth.parts` has it: `path`. */
  readonly name: string;
  /** Its value in the server's message. */
  readonly expected: string;
  /** Its value in the client's text. Absent if it is the same, or if the client's text does not show where it begins and ends. */
  readonly signed?: string;
}

/** How a text that a client has signed differs from the server's message. */
export interface SignedTextComparison {
  /** Whether they are the same. Then the key differs, or how the signature is computed. */
  readonly same: boolean;
  /** The parts of the message in their order. */
  readonly parts: readonly ComparedPart[];
  /** The name of the first part that differs. Undefined if none does: then what stands between the parts differs. */
  readonly differs: string | undefined;
  /** The comparison in one sentence. */
  readonly text: string;
}

/** A part, and where it stands in the message. */
interface Place extends ComparedPart {
  readonly start: number;
  readonly end: number;
}

/**
 * Compares a text that a client has logged as signed with the message that the server reconstructed from the request, part by part.
 * The message of AWS Signature Version 4 is the canonical request.
 *
 * @throws RangeError if no message was verified for the entry: the request was accepted, or refused for another reason.
 */
export function explainSignature(entry: JournalEntry, signedText: string): SignedTextComparison {
  const { auth, expected } = entry;
  if (auth === undefined || expected === undefined)
    throw new RangeError(`the entry has no message that was verified and refused: ${String(entry)}`);
  const places = placeParts(auth.parts, expected);
  if (signedText === expected)
    return {
      same: true,
      parts: places.map(withoutPlace),
      differs: undefined,
      text: 'the client signed the same message: the key differs, or how the signature is computed',
    };
  const parts = compareParts(places, expected, signedText);
  const differs = parts.find(({ signed }) => signed !== undefined);
  return { same: false, parts, differs: differs?.name, text: describe(differs, expected, signedText) };
}

function withoutPlace({ name, expected }: Place): ComparedPart {
  return { name, expected };
}

/** Finds the parts in a message, which has them in this order. Parts that it does not contain as they are shown are left out. */
function placeParts(parts: readonly ComparedPart[], message: string): Place[] {
  const places: Place[] = [];
  let from = 0;
  for (const { name, expected } of parts) {
    const start = message.indexOf(expected, from);
    // Literal text stands between the parts.
    if (start < 0 || name === '(text)') continue;
    from = start + expected.length;
    places.push({ name, expected, start, end: from });
  }
  return places;
}

/** Returns the parts with what the client signed in place of those that are not in what both texts have in common. */
function compareParts(places: readonly Place[], message: string, signed: string): ComparedPart[] {
  const start = countCommon(message, signed);
  const after = Math.min(
    countCommon([...message].reverse().join(''), [...signed].reverse().join('')),
    message.length - start,
    signed.length - start,
  );
  const end = message.length - after;
  const isChanged = (place: Place): boolean => place.start <= end && place.end >= start;
  const changed = places.filter(isChanged);
  const values = splitChanged(changed, message, signed);
  return places.map((place) => {
    const value = values.get(place);
    return value === undefined || value === place.expected
      ? withoutPlace(place)
      : { ...withoutPlace(place), signed: value };
  });
}

/** Splits the client's text at what stands between the parts that may differ. */
function splitChanged(
  changed: readonly Place[],
  message: string,
  signed: string,
): ReadonlyMap<Place, string> {
  const values = new Map<Place, string>();
  const [first] = changed;
  const last = changed.at(-1);
  if (first === undefined || last === undefined) return values;
  const end = signed.length - (message.length - last.end);
  let from = first.start;
  for (const [at, place] of changed.entries()) {
    const next = changed[at + 1];
    const separator = next === undefined ? '' : message.slice(place.end, next.start);
    const found = next === undefined ? end : findSeparator(signed, separator, from, place);
    if (found < from || found > end) return values;
    values.set(place, signed.slice(from, found));
    from = found + separator.length;
  }
  return values;
}

/** Returns where a part ends: after its expected value if that is there, else at the next separator. */
function findSeparator(signed: string, separator: string, from: number, { expected }: Place): number {
  const usual = from + expected.length;
  if (signed.startsWith(expected, from) && signed.startsWith(separator, usual)) return usual;
  return separator === '' ? usual : signed.indexOf(separator, from);
}

function countCommon(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function describe(differs: ComparedPart | undefined, message: string, signed: string): string {
  if (differs !== undefined)
    return `the ${differs.name} differs: ${quote(differs.expected)} is expected, ${quote(differs.signed ?? '')} was signed`;
  const at = countCommon(message, signed);
  return `the texts differ at character ${at + 1}: ${quote(message.slice(at))} is expected, ${quote(signed.slice(at))} was signed`;
}

/** The longest text that a sentence shows, in characters. */
const longestQuoted = 80;

function quote(text: string): string {
  return JSON.stringify(text.length <= longestQuoted ? text : `${text.slice(0, longestQuoted)}…`);
}
