import type { Problem, ProblemMember } from '../http/problem.ts';

/** Details of a failed check: the members of a Problem that explains itself. */
export type TraceDetails = Readonly<Record<string, ProblemMember>>;

/**
 * Records the checks of the credentials of one request. It is created only for a listener. It never contains a secret, a
 * password, a token or a signature.
 */
export class AuthenticationTrace {
  /** The scheme in lower case; undefined without readable credentials. */
  scheme: string | undefined;
  /** The checks that were passed, in order. */
  readonly passed: string[] = [];
  /** The check that failed first; undefined if none failed. */
  failedAt: string | undefined;
  /** Details of the failed check, as shown with `--explain`. */
  details: TraceDetails = {};

  /** Records that a check passed. */
  pass(check: string): void {
    this.passed.push(check);
  }

  /** Records that a check failed. Only the first failed check is recorded. */
  fail(check: string, details: TraceDetails = {}): void {
    if (this.failedAt !== undefined) return;
    this.failedAt = check;
    this.details = details;
  }

  /** Records that the credentials were refused. The check is the member `check` of the Problem, or follows from its type. */
  refused({ type, members }: Problem): void {
    const { check = checkOf[type] ?? type } = members;
    this.fail(String(check), members);
  }
}

/** The check that failed, by problem type. */
const checkOf: Readonly<Record<string, string>> = {
  'several-credentials': 'parse',
  'malformed-credentials': 'parse',
  'malformed-field': 'parse',
  'tls-required': 'transport',
  'scheme-not-offered': 'scheme',
  'too-many-failures': 'throttle',
};
