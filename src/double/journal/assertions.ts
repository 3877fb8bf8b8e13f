// Assertions for any test runner, apart from what judges answers: loading a double must not load that.
import { type Answer, judgeAcceptance, judgeRefusal, type RefusalMatch } from './verdict.ts';

/**
 * Asserts that a request was accepted: its response has a status below 400. Otherwise throws AssertionError with the entry of the journal
 * and its reason.
 * @param answer an entry of the journal, or a response of `double.fetch` or `double.as(…).fetch`
 * @throws TypeError if it is neither
 * @example assertAccepted(double.journal.last());
 */
export function assertAccepted(answer: Answer): void {
  const { pass, message } = judgeAcceptance(answer);
  if (!pass) throw failure(message, assertAccepted);
}

/**
 * Asserts that a request was refused: its response has a status from 400 on, and what `expected` names. Otherwise throws AssertionError
 * with the entry of the journal and its reason.
 * @param answer as for `assertAccepted`
 * @param expected the status, the problem type, and a text or pattern in the hint. Default: any refusal
 * @throws TypeError or RangeError if an argument is invalid
 * @example assertRefused(double.journal.last(), { status: 401, hint: 'the query was left out' });
 */
export function assertRefused(answer: Answer, expected?: RefusalMatch): void {
  const { pass, message } = judgeRefusal(answer, expected);
  if (!pass) throw failure(message, assertRefused);
}

/** Loads the module on first use, since a start must not include it. */
function failure(message: string, stackStartFn: (...args: never[]) => void): Error {
  const { AssertionError } = process.getBuiltinModule('node:assert');
  return new AssertionError({ message, stackStartFn });
}
