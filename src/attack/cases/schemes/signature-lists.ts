import type { Declaration } from '../../../signature/declared/declaration.ts';
import {
  type AttackRequest,
  type Attempt,
  attempt,
  findLine,
  malformed,
  refused,
  replaceLine,
} from '../../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../../forger.ts';

/** A value with a list of signatures, of which one must be valid. */
interface List {
  readonly field: string;
  readonly separator: string;
  /** Returns a good request. */
  readonly good: () => AttackRequest;
  /** Returns the value of a request as elements. */
  readonly elements: (request: AttackRequest) => readonly string[];
  /** Returns a request with other elements. */
  readonly sent: (request: AttackRequest, elements: readonly string[]) => AttackRequest;
  /** Returns whether an element is a signature. */
  readonly isSignature: (element: string) => boolean;
}

/** Lists of signatures that are long, or were changed. */
export function* signatureListAttempts(forger: Forger, declaration: Declaration): Generator<Attempt> {
  const list = readList(forger, declaration);
  if (list === undefined) return;
  yield* toAttempts(forger, 'signature-count', lengthenLists(list));
  yield* toAttempts(forger, 'unsigned-date', repeatTimestamps(forger, list));
  if (forger.once && !forger.hasNonce) yield* dropSignature(forger, list);
}

function readList(forger: Forger, { place, format }: Declaration): List | undefined {
  const { separator } = format;
  if (separator === undefined || !('field' in place)) return undefined;
  const { field } = place;
  const literal = format.elements.find(({ names }) => names.includes('signature'))?.literals[0] ?? '';
  return {
    field,
    separator,
    good: () => forger.signGood(),
    elements: (request) => (findLine(request.headers, field)?.[1] ?? '').split(separator),
    sent: (request, elements) => replaceLine(request, [field, elements.join(separator)]),
    isSignature: (element) => element.startsWith(literal),
  };
}

/** The number of signatures of a list that a server verifies. */
const maxSignatures = 16;

function* lengthenLists(list: List): Generator<Forgery> {
  const { good, elements, sent, isSignature } = list;
  const createWrongSignatures = (request: AttackRequest, count: number): string[] => {
    const signature = elements(request).find(isSignature) ?? '';
    return Array.from({ length: count }, (_, at) => corruptSignature(signature, at));
  };
  const why = 'Each signature costs the computation or comparison of one, so their number must be limited.';
  const last = good();
  const others = elements(last).filter((element) => !isSignature(element));
  const valid = elements(last).filter(isSignature);
  const late = sent(last, [...others, ...createWrongSignatures(last, maxSignatures), ...valid]);
  yield ['the 17th signature is valid', why, malformed, late];
  const long = good();
  const length = elements(long).find(isSignature)?.length ?? 1;
  const count = Math.ceil(2 ** 20 / (length + 1));
  const huge = sent(long, [...elements(long), ...createWrongSignatures(long, count)]);
  yield ['the list of signatures has 1 MiB', why, [431, 400, 401, 403, 413], huge];
}

/** Returns a signature that differs in its last characters. */
function corruptSignature(signature: string, at: number): string {
  const digits = at.toString(16).padStart(6, '0');
  const padding = /={0,2}$/.exec(signature)?.[0] ?? '';
  const end = signature.length - padding.length;
  // The last character before the padding has bits that must be zero.
  return `${signature.slice(0, end - 8)}${digits}aA${padding}`.replace(
    /aA(=*)$/,
    (_, rest: string) => `a${signature.charAt(end - 1)}${rest}`,
  );
}

/** Two timestamps, of which one is fresh and the other one was signed. */
function* repeatTimestamps(forger: Forger, { elements, sent, isSignature, good }: List): Generator<Forgery> {
  const stale = forger.signRequest({ date: forger.now - forger.window - 60_000 });
  const timestamp = elements(good()).find((element) => !isSignature(element));
  if (stale === undefined || timestamp === undefined) return;
  const why = 'It is ambiguous which of two timestamps counts.';
  yield [
    'a fresh timestamp precedes the signed one',
    why,
    malformed,
    sent(stale, [timestamp, ...elements(stale)]),
  ];
  yield [
    'a fresh timestamp follows the signed one',
    why,
    malformed,
    sent(stale, [...elements(stale), timestamp]),
  ];
}

/** A request that is sent again without one of its signatures. */
function* dropSignature(forger: Forger, { good, elements, sent, isSignature }: List): Generator<Attempt> {
  const first = good();
  const signature = elements(first).find(isSignature) ?? '';
  const both = sent(first, [...elements(first), corruptSignature(signature, 1)]);
  yield attempt({
    id: 'replay',
    name: 'the request is sent again without one of its signatures',
    why: 'A list has several texts for the same message, so the whole value does not identify it.',
    expected: refused,
    needs: forger.needs,
    requests: [both, first],
  });
}
