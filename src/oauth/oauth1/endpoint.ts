import type { Nonces } from '../../auth/nonce-claim.ts';
import { challengeOf, oauth1Error, reportOf } from '../../auth/oauth1/error.ts';
import { type RateLimiter, tooManyFailures } from '../../auth/rate-limit.ts';
import { type AuthenticationTrace, traceOf } from '../../auth/trace.ts';
import { parseCredentials } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { type Action, action, type Outcome, type Representation } from '../../pipeline/resource.ts';
import { encodeOctets, octetsOf, type Parameter } from '../../signature/oauth1-parameters.ts';
import type { Reason } from '../reasons.ts';
import { claimedBy } from './nonces.ts';
import { type OAuth1Parameters, readOAuth1Parameters } from './parameters.ts';
import { withReason } from './reason.ts';
import type { SignedFor } from './required-parameters.ts';
import { checks, type Verified, type Verify } from './verification.ts';

/** Dependencies of the endpoints that require a signed request. */
export interface SignedEndpointContext {
  readonly realm: string;
  readonly rateLimiter: RateLimiter;
  readonly nonces: Nonces;
  readonly bodyLimit: number;
  readonly verify: Verify;
  /** Whether errors explain what the server checked. */
  readonly explain: boolean;
}

/** Adds the reason to a Problem, for a trace and, with `--explain`, for the client. */
export type Explain = (problem: Problem, reason: Reason) => Problem;

/** Returns the parameters of the response. Rejects with a Problem. */
export type Respond = (verified: Verified, explain: Explain) => Promise<Readonly<Record<string, string>>>;

/** Creates the POST action of an endpoint whose responses, errors included, are forms. */
export function signedAction(
  context: SignedEndpointContext,
  signedFor: Exclude<SignedFor, 'resource'>,
  respond: Respond,
): Action {
  return action('anyone', async ({ request }): Promise<Outcome> => {
    const { rateLimiter } = context;
    const { peer } = request.connection;
    if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter, 'peer');
    let parameters: OAuth1Parameters | undefined;
    try {
      parameters = await readOAuth1Parameters(request, authorizationOf(request), context.bodyLimit);
      if (parameters !== undefined && rateLimiter.blocksPair(peer, claimedBy(parameters)))
        throw tooManyFailures(rateLimiter, 'peer-and-user');
      const verified = await context.verify(request, parameters ?? noParameters, signedFor, traceOf(request));
      // The nonce is durable before the response is sent.
      const explain: Explain = (problem, reason) =>
        withReason(problem, reason, context.explain, traceOf(request));
      const [response] = await Promise.all([respond(verified, explain), context.nonces.kept(true)]);
      return { status: 200, noStore: true, representation: formOf(Object.entries(response).map(encoded)) };
    } catch (error) {
      if (error instanceof Problem) return errorResponse(error, request, parameters, context);
      throw error;
    }
  });
}

/** The parameters of a request without any protocol parameter. */
const noParameters: OAuth1Parameters = { protocol: new Map(), signed: [], signsForm: false };

/** Returns the part of the Authorization field after `OAuth`; undefined without the field. */
function authorizationOf({ fields }: Request): string | undefined {
  const lines = fields.lines('authorization');
  if (lines.length === 0) return undefined;
  const [credentials] = lines.map(parseCredentials);
  if (lines.length > 1 || credentials?.scheme !== 'oauth')
    throw oauth1Error('parameter_rejected', 'Send one Authorization field, with the scheme OAuth.');
  return credentials.rest;
}

/** Returns the response to a Problem of OAuth 1.0a, and counts the failure. Throws any other Problem. */
function errorResponse(
  problem: Problem,
  request: Request,
  parameters: OAuth1Parameters | undefined,
  { realm, rateLimiter }: SignedEndpointContext,
): Outcome {
  const challenge = challengeOf(realm, problem);
  if (challenge === undefined) throw problem;
  recordProblem(problem, traceOf(request));
  const { connection } = request;
  if (problem.status === 400) rateLimiter.fail(connection.peer, undefined);
  if (problem.status === 401) {
    const claimed = parameters && claimedBy(parameters);
    const blocked = claimed !== undefined && rateLimiter.blocksUser(claimed);
    rateLimiter.fail(connection.peer, claimed);
    if (blocked) throw tooManyFailures(rateLimiter, 'user');
  }
  return {
    status: problem.status,
    noStore: true,
    fields: [['WWW-Authenticate', challenge]],
    representation: formOf(reportOf(problem)),
  };
}

/** Records a Problem in the trace, unless the failed check is recorded already. */
function recordProblem({ detail, members }: Problem, authTrace: AuthenticationTrace | undefined): void {
  if (authTrace === undefined) return;
  authTrace.scheme = 'oauth';
  authTrace.fail(checks[authTrace.passed.length] ?? 'parameters', { detail, ...members });
}

function encoded([name, value]: readonly [string, string]): Parameter {
  return [name, encodeOctets(octetsOf(value))];
}

function formOf(pairs: readonly Parameter[]): Representation {
  const content = pairs.map(([name, value]) => `${name}=${value}`).join('&');
  return { type: 'application/x-www-form-urlencoded', content };
}
