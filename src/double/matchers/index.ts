/** Matchers for `expect.extend` of Vitest and Jest. They depend on neither. */
import type { RefusalMatch } from '../index.ts';
import { judgeAcceptance, judgeRefusal, type Verdict } from '../journal/verdict.ts';

/** What a matcher returns to `expect`. */
type MatcherResult = {
  readonly pass: boolean;
  message(): string;
};

/**
 * The matchers as members of `expect(…)`. A project declares once how its runner knows them. `R` is what a matcher of the runner
 * returns.
 * @example
 * declare module 'vitest' {
 *   interface Matchers<T> extends CountersignMatchers<void> {} // Vitest 3.2 and 4
 * }
 * @example
 * declare module 'expect' { // Jest with `@jest/globals`
 *   interface Matchers<R extends void | Promise<void>, T = unknown> extends CountersignMatchers<R> {}
 * }
 */
export interface CountersignMatchers<R = unknown> {
  /** Asserts that a request was accepted: its response has a status below 400. A failure shows the entry of the journal. */
  toBeAccepted(): R;
  /** Asserts that a request was refused: its response has a status from 400 on, and what `expected` names. */
  toBeRefused(expected?: RefusalMatch): R;
}

/**
 * Asserts that a request was accepted: its response has a status below 400. A failure shows the entry of the journal and its reason.
 * @param answer an entry of the journal, or a response of `double.fetch` or `double.as(…).fetch`
 * @throws TypeError if it is neither
 * @example
 * expect.extend(matchers);
 * expect(double.journal.last()).toBeAccepted();
 */
export function toBeAccepted(answer: unknown): MatcherResult {
  return toResult(judgeAcceptance(answer));
}

/**
 * Asserts that a request was refused: its response has a status from 400 on, and what `expected` names.
 * @param answer as for `toBeAccepted`
 * @param expected the status, the problem type, and a text or pattern in the hint. Default: any refusal
 * @throws TypeError or RangeError if an argument is invalid
 * @example expect(double.journal.last()).toBeRefused({ status: 401, hint: /former secret/ });
 */
export function toBeRefused(answer: unknown, expected?: RefusalMatch): MatcherResult {
  return toResult(judgeRefusal(answer, expected));
}

function toResult({ pass, message }: Verdict): MatcherResult {
  return { pass, message: () => message };
}
