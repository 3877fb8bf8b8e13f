import type { ProblemType } from '../../http/problem-types.ts';
import { describeKind } from '../../shape/fault.ts';
import { number, object, optional, read, type ShapesOf } from '../../shape/shape.ts';
import { containsText, problemTypeShape, textOrPattern } from '../match.ts';
import type { JournalEntry } from './entry.ts';
import { entryOfAnswer } from './exchange.ts';

/** What a test asserts about: an entry of the journal, or a response of `double.fetch` or `double.as(…).fetch`. */
export type Answer = JournalEntry | Response;

/** The expected refusal. Members that are not given can have any value. */
export interface RefusalMatch {
  /** The status of the response, 400 to 599. */
  readonly status?: number;
  /** The problem type in the response, such as `nonce-replayed`. */
  readonly problem?: ProblemType;
  /** A text or pattern that the hint in the journal contains. */
  readonly hint?: string | RegExp;
}

const refusalShape = object(
  {
    status: optional(number({ min: 400, max: 599 })),
    problem: optional(problemTypeShape),
    hint: optional(textOrPattern),
  } satisfies ShapesOf<RefusalMatch>,
  undefined,
  { expected: "an object such as { status: 401, hint: 'query' }" },
);

/** Returns the entry of an answer. Throws TypeError if it has none. */
function requireEntry(answer: unknown): JournalEntry {
  const entry: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, entryOfAnswer) : undefined;
  if (isEntry(entry)) return entry;
  const found =
    answer instanceof Response ? 'a response that came over a socket or was cloned' : describeKind(answer);
  throw new TypeError(
    `expected an entry of the journal, such as double.journal.last(), or a response of double.fetch, got ${found}`,
  );
}

function isEntry(value: unknown): value is JournalEntry {
  return typeof value === 'object' && value !== null && Reflect.get(value, entryOfAnswer) === value;
}

/** Whether an answer is as expected, and a message for either case. */
export interface Verdict {
  readonly pass: boolean;
  readonly message: string;
}

/** Determines whether a request was accepted: whether its response has a status below 400. */
export function judgeAcceptance(answer: unknown): Verdict {
  const entry = requireEntry(answer);
  const pass = entry.status > 0 && entry.status < 400;
  return { pass, message: appendEntry(`expected the request to be ${pass ? 'refused' : 'accepted'}`, entry) };
}

/** Determines whether a request was refused as expected. Throws RangeError if `expected` is invalid. */
export function judgeRefusal(answer: unknown, expected: RefusalMatch = {}): Verdict {
  read(refusalShape, expected, 'the expected refusal');
  const entry = requireEntry(answer);
  if (judgeAcceptance(entry).pass)
    return { pass: false, message: appendEntry('expected the request to be refused', entry) };
  const found = listDifferences(entry, expected);
  const pass = found.length === 0;
  const head = pass
    ? 'expected the request not to be refused like this'
    : `expected another refusal: ${found.join('; ')}`;
  return { pass, message: appendEntry(head, entry) };
}

function listDifferences(entry: JournalEntry, { status, problem, hint }: RefusalMatch): string[] {
  const found: string[] = [];
  const differ = (what: string, actual: unknown, wanted: unknown): void => {
    found.push(`the ${what} is ${actual ?? 'missing'}, not ${String(wanted)}`);
  };
  if (status !== undefined && status !== entry.status) differ('status', entry.status || undefined, status);
  if (problem !== undefined && problem !== entry.problem?.type)
    differ('problem', entry.problem?.type, problem);
  const hinted = entry.auth?.hint ?? entry.problem?.hint;
  if (hint !== undefined && !containsText(hinted ?? '', hint)) differ('hint', hinted, hint);
  return found;
}

function appendEntry(head: string, entry: JournalEntry): string {
  return `${head}:\n${String(entry)}`;
}
