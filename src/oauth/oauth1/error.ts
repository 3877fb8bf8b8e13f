import type { Parameter } from '../../http/form.ts';
import { formatChallenge } from '../../http/headers/authorization.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';

/** A problem code of the OAuth Problem Reporting extension. */
type OAuth1Problem = keyof typeof typeOf;

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

/** The parameters of the extension other than `oauth_problem`, not encoded. */
interface ProblemDetails {
  oauth_parameters_absent?: string;
  oauth_parameters_rejected?: string;
  oauth_acceptable_versions?: string;
  oauth_acceptable_timestamps?: string;
  oauth_problem_advice?: string;
}

/** Returns a Problem of OAuth 1.0a. The parameters of its report are members. */
export function oauth1Error(
  problem: OAuth1Problem,
  detail: string,
  more: ProblemDetails | Problem['members'] = {},
): Problem {
  return new Problem(typeOf[problem], detail, { members: { oauth_problem: problem, ...more } });
}

/** Returns the Problem for rejected parameters. Names are octets. */
export function rejectedParameters(detail: string, names: readonly string[]): Problem {
  return oauth1Error('parameter_rejected', detail, { oauth_parameters_rejected: formatNames(names) });
}

/** Returns the Problem for missing parameters. */
export function missingParameters(names: readonly string[]): Problem {
  const detail = `These parameters are required and must not be empty: ${names.join(', ')}.`;
  return oauth1Error('parameter_absent', detail, { oauth_parameters_absent: formatNames(names) });
}

/** Lists each name once, encoded. The list is encoded once more when it is sent. */
function formatNames(names: readonly string[]): string {
  return [...new Set(names)].map(encodeOctets).join('&');
}

/** Returns a Problem with a hint, which is also the advice of its report. */
export function addAdvice(problem: Problem, hint: string | undefined): Problem {
  if (hint === undefined) return problem;
  const { type, detail, members, headers: fields } = problem;
  return new Problem(type, detail, {
    members: { ...members, oauth_problem_advice: hint, hint },
    headers: fields,
  });
}

/** Encodes the value of a parameter. The names are those of the protocol. */
export function encodeParameter([name, value]: Parameter): Parameter {
  return [name, encodeOctets(toOctets(value))];
}

/** Maximum length of a reported value, because clients limit the length of a field. */
const maxReportedLength = 4096;

/** Returns the encoded parameters of the report of a Problem; none if it is not a Problem of OAuth 1.0a. */
export function buildReport({ members }: Problem): Parameter[] {
  return Object.entries(members)
    .filter(
      (member): member is [string, string] => member[0].startsWith('oauth_') && typeof member[1] === 'string',
    )
    .map(encodeParameter)
    .filter(([, value]) => value.length <= maxReportedLength);
}

/** Returns the challenge with the report of a Problem; undefined if there is no report. */
export function formatReportChallenge(realm: string, problem: Problem): string | undefined {
  const report = buildReport(problem);
  return report.length === 0 ? undefined : formatChallenge('OAuth', [['realm', realm], ...report]);
}
