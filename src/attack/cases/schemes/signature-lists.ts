import type { Declaration } from '../../../schemes/declared/declaration.ts';
import {
  type AttackRequest,
  type Case,
  findLine,
  group,
  malformed,
  refused,
  replaceLine,
} from '../../attempt.ts';
import type { Forger } from '../../forger.ts';

/** A value with a list of signatures, of which one must be valid. */
interface List {
  /** Returns the value of a request as elements. */
  readonly elements: (request: AttackRequest) => readonly string[];
  /** Returns a request with other elements. */
  readonly sent: (request: AttackRequest, elements: readonly string[]) => AttackRequest;
  /** Returns whether an element is a signature. */
  readonly isSignature: (element: string) => boolean;
}

/** Lists of signatures that are long, or were changed. */
export function* signatureListCases(forger: Forger, declaration: Declaration): Generator<Case> {
  const list = readList(declaration);
  if (list === undefined) return;
  yield* lengthenLists(forger, list);
  yield* repeatTimestamps(forger, list);
  if (forger.once && !forger.hasNonce) yield* dropSignature(forger, list);
}

function readList({ place, format }: Declaration): List | undefined {
  const { separator } = format;
  if (separator === undefined || !('field' in place)) return undefined;
  const { field } = place;
  const literal = format.elements.find(({ names }) => names.includes('signature'))?.literals[0] ?? '';
  return {
    elements: (request) => (findLine(request.headers, field)?.[1] ?? '').split(separator),
    sent: (request, elements) => replaceLine(request, [field, elements.join(separator)]),
    isSignature: (element) => element.startsWith(literal),
  };
}

/** The number of signatures of a list that a server verifies. */
const maxSignatures = 16;

function* lengthenLists({ signGood }: Forger, { elements, sent, isSignature }: List): Generator<Case> {
  const wrongSignatures = (request: AttackRequest, count: number): string[] => {
    const signature = elements(request).find(isSignature) ?? '';
    return Array.from({ length: count }, (_, at) => corruptSignature(signature, at));
  };
  const last = signGood();
  const others = elements(last).filter((element) => !isSignature(element));
  const valid = elements(last).filter(isSignature);
  const late = sent(last, [...others, ...wrongSignatures(last, maxSignatures), ...valid]);
  const long = signGood();
  const length = elements(long).find(isSignature)?.length ?? 1;
  const count = Math.ceil(2 ** 20 / (length + 1));
  const huge = sent(long, [...elements(long), ...wrongSignatures(long, count)]);
  const why = 'Each signature costs the computation or comparison of one, so their number must be limited.';
  yield* group({ id: 'signature-count', why, expected: malformed }, [
    ['the 17th signature is valid', late],
    ['the list of signatures has 1 MiB', huge, { expected: [431, 400, 401, 403, 413] }],
  ]);
}

/** Returns a signature that differs in its last characters. */
function corruptSignature(signature: string, at: number): string {
  const digits = at.toString(16).padStart(6, '0');
  const padding = /={0,2}$/.exec(signature)?.[0] ?? '';
  const end = signature.length - padding.length;
  // The last character before the padding has bits that must be zero.
  return `${signature.slice(0, end - 8)}${digits}a${signature.charAt(end - 1)}${padding}`;
}

/** Two timestamps, of which one is fresh and the other one was signed. */
function* repeatTimestamps(forger: Forger, { elements, sent, isSignature }: List): Generator<Case> {
  const stale = forger.signRequest({ date: forger.now - forger.window - 60_000 });
  const timestamp = elements(forger.signGood()).find((element) => !isSignature(element));
  if (stale === undefined || timestamp === undefined) return;
  const why = 'It is ambiguous which of two timestamps counts.';
  yield* group({ id: 'unsigned-date', why, expected: malformed }, [
    ['a fresh timestamp precedes the signed one', sent(stale, [timestamp, ...elements(stale)])],
    ['a fresh timestamp follows the signed one', sent(stale, [...elements(stale), timestamp])],
  ]);
}

/** A request that is sent again without one of its signatures. */
function dropSignature({ signGood }: Forger, { elements, sent, isSignature }: List): Generator<Case> {
  const first = signGood();
  const signature = elements(first).find(isSignature) ?? '';
  const both = sent(first, [...elements(first), corruptSignature(signature, 1)]);
  const why = 'A list has several texts for the same message, so the whole value does not identify it.';
  return group({ id: 'replay', why, expected: refused }, [
    ['the request is sent again without one of its signatures', [both, first]],
  ]);
}
