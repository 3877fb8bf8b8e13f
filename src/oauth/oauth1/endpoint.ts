import { countRefusal, type RateLimiter, requireUnblocked } from '../../auth/rate-limit.ts';
import { type AuthenticationTrace, findTrace } from '../../auth/trace.ts';
import { holdForm, type Parameter } from '../../http/form.ts';
import { parseCredentials } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { type Action, type ActionResponse, action, type Representation } from '../../pipeline/resource.ts';
import type { Consumer } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import { type Reason, recordReason } from '../reasons.ts';
import type { SignedFor } from './checks.ts';
import { addAdvice, buildReport, formatReportChallenge, oauth1Error } from './error.ts';
import { addForm, type OAuth1Parameters } from './parameters.ts';
import type { OAuth1Presented } from './presented.ts';
import type { TokenSecrets } from './secrets.ts';
import { createSignedRequests } from './signature.ts';

/** Dependencies of the endpoints that require a signed request. */
export interface SignedEndpointContext extends OAuthContext {
  readonly deriveSecret: TokenSecrets;
}

/** A request whose signature is valid and whose nonce is fresh. */
interface Verified {
  readonly consumer: Consumer;
  /** The value of the token that it is signed with; empty without a token. */
  readonly token: string;
  readonly parameters: OAuth1Parameters;
}

/** Adds the reason to a Problem, for a trace and, with `--explain`, for the client. */
export type Explain = (problem: Problem, reason: Reason) => Problem;

/** Returns the parameters of the response. Rejects with a Problem. */
type Respond = (verified: Verified, explain: Explain) => Promise<Readonly<Record<string, string>>>;

/** Creates the POST action of an endpoint whose responses, errors included, are forms. */
export function createSignedAction(
  context: SignedEndpointContext,
  signedFor: Exclude<SignedFor, 'resource'>,
  respond: Respond,
): Action {
  const { rateLimiter } = context;
  const { reader, verifier } = createSignedRequests(signedFor, context);
  return action('anyone', async ({ incoming: request }): Promise<ActionResponse> => {
    const { peer } = request.connection;
    const authTrace = findTrace(request);
    requireUnblocked(rateLimiter, peer);
    let claimed: string | undefined;
    try {
      const read = (await reader.read(request, readAuthorization(request))) ?? reader.absent;
      claimed = 'user' in read ? read.countedAs : read.claimed;
      const verdict = await verifier(read, authTrace);
      if (verdict.outcome === 'bad') throw verdict.problem;
      if (!('user' in read)) throw new Error('a request without credentials was admitted');
      const verified = await readVerified(read, context);
      const explain: Explain = (problem, reason) => addReason(problem, reason, context.explain, authTrace);
      const response = await respond(verified, explain);
      return {
        status: 200,
        noStore: true,
        representation: formatForm(Object.entries(response).map(encodeParameter)),
      };
    } catch (error) {
      if (error instanceof Problem) return errorResponse(error, request, claimed, context);
      throw error;
    }
  });
}

/** Returns what an endpoint uses of a request that was verified. */
async function readVerified(
  { request, user, token, parameters }: OAuth1Presented,
  { consumers, bodyLimit }: SignedEndpointContext,
): Promise<Verified> {
  const consumer = consumers.find(user);
  // It may have been removed while the nonce was claimed.
  if (consumer === undefined) throw oauth1Error('signature_invalid', 'The consumer was removed.');
  const complete =
    parameters.form === undefined ? addForm(parameters, await holdForm(request, bodyLimit)) : parameters;
  if (complete instanceof Problem) throw complete;
  return { consumer, token, parameters: complete };
}

/** Returns the part of the Authorization field after `OAuth`; undefined without the field. */
function readAuthorization({ headers: fields }: IncomingRequest): string | undefined {
  const lines = fields.getAll('authorization');
  if (lines.length === 0) return undefined;
  const [credentials] = lines.map(parseCredentials);
  if (lines.length > 1 || credentials?.scheme !== 'oauth')
    throw oauth1Error('parameter_rejected', 'Send one Authorization field, with the scheme OAuth.');
  return credentials.rest;
}

/** Returns the response to a Problem of OAuth 1.0a, and counts the failure. Throws any other Problem. */
function errorResponse(
  problem: Problem,
  request: IncomingRequest,
  claimed: string | undefined,
  { realm, rateLimiter }: { readonly realm: string; readonly rateLimiter: RateLimiter },
): ActionResponse {
  const challenge = formatReportChallenge(realm, problem);
  if (challenge === undefined) throw problem;
  recordProblem(problem, findTrace(request));
  const { connection } = request;
  if (problem.status === 400) rateLimiter.fail(connection.peer, undefined);
  if (problem.status === 401) {
    const blocked = countRefusal(rateLimiter, connection.peer, claimed);
    if (blocked !== undefined) throw blocked;
  }
  return {
    status: problem.status,
    noStore: true,
    headers: [['WWW-Authenticate', challenge]],
    representation: formatForm(buildReport(problem)),
  };
}

/** Records a Problem in the trace, unless the failed check is recorded already. */
function recordProblem({ detail, members }: Problem, authTrace: AuthenticationTrace | undefined): void {
  if (authTrace === undefined) return;
  authTrace.scheme = 'oauth';
  authTrace.fail('parse', { detail, ...members });
}

function encodeParameter([name, value]: readonly [string, string]): Parameter {
  return [name, encodeOctets(toOctets(value))];
}

function formatForm(pairs: readonly Parameter[]): Representation {
  const content = pairs.map(([name, value]) => `${name}=${value}`).join('&');
  return { type: 'application/x-www-form-urlencoded', body: content };
}

/**
 * Records the reason of a Problem of OAuth 1.0a in the trace. Returns the Problem; with `explain`, its report has the reason as
 * advice (OAuth Problem Reporting extension).
 */
function addReason(
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
