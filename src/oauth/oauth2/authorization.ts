import { type Form, maxFormParameters, parseTargetQuery } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { ActionResponse, Call, Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { Authenticator } from '../../schemes/authenticate.ts';
import { findTrace } from '../../schemes/trace.ts';
import { type Client, isConfidential, type Registry } from '../clients.ts';
import { showRefusal } from '../consent/consent-page.ts';
import {
  askConsent,
  authorizationEndpoint,
  type ConsentAnswer,
  requireApprovingUser,
} from '../consent/consents.ts';
import type { OAuthContext } from '../context.ts';
import type { FormContent } from '../form-body.ts';
import { requireFirst } from '../grants.ts';
import { type OAuth2Settings, openidScope } from '../oauth2-options.ts';
import { readParameters } from '../parameters.ts';
import { type Reason, scopeReason } from '../reasons.ts';
import type { Grant } from '../records.ts';
import { type RedirectParameters, redirect } from '../redirect.ts';
import { defaultScopesFor, isWithin, parseScope } from '../scopes.ts';
import { issuerFor, lifetimeOf } from './access-tokens.ts';
import { describe, recordRefusal } from './oauth-error.ts';
import { isChallenge } from './pkce.ts';
import { challengeReason, registrationReason, requestObjectReason } from './reasons.ts';
import { audienceReason, readAudience, resourceParameters, unknownTarget } from './resource-indicators.ts';

/** Creates the authorization endpoint (RFC 6749 §3.1). */
export function authorizationResource(context: OAuthContext): Resource<unknown, FormContent> {
  return authorizationEndpoint({
    ...context,
    mechanism: 'oauth2',
    ask: (call) => ask(context, call),
    conclude: (answer, call) => conclude(context, answer, call),
    refuse: (call, sentence, reason) => refuse(context, call, { sentence, reason }),
  });
}

async function ask(context: OAuthContext, call: Call): Promise<ActionResponse> {
  const { incoming: request } = call;
  const authorization = readRequest(parseTargetQuery(request.target), context.clients);
  const isSilent = isSilentRequest(context, authorization);
  const user = isSilent
    ? await findApprovingUser(context.approver, request)
    : await requireApprovingUser(context.approver, request);
  if ('sentence' in authorization) return refuse(context, call, authorization);
  const { client, redirectUri, state } = authorization;
  const requested = readRequested(authorization, context.settings);
  if ('error' in requested) return redirectError(context, request, authorization, requested);
  if (user === undefined) return redirectError(context, request, authorization, loginRequired);
  const { scopes, details: own } = requested;
  const details = {
    redirect_uri: redirectUri,
    ...own,
    ...(state === undefined ? {} : { state }),
  };
  if (isSilent) {
    const answer = { client: client.id, user, scopes, details };
    if (!(await hasConsented(context, answer)))
      return redirectError(context, request, authorization, consentRequired);
    const code = await issueCode(context, client, answer);
    return redirectWithCode(context, request, redirectUri, { code, state });
  }
  const question = { mechanism: 'oauth2', client: client.id, user, scopes, details } as const;
  return askConsent(
    context,
    question,
    call,
    context.settings.paths.authorize,
    formatDestination(redirectUri),
  );
}

/** Redirects the browser with an error, and records it (RFC 6749 §4.1.2.1). */
function redirectError(
  context: OAuthContext,
  request: IncomingRequest,
  { redirectUri, state }: AuthorizationRequest,
  { error, error_description, reason }: RequestFault,
): ActionResponse {
  recordRefusal(findTrace(request), error, error_description, reason);
  const shown = context.explain ? describe(error_description, reason) : error_description;
  const iss = issuerFor(context, request);
  return redirect(redirectUri, { error, error_description: shown, state, iss });
}

const loginRequired: RequestFault = {
  error: 'login_required',
  error_description: 'The user is not signed in, and prompt is none.',
};
const consentRequired: RequestFault = {
  error: 'consent_required',
  error_description: 'The user has not allowed this to the client, and prompt is none.',
};

/** Returns whether nothing may be shown to the user (OpenID Connect Core 1.0 §3.1.2.1). */
function isSilentRequest(
  { settings }: OAuthContext,
  authorization: AuthorizationRequest | UserError,
): authorization is AuthorizationRequest {
  return settings.openid && 'values' in authorization && authorization.values.get('prompt') === 'none';
}

/** Returns the name of the authenticated user; undefined if the credentials are missing or wrong. */
async function findApprovingUser(
  approver: Authenticator,
  request: IncomingRequest,
): Promise<string | undefined> {
  try {
    return (await approver.authenticate(request, findTrace(request)))?.name;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined;
    throw error;
  }
}

/** Returns whether a grant of the user to the client is in force that includes the scopes. */
async function hasConsented(
  { grants }: OAuthContext,
  { client, user, scopes }: Pick<ConsentAnswer, 'client' | 'user' | 'scopes'>,
): Promise<boolean> {
  const found = await grants.ofUser(user);
  return found.some(
    (grant) => grant.mechanism === 'oauth2' && grant.client === client && isWithin(scopes, grant.scopes),
  );
}

async function conclude(context: OAuthContext, answer: ConsentAnswer, call: Call): Promise<ActionResponse> {
  const { redirect_uri: redirectUri = '', state } = answer.details;
  const client = context.clients.find(answer.client);
  // The registration may have changed since the page was shown.
  if (client === undefined || !client.redirectUris.includes(redirectUri)) {
    const sentence = 'The application is no longer registered, or not with this redirect_uri.';
    return refuse(context, call, { sentence });
  }
  const iss = issuerFor(context, call.incoming);
  if (!answer.allowed) return redirect(redirectUri, { error: 'access_denied', state, iss });
  const code = await issueCode(context, client, answer);
  return redirectWithCode(context, call.incoming, redirectUri, { code, state });
}

/** Redirects the browser with a code, and names the issuer (RFC 9207). */
function redirectWithCode(
  context: OAuthContext,
  request: IncomingRequest,
  uri: string,
  given: RedirectParameters,
): ActionResponse {
  const parameters = { ...given, iss: issuerFor(context, request) };
  return redirect(uri, context.alterations?.redirect(parameters) ?? parameters);
}

/** Returns an error page, and records the error. */
function refuse(
  { explain }: OAuthContext,
  { incoming, variant }: Call,
  { sentence, reason }: UserError,
): ActionResponse {
  recordRefusal(findTrace(incoming), 'invalid_request', sentence, reason);
  return showRefusal(explain ? describe(sentence, reason) : sentence, variant);
}

async function issueCode(
  context: OAuthContext,
  client: Client,
  answer: Pick<ConsentAnswer, 'user' | 'scopes' | 'details'>,
): Promise<string> {
  const { user, scopes, details } = answer;
  const { lifetimes, clock, grants } = context;
  const now = clock.now();
  const lifetime = client.grants.includes('refresh_token')
    ? lifetimes.refreshTotal
    : lifetimes.code + lifetimeOf(client, context, 'access');
  const { state: _, redirect_uri = '', code_challenge = '', ...asked } = details;
  const authenticated = scopes.includes(openidScope) && context.settings.openid;
  const grant: Pick<Grant, 'mechanism' | 'client' | 'user' | 'scopes'> = {
    mechanism: 'oauth2',
    client: client.id,
    user,
    scopes,
  };
  const { issued } = await grants.begin({ ...grant, ends: now + lifetime }, [
    {
      ...grant,
      kind: 'code',
      expires: now + lifetimes.code,
      details: {
        redirect_uri,
        code_challenge,
        ...asked,
        ...(authenticated && { auth_time: String(now) }),
      },
    },
  ]);
  return requireFirst(issued).value;
}

/** Returns the part of a redirect URI that is shown to the user: its origin, or all of it without one (a private-use scheme). */
function formatDestination(uri: string): string {
  const { origin } = new URL(uri);
  return origin === 'null' ? uri : origin;
}

/** An authorization request whose client and redirect URI are registered. Errors may be sent to the redirect URI. */
interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}

const names = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'prompt',
  'response_mode',
  'max_age',
  'dpop_jkt',
  ...resourceParameters,
  // Not supported; a refusal names them.
  'request',
  'request_uri',
];

/** An error that the user sees, because there is no verified address for a redirect. */
interface UserError {
  readonly sentence: string;
  readonly reason?: Reason | undefined;
}

/** Reads client and redirect URI. Returns an error if either is missing or not registered (RFC 6749 §4.1.2.1). */
function readRequest(query: Form | undefined, clients: Registry<Client>): AuthorizationRequest | UserError {
  if (query === undefined)
    return {
      sentence: `The query is not a valid form in UTF-8 with at most ${maxFormParameters} parameters.`,
    };
  const { values, repeated } = readParameters(query, names);
  const id = values.get('client_id');
  const redirectUri = values.get('redirect_uri');
  if (id === undefined || redirectUri === undefined) {
    const missing = ['client_id', 'redirect_uri'].filter((name) => !values.has(name)).join(' and ');
    const hint = `missing or repeated: ${missing}`;
    const sentence = 'The parameters client_id and redirect_uri are required, exactly once each.';
    return { sentence, reason: requestObjectReason(values) ?? { check: 'parameters', hint } };
  }
  const client = clients.find(id);
  // Compared character by character (RFC 9700 §2.1).
  if (client?.redirectUris.includes(redirectUri) !== true)
    return {
      sentence: 'No application is registered with this client_id and this redirect_uri.',
      reason: registrationReason(id, client, redirectUri),
    };
  return { client, redirectUri, state: values.get('state'), values, repeated };
}

/** An error for the redirect (RFC 6749 §4.1.2.1). */
interface RequestFault {
  readonly error: string;
  readonly error_description: string;
  readonly reason?: Reason | undefined;
}

/** The requested scopes, and what the code has to remember: the challenge, the nonce and the audience. */
type Requested =
  | { readonly scopes: readonly Scope[]; readonly details: Readonly<Record<string, string>> }
  | RequestFault;

function readRequested(
  { client, values, repeated }: AuthorizationRequest,
  settings: OAuth2Settings,
): Requested {
  const failure = (error: string, error_description: string, reason?: Reason): Requested => ({
    error,
    error_description,
    reason: requestObjectReason(values) ?? reason,
  });
  if (repeated[0] !== undefined) return failure('invalid_request', `${repeated[0]} occurs more than once.`);
  const type = values.get('response_type');
  if (type === undefined) return failure('invalid_request', 'response_type is missing.');
  if (type !== 'code')
    return failure('unsupported_response_type', 'The only supported response_type is code.', {
      check: 'response_type',
      hint: `${type} was sent`,
    });
  const mode = values.get('response_mode');
  // OAuth 2.0 Multiple Response Type Encoding Practices §2.1. Without OpenID Connect the parameter is unknown, and so ignored.
  if (settings.openid && mode !== undefined && mode !== 'query')
    return failure('invalid_request', 'The only supported response_mode is query.', {
      check: 'response_mode',
      hint: `${mode} was sent`,
    });
  if (!client.grants.includes('authorization_code'))
    return failure(
      'unauthorized_client',
      'The client is not registered for the grant type authorization_code.',
      { check: 'grant_type', hint: `${client.id} is registered for ${client.grants.join(', ')}` },
    );
  const challenge = values.get('code_challenge');
  const method = values.get('code_challenge_method');
  const challengeFault = isPkceOmitted(client, values, settings)
    ? undefined
    : findChallengeFault(challenge, method);
  if (challengeFault !== undefined)
    return failure('invalid_request', challengeFault, challengeReason(challenge, method));
  const scope = values.get('scope');
  const known = settings.openid ? withoutUnsupported(scope, settings.scopes) : scope;
  const scopes = known === undefined ? defaultScopesFor(client.scopes) : parseScope(known, client.scopes);
  if (scopes === undefined || !isWithin(scopes, client.scopes))
    return failure(
      'invalid_scope',
      'The scope is unknown or exceeds the scopes that the client is registered for.',
      scopeReason(scope, client.scopes, 'registered'),
    );
  const target = audienceReason(values, settings);
  if (target !== undefined) return failure('invalid_target', unknownTarget, target);
  const audience = settings.ignoresResources ? undefined : readAudience(values, settings)?.[0];
  const nonce = settings.openid ? values.get('nonce') : undefined;
  // RFC 9449 §10: only a proof of this key can exchange the code.
  const jkt = settings.dpop === 'off' ? undefined : values.get('dpop_jkt');
  return {
    scopes,
    details: {
      code_challenge: challenge ?? '',
      ...(nonce !== undefined && { nonce }),
      ...(audience !== undefined && { audience }),
      ...(jkt !== undefined && { jkt }),
    },
  };
}

/** Returns whether a request has no challenge and needs none. A public client proves nothing but its verifier (RFC 9700 §2.1.1). */
function isPkceOmitted(
  client: Client,
  values: ReadonlyMap<string, string>,
  { pkce }: OAuth2Settings,
): boolean {
  if (pkce !== 'optional' || !isConfidential(client)) return false;
  return !values.has('code_challenge') && !values.has('code_challenge_method');
}

/** Returns why a challenge is refused (RFC 7636 §4.4.1). Without a method it would be plain (§4.3). */
function findChallengeFault(challenge: string | undefined, method: string | undefined): string | undefined {
  if (challenge === undefined || method !== 'S256')
    return 'code_challenge is required, with the code_challenge_method S256.';
  return isChallenge(challenge) ? undefined : 'code_challenge must be 43 characters of base64url.';
}

/** The scopes of OpenID Connect Core 1.0 §5.4 and §11. Those that do not exist are ignored (§3.1.2.1). */
const standardScopes: readonly string[] = ['profile', 'email', 'address', 'phone', 'offline_access'];

/** Returns a requested scope without the standard ones that do not exist. */
function withoutUnsupported(scope: string | undefined, existing: readonly Scope[]): string | undefined {
  const words = scope?.split(' ').filter((word) => existing.includes(word) || !standardScopes.includes(word));
  return words?.join(' ');
}
