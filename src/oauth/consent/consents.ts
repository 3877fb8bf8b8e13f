import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { noOrigins } from '../../pipeline/cors-policy.ts';
import { pathForClient } from '../../pipeline/proxy.ts';
import { type ActionResponse, action, type Call, type Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { Authenticator } from '../../schemes/authenticate.ts';
import { findTrace } from '../../schemes/trace.ts';
import type { OAuthContext } from '../context.ts';
import { type FormContent, formReading } from '../form-body.ts';
import { isLive, requireFirst, tokenLength } from '../grants.ts';
import { readParameters } from '../parameters.ts';
import { grantsPath } from '../paths.ts';
import type { Reason } from '../reasons.ts';
import type { Mechanism } from '../records.ts';
import { showQuestion, tooManyParameters } from './consent-page.ts';
import { pageVariants } from './html-page.ts';

/** A request for consent. It is bound to a single-use ticket, so that the answer is valid for this request only. */
interface ConsentQuestion {
  readonly mechanism: Mechanism;
  /** The client's id, or the consumer's key. */
  readonly client: string;
  readonly user: string;
  readonly scopes: readonly Scope[];
  /** Data that the endpoint needs to process the answer: a redirect URI, a challenge, a state. */
  readonly details: Readonly<Record<string, string>>;
}

/** The user's answer to a request for consent. */
export interface ConsentAnswer extends ConsentQuestion {
  readonly allowed: boolean;
}

/**
 * Issues a ticket and returns the consent page, or JSON for a client without a browser. For HEAD the page has the same length, and no
 * ticket is issued.
 * @param path the path that the form is sent to
 * @param destination the address that the browser is redirected to, shown to the user; undefined if there is no redirect (`oob`)
 */
export async function askConsent(
  { grants, clock, lifetimes: { ticket: lifetime } }: OAuthContext,
  question: ConsentQuestion,
  { incoming, method, variant }: Call,
  path: string,
  destination: string | undefined,
): Promise<ActionResponse> {
  const expires = clock.now() + lifetime;
  // HEAD is safe (RFC 9110 §9.2.1) and has the fields of GET (§9.3.2): a placeholder has the length of a ticket.
  const ticket =
    method === 'HEAD'
      ? '-'.repeat(tokenLength)
      : requireFirst(await grants.issue([{ ...question, kind: 'ticket', expires }])).value;
  const paths = { action: pathForClient(incoming, path), grants: pathForClient(incoming, grantsPath) };
  return showQuestion({ ...question, ...paths, destination, variant, ticket, lifetime });
}

/**
 * Processes an answer: the parameters `consent_ticket` and `decision`; others are ignored. Resolves to the reason, without the ticket, if
 * no request of this mechanism to this user is open; another user's ticket stays valid. Only the first answer is accepted.
 */
async function readAnswer(
  { grants, clock }: Pick<OAuthContext, 'grants' | 'clock'>,
  content: FormContent | undefined,
  mechanism: Mechanism,
  user: string,
): Promise<ConsentAnswer | Reason> {
  const check = 'consent_ticket';
  if (content === undefined || typeof content === 'string')
    return { check: 'parameters', hint: 'the content is not a valid form in UTF-8' };
  const { values } = readParameters(content, ['consent_ticket', 'decision']);
  const [ticket, decision] = [values.get('consent_ticket'), values.get('decision')];
  if (ticket === undefined) return { check, hint: 'consent_ticket is missing or repeated' };
  if (decision !== 'allow' && decision !== 'deny')
    return { check: 'decision', hint: 'decision must be allow or deny' };
  const found = await grants.find(ticket, mechanism, 'ticket');
  if (found === undefined) return { check, hint: 'the ticket is unknown, or was deleted after it expired' };
  const { token } = found;
  if (token.user !== user) return { check: 'user', hint: 'the page was shown to another user' };
  if (token.used) return { check: 'reuse', hint: 'the form was submitted before' };
  if (!isLive(found, clock.now())) {
    const ago = Math.round((clock.now() - token.expires) / 1000);
    return { check: 'expiry', hint: `the page expired ${ago} s ago` };
  }
  if (!(await grants.consume(found)))
    return { check: 'reuse', hint: 'the form was submitted twice at the same time' };
  const { client, scopes, details } = token;
  return { mechanism, client, user, scopes, details, allowed: decision === 'allow' };
}

/** What differs between the authorization endpoints of OAuth 1.0a and 2.0. */
interface AuthorizationEndpoint extends Pick<OAuthContext, 'approver' | 'grants' | 'clock'> {
  readonly mechanism: Mechanism;
  /** Asks the user for consent. Verifies the request first. */
  ask(call: Call): Promise<ActionResponse>;
  /** Returns the response to an answer of the user. */
  conclude(answer: ConsentAnswer, call: Call): Promise<ActionResponse>;
  /** Returns an error page, and records the error. */
  refuse(call: Call, sentence: string, reason?: Reason): ActionResponse;
}

/**
 * Creates an authorization endpoint. It redirects nobody before the user is authenticated, and client and redirect URI are verified, so
 * that it is not an open redirector (RFC 9700 §4.11.2).
 */
export function authorizationEndpoint(endpoint: AuthorizationEndpoint): Resource<unknown, FormContent> {
  const { mechanism, approver, ask, conclude, refuse } = endpoint;
  const answer = async (call: Call<unknown, FormContent>): Promise<ActionResponse> => {
    const user = await requireApprovingUser(approver, call.incoming);
    if (call.body === 'too-many-parameters') return refuse(call, tooManyParameters);
    const answered = await readAnswer(endpoint, call.body, mechanism, user);
    return 'check' in answered
      ? refuse(call, 'The form has expired, was already submitted, or is not yours.', answered)
      : conclude(answered, call);
  };
  return {
    ownCredentials: true,
    // RFC 9700 §2.6: clients redirect to this endpoint, and scripts do not use it.
    cors: noOrigins,
    produces: pageVariants,
    GET: action('anyone', ask),
    POST: action('anyone', answer, { reads: [formReading] }),
  };
}

/** Returns the name of the authenticated user. Rejects with a Problem (401 with a challenge) if there are no credentials. */
export async function requireApprovingUser(
  approver: Authenticator,
  request: IncomingRequest,
  detail = 'Sign in to allow or refuse the request of a client.',
): Promise<string> {
  const principal = await approver.authenticate(request, findTrace(request));
  if (principal !== undefined) return principal.name;
  throw new Problem('authentication-required', detail, {
    headers: approver.challenges(request.connection),
  });
}
