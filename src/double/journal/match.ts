import { type ProblemType, problemTypes } from '../../http/problem-types.ts';
import { checkNumber, checkWord } from '../../service/argument-checks.ts';
import { isPromise } from '../callback.ts';
import {
  type BarePath,
  checkMatch,
  checkName,
  differences,
  type Match,
  matchNames,
  normalizePath,
} from '../match.ts';
import type { JournalEntry, RawEntry } from './entry.ts';

/** Selects entries of the journal, by members or by a function. An entry matches if it matches every member that is present. */
export type EntryMatch<Path extends string = string> = EntryParts<Path> | ((entry: JournalEntry) => boolean);

/** The members by which entries are selected. */
interface EntryParts<Path extends string = string> extends Omit<Match, 'path'> {
  /** The path without its query: exactly, as a template (`/articles/{id}`), or as a regular expression. */
  readonly path?: BarePath<Path> | RegExp;
  /** A user or client that exists, existed, or is named by the credentials of a recorded request. */
  readonly user?: string;
  /** The status of the response; 0 if there was none. */
  readonly status?: number;
  /** The step (0 to 16) that produced the response. */
  readonly step?: number;
  /** The problem type in the response, such as `nonce-replayed`. */
  readonly problem?: ProblemType;
  /** A text or pattern that the content of the request contains. */
  readonly text?: string | RegExp;
}

/** The names of the members. The type checks that the list is complete. */
const names: Readonly<Record<keyof EntryParts, true>> = {
  ...matchNames,
  status: true,
  step: true,
  problem: true,
  text: true,
};

/**
 * Throws RangeError if a match is invalid, with the nearest known name.
 * @param userNames returns the names that `user` can have; undefined if any name is possible
 */
export function checkEntryMatch(match: EntryMatch, userNames: () => readonly string[] | undefined): void {
  if (typeof match === 'function') return;
  checkMatch(match, Object.keys(names), 'an object or a function');
  const known = match.user === undefined ? undefined : userNames();
  if (known !== undefined) checkName(match, known);
  const { status, step, problem, text } = match;
  checkNumber(status, 'status of a match', { min: 100, max: 599, whole: true });
  checkNumber(step, 'step of a match', { min: 0, max: 16, whole: true });
  checkWord(problem, Object.keys(problemTypes), 'a problem type');
  if (text !== undefined && typeof text !== 'string' && !(text instanceof RegExp))
    throw new RangeError('text of a match must be text or a regular expression');
}

/**
 * Returns whether an entry matches. Throws what the function of a match throws, and RangeError if it returns a promise, which would
 * otherwise match every entry.
 */
export function fits(entry: JournalEntry, match: EntryMatch): boolean {
  if (typeof match !== 'function') return listRawDifferences(entry, match).length === 0;
  const result: unknown = match(entry);
  if (!isPromise(result)) return Boolean(result);
  result.then(undefined, () => undefined);
  throw new RangeError('the function of a match must return true or false, and it returned a promise');
}

/**
 * Returns how an entry differs from a match, one phrase for each difference, without secrets. Empty if it matches. The values
 * as sent are compared, since a secret can be equal to a part of a path or of content.
 */
export function listDifferences(entry: JournalEntry, match: EntryParts): string[] {
  return listRawDifferences(entry, match).map((each) => entry.redact(each));
}

function listRawDifferences(entry: JournalEntry, match: EntryParts): string[] {
  const { request } = entry.raw();
  const method = request?.method ?? '(unparsed)';
  const path = request === undefined ? '(unparsed)' : normalizePath(request);
  const found = differences(match, { method, path, user: entry.user });
  const compare = (name: 'status' | 'step' | 'problem', value: unknown): void => {
    if (match[name] !== undefined && match[name] !== value)
      found.push(`the ${name} is ${value ?? 'none'}, not ${match[name]}`);
  };
  compare('status', entry.status);
  compare('step', entry.step);
  compare('problem', entry.problem?.type);
  if (match.text !== undefined && !hasText(decodeText(request), match.text))
    found.push(`the content does not contain ${JSON.stringify(String(match.text))}`);
  return found;
}

function decodeText(request: RawEntry['request']): string {
  return Buffer.from(request?.body ?? []).toString('utf8');
}

function hasText(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0;
}
