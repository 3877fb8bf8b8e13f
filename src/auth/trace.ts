import type { Problem, ProblemMember } from '../http/problem.ts';

/** What is told of a check that failed: the members that a refusal has when it explains itself. */
export type TraceDetails = Readonly<Record<string, ProblemMember>>;

/**
 * How one request's credentials are checked, told while it happens, for who wants to know why. Without a listener there
 * is none, and it costs nothing. Nothing of a secret, a password, a token or a signature is ever told.
 */
export class AuthenticationTrace {
  /** As it stands in the field, in lower case; undefined while no scheme was named, or none that could be read. */
  scheme: string | undefined;
  /** The checks that were passed, in order. */
  readonly passed: string[] = [];
  /** The check that failed first; undefined where none did. */
  failedAt: string | undefined;
  /** What the refusal is told to be for, in the words of `--explain`. */
  details: TraceDetails = {};

  /** Another check was passed. */
  pass(check: string): void {
    this.passed.push(check);
  }

  /** A check failed; only the first one counts. */
  fail(check: string, told: TraceDetails = {}): void {
    if (this.failedAt !== undefined) return;
    this.failedAt = check;
    this.details = told;
  }

  /** The credentials were refused. Where no check was named, the problem says which it was. */
  refused({ type, members }: Problem): void {
    const { check = checkOf[type] ?? type } = members;
    this.fail(String(check), members);
  }
}

/** What was asked where these are the answer. */
const checkOf: Readonly<Record<string, string>> = {
  'several-credentials': 'parse',
  'malformed-credentials': 'parse',
  'malformed-field': 'parse',
  'tls-required': 'transport',
  'scheme-not-offered': 'scheme',
  'too-many-failures': 'throttle',
};
