import type { AuthenticationTrace } from '../../auth/trace.ts';
import type { Problem } from '../../http/problem.ts';
import { type Reason, recordReason } from '../reasons.ts';
import { addAdvice } from './error.ts';

/**
 * Records the reason of a Problem of OAuth 1.0a in the trace. Returns the Problem; with `explain`, its report has the reason as
 * advice (OAuth Problem Reporting extension).
 */
export function addReason(
  problem: Problem,
  reason: Reason,
  explain: boolean,
  authTrace: AuthenticationTrace | undefined,
): Problem {
  const { type, detail, members } = problem;
  recordReason(authTrace, 'oauth', reason, {
    detail,
    oauth_problem: String(members['oauth_problem'] ?? type),
  });
  return explain && reason.isPrivate !== true ? addAdvice(problem, reason.hint) : problem;
}
