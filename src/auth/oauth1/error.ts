import { formatChallenge } from '../../http/headers/authorization.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { encodeOctets, octetsOf, type Parameter } from '../../signature/oauth1-parameters.ts';

/** What can be wrong, in the words of the OAuth Problem Reporting extension. */
export type OAuth1Problem = keyof typeof typeOf;

const typeOf = {
  parameter_absent: 'oauth1-parameter-absent',
  parameter_rejected: 'oauth1-parameter-rejected',
  version_rejected: 'oauth1-version-rejected',
  signature_method_rejected: 'oauth1-signature-method-rejected',
  timestamp_refused: 'oauth1-timestamp-refused',
  signature_invalid: 'oauth1-signature-invalid',
  token_expired: 'oauth1-token-rejected',
  token_revoked: 'oauth1-token-rejected',
  token_used: 'oauth1-token-rejected',
  token_rejected: 'oauth1-token-rejected',
  permission_unknown: 'oauth1-token-rejected',
  verifier_invalid: 'oauth1-token-rejected',
  nonce_used: 'oauth1-nonce-used',
} as const satisfies Record<string, ProblemType>;

/** What the extension has beside `oauth_problem`, not encoded. */
export interface ProblemDetails {
  oauth_parameters_absent?: string;
  oauth_parameters_rejected?: string;
  oauth_acceptable_versions?: string;
  oauth_acceptable_timestamps?: string;
  oauth_problem_advice?: string;
}

/** A refusal in words of OAuth 1.0a; the parameters of its report are members of the Problem. */
export function oauth1Error(problem: OAuth1Problem, detail: string, more: ProblemDetails = {}): Problem {
  return new Problem(typeOf[problem], detail, { members: { oauth_problem: problem, ...more } });
}

/** The refusal of parameters by their names, which are octets. */
export function rejectedParameters(detail: string, names: readonly string[]): Problem {
  return oauth1Error('parameter_rejected', detail, { oauth_parameters_rejected: listed(names) });
}

/** The refusal of a request that lacks these parameters. */
export function missingParameters(names: readonly string[]): Problem {
  const detail = `${names.join(', ')} must be there, and not empty.`;
  return oauth1Error('parameter_absent', detail, { oauth_parameters_absent: listed(names) });
}

/** Each name once, encoded, and what is listed is encoded once more where it is sent. */
function listed(names: readonly string[]): string {
  return [...new Set(names)].map(encodeOctets).join('&');
}

/** A report goes into a field, of which clients take no more than some thousand characters. */
const longestReported = 4096;

/** What is reported of a refusal, encoded; nothing where it is none in words of OAuth 1.0a. */
export function reportOf({ members }: Problem): Parameter[] {
  return Object.entries(members)
    .filter(
      (member): member is [string, string] => member[0].startsWith('oauth_') && typeof member[1] === 'string',
    )
    .map(([name, value]): Parameter => [name, encodeOctets(octetsOf(value))])
    .filter(([, value]) => value.length <= longestReported);
}

/** The challenge with what is reported; undefined where that is nothing. */
export function challengeOf(realm: string, problem: Problem): string | undefined {
  const report = reportOf(problem);
  return report.length === 0 ? undefined : formatChallenge('OAuth', [['realm', realm], ...report]);
}
