// The endpoints that require a signed request: those of request tokens and of access tokens.

import { countRefusal, type RateLimiter, requireUnblocked } from '../../accounts/rate-limit.ts';
import { holdForm, type Parameter } from '../../http/form.ts';
import { parseCredentials } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { decodeText } from '../../http/syntax/percent.ts';
import { nearestUriDifference, uriDifference } from '../../http/uri-difference.ts';
import {
  type Action,
  type ActionResponse,
  action,
  type Representation,
  type Resource,
} from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import { type AuthenticationTrace, findTrace } from '../../schemes/trace.ts';
import type { Consumer } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import { type Found, type Grants, isLive, requireFirst } from '../grants.ts';
import { type Reason, recordReason, scopeReason } from '../reasons.ts';
import { formatScope, isWithin, parseScope } from '../scopes.ts';
import { matchesSha256 } from '../sha256.ts';
import type { SignedFor } from './checks.ts';
import {
  addAdvice,
  buildReport,
  encodeParameter,
  formatReportChallenge,
  oauth1Error,
  rejectedParameters,
} from './error.ts';
import { addForm, type OAuth1Parameters, readValues } from './parameters.ts';
import type { OAuth1Presented } from './presented.ts';
import { createTokenSecrets } from './secrets.ts';
import { createSignedRequests } from './signature.ts';

/** Creates the endpoint that issues request tokens (temporary credentials, RFC 5849 §2.1). */
export function requestTokenResource(context: OAuthContext): Resource {
  const { grants, clock, lifetimes } = context;
  const deriveSecret = createTokenSecrets(context.masterKey);
  return {
    ownCredentials: true,
    POST: createSignedAction(context, 'request_token', async ({ consumer, parameters }, explain) => {
      const callback = parameters.protocol.get('oauth_callback') ?? '';
      if (!consumer.callbacks.includes(callback))
        throw explain(
          rejectedParameters('oauth_callback is not registered for this consumer.', ['oauth_callback']),
          unregisteredReason(callback, consumer),
        );
      const scopes = readRequestedScopes(parameters, consumer, explain);
      const expires = clock.now() + lifetimes.requestToken;
      const draft = { mechanism: 'oauth1', kind: 'request', client: consumer.key } as const;
      const issued = requireFirst(await grants.issue([{ ...draft, scopes, expires, details: { callback } }]));
      return {
        oauth_token: issued.value,
        oauth_token_secret: deriveSecret('request', issued.value),
        oauth_callback_confirmed: 'true',
      };
    }),
  };
}

/** Returns the scopes in the parameter `scope`, which RFC 5849 does not define. Default: all scopes of the consumer. */
function readRequestedScopes(
  parameters: OAuth1Parameters,
  consumer: Consumer,
  explain: Explain,
): readonly Scope[] {
  const values = readValues(parameters, 'scope');
  if (values instanceof Problem) throw values;
  const [requested = '', ...others] = values;
  if (requested === '' && others.length === 0) return consumer.scopes;
  const scopes = parseScope(requested, consumer.scopes);
  if (others.length > 0 || scopes === undefined || !isWithin(scopes, consumer.scopes))
    throw explain(
      rejectedParameters('scope is not a list of scopes that the consumer is registered for.', ['scope']),
      others.length > 0
        ? { check: 'scope', hint: 'scope was sent more than once' }
        : scopeReason(requested, consumer.scopes, 'registered'),
    );
  return scopes;
}

function unregisteredReason(callback: string, { key, callbacks }: Consumer): Reason {
  const near = nearestUriDifference(callback, callbacks);
  const listed = callbacks.length === 0 ? 'none' : callbacks.join(', ');
  const hint = `oauth_callback is ${callback}${near}; ${key} is registered with ${listed}`;
  return { check: 'oauth_callback', hint };
}

/** Maximum number of verifiers tried with one request token. The last wrong one uses it up. */
const maxAttempts = 3;

/** Creates the endpoint that exchanges authorized request tokens for access tokens (token credentials, RFC 5849 §2.3). */
export function accessTokenResource(context: OAuthContext): Resource {
  const { grants, clock, lifetimes } = context;
  const deriveSecret = createTokenSecrets(context.masterKey);
  return {
    ownCredentials: true,
    POST: createSignedAction(
      context,
      'access_token',
      async ({ token, parameters: { protocol } }, explain) => {
        const found = await grants.find(token, 'oauth1', 'request');
        const callback = protocol.get('oauth_callback');
        if (callback !== undefined && callback !== found?.token.details['callback'])
          throw explain(
            rejectedParameters('oauth_callback differs from the callback of the request token.', [
              'oauth_callback',
            ]),
            changedReason(callback, found?.token.details['callback'] ?? ''),
          );
        const verifier = protocol.get('oauth_verifier') ?? '';
        const spent = await useRequestToken(context, found, token, verifier, explain);
        const { client, user, scopes } = spent.token;
        const ends = clock.now() + lifetimes.oauth1Access;
        const draft = { mechanism: 'oauth1', client, user, scopes } as const;
        const { issued } = await grants.begin({ ...draft, ends }, [
          { ...draft, kind: 'access', expires: ends },
        ]);
        const access = requireFirst(issued);
        // No further name begins with oauth_: some clients fail on an unknown one.
        return {
          oauth_token: access.value,
          oauth_token_secret: deriveSecret('access', access.value),
          expires_in: String(Math.floor(lifetimes.oauth1Access / 1000)),
          scope: formatScope(scopes),
        };
      },
    ),
  };
}

/**
 * Marks a request token as used. Of concurrent requests one succeeds. Rejects with a Problem if the user has not allowed the
 * token, the verifier is wrong, or the token was used.
 */
async function useRequestToken(
  { grants, clock }: OAuthContext,
  found: Found | undefined,
  token: string,
  verifier: string,
  explain: Explain,
): Promise<Found> {
  for (let current = found; current !== undefined && isLive(current, clock.now()); ) {
    const { user, details } = current.token;
    if (user === undefined || details['verifier'] === undefined)
      throw explain(oauth1Error('permission_unknown', 'The user has not authorized this request token.'), {
        check: 'permission',
        hint: 'no user has approved the request token at the authorization endpoint yet',
      });
    if (matchesSha256(verifier, details['verifier'])) {
      if (await grants.consume(current)) return current;
    } else if (await countAttempt(grants, current)) {
      throw explain(
        oauth1Error('verifier_invalid', 'oauth_verifier is wrong.'),
        verifierReason(current, verifier),
      );
    }
    // A concurrent request changed the token: check its current state.
    current = await grants.find(token, 'oauth1', 'request');
  }
  throw explain(oauth1Error('token_used', 'The request token has already been used.'), {
    check: 'reuse',
    hint: 'another request used the request token at the same time, or it expired meanwhile',
  });
}

function changedReason(sent: string, expected: string): Reason {
  const hint = `oauth_callback is ${sent}, but the request token has ${expected}${uriDifference(sent, expected)}`;
  return { check: 'oauth_callback', hint };
}

function verifierReason({ token: { details } }: Found, sent: string): Reason {
  const left = maxAttempts - 1 - Number(details['tries'] ?? '0');
  const mistakes: readonly (readonly [what: string, verifier: string])[] = [
    ['it was sent with white space around it', sent.trim()],
    ['it was sent in another letter case', sent.toLowerCase()],
    ['it was percent-encoded twice', decodeText(sent) ?? sent],
  ];
  const mistake = mistakes.find(([, verifier]) => matchesSha256(verifier, details['verifier'] ?? ''))?.[0];
  const cause =
    mistake ?? `${sent.length} characters were sent that are not the verifier of this request token`;
  return { check: 'oauth_verifier', hint: `${cause}; attempts left with this token: ${Math.max(0, left)}` };
}

/** Counts a failed attempt. Resolves to false if the token was changed meanwhile. */
async function countAttempt(grants: Grants, found: Found): Promise<boolean> {
  const attempts = Number(found.token.details['tries'] ?? '0') + 1;
  if (attempts >= maxAttempts) return grants.consume(found);
  return (await grants.update(found, { details: { tries: String(attempts) } })) !== undefined;
}

/** A request whose signature is valid and whose nonce is fresh. */
interface Verified {
  readonly consumer: Consumer;
  /** The value of the token that it is signed with; empty without a token. */
  readonly token: string;
  readonly parameters: OAuth1Parameters;
}

/** Adds the reason to a Problem, for a trace and, with `--explain`, for the client. */
type Explain = (problem: Problem, reason: Reason) => Problem;

/** Returns the parameters of the response. Rejects with a Problem. */
type Respond = (verified: Verified, explain: Explain) => Promise<Readonly<Record<string, string>>>;

/** Creates the POST action of an endpoint whose responses, errors included, are forms. */
function createSignedAction(
  context: OAuthContext,
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
  { consumers, bodyLimit }: OAuthContext,
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
