import { challengeOf, oauth1Error, reportOf } from '../../auth/oauth1/error.ts';
import { type RateLimiter, tooManyFailures } from '../../auth/rate-limit.ts';
import { parseCredentials } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { type Action, action, type Outcome, type Representation } from '../../pipeline/resource.ts';
import { encodeOctets, octetsOf, type Parameter } from '../../signature/oauth1-parameters.ts';
import type { NonceClaims } from '../context.ts';
import { claimedBy } from './nonces.ts';
import { type OAuth1Parameters, readOAuth1Parameters } from './parameters.ts';
import type { SignedFor } from './required-parameters.ts';
import type { Verified, Verify } from './verification.ts';

/** What the endpoints that consumers sign requests to are made of. */
export interface SignedEndpointParts {
  readonly realm: string;
  readonly throttle: RateLimiter;
  readonly nonces: NonceClaims;
  readonly bodyLimit: number;
  readonly verify: Verify;
}

/** Gives what an endpoint replies with, by name. Rejects with a Problem. */
export type Respond = (verified: Verified) => Promise<Readonly<Record<string, string>>>;

/** Makes the POST of an endpoint that replies with a form, to refusals too. */
export function signedAction(
  parts: SignedEndpointParts,
  signedFor: Exclude<SignedFor, 'resource'>,
  respond: Respond,
): Action {
  return action('anyone', async ({ request }): Promise<Outcome> => {
    if (parts.throttle.blocksPeer(request.connection.peer)) throw tooManyFailures(parts.throttle);
    let parameters: OAuth1Parameters | undefined;
    try {
      parameters = await readOAuth1Parameters(request, authorizationOf(request), parts.bodyLimit);
      const verified = await parts.verify(request, parameters ?? nothing, signedFor);
      // The nonce is kept before anybody is told that it was good.
      const [response] = await Promise.all([respond(verified), parts.nonces.kept(true)]);
      return { status: 200, noStore: true, representation: formOf(Object.entries(response).map(encoded)) };
    } catch (error) {
      if (error instanceof Problem) return refused(error, request, parameters, parts);
      throw error;
    }
  });
}

/** A request that has no parameter of the protocol lacks all of them. */
const nothing: OAuth1Parameters = { protocol: new Map(), signed: [], signsForm: false };

/** What stands behind `OAuth` in Authorization; undefined where there is no such field. */
function authorizationOf({ fields }: Request): string | undefined {
  const lines = fields.lines('authorization');
  if (lines.length === 0) return undefined;
  const [credentials] = lines.map(parseCredentials);
  if (lines.length > 1 || credentials?.scheme !== 'oauth')
    throw oauth1Error('parameter_rejected', 'Authorization is sent once, and its scheme here is OAuth.');
  return credentials.rest;
}

/** The reply to a refusal. What is none in words of OAuth 1.0a stays a Problem, and is thrown. */
function refused(
  problem: Problem,
  { connection }: Request,
  parameters: OAuth1Parameters | undefined,
  { realm, throttle: rateLimiter }: SignedEndpointParts,
): Outcome {
  const challenge = challengeOf(realm, problem);
  if (challenge === undefined) throw problem;
  if (problem.status === 400) rateLimiter.fail(connection.peer, undefined);
  if (problem.status === 401) {
    const claimed = parameters && claimedBy(parameters);
    const blocked = claimed !== undefined && rateLimiter.blocksUser(claimed);
    rateLimiter.fail(connection.peer, claimed);
    if (blocked) throw tooManyFailures(rateLimiter);
  }
  return {
    status: problem.status,
    noStore: true,
    fields: [['WWW-Authenticate', challenge]],
    representation: formOf(reportOf(problem)),
  };
}

function encoded([name, value]: readonly [string, string]): Parameter {
  return [name, encodeOctets(octetsOf(value))];
}

function formOf(pairs: readonly Parameter[]): Representation {
  const content = pairs.map(([name, value]) => `${name}=${value}`).join('&');
  return { type: 'application/x-www-form-urlencoded', content };
}
