import { findClosestMatch } from '../../did-you-mean.ts';
import type { IncomingRequest } from '../../http/message.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import { findTrace } from '../../schemes/trace.ts';
import { type GrantType, isConfidential } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import { type Found, type Issued, requireFirst } from '../grants.ts';
import { openidScope } from '../oauth2-options.ts';
import { oauth2Paths } from '../paths.ts';
import { type Reason, scopeReason } from '../reasons.ts';
import type { Grant, Token } from '../records.ts';
import { defaultScopesFor, formatScope, intersectScopes, isWithin, parseScope } from '../scopes.ts';
import { findTokenHolder } from '../token-holder.ts';
import { draftAccessToken, issuerFor, lifetimeOf, userClaims } from './access-tokens.ts';
import type { AuthenticateClient } from './client-authentication.ts';
import type { Proofs } from './dpop.ts';
import {
  type ClientRequest,
  clientEndpoint,
  missingParameter,
  type Respond,
  requireParameter,
} from './endpoint.ts';
import { OAuthError } from './oauth-error.ts';
import { verifies } from './pkce.ts';
import { codeReason, refreshReason } from './reasons.ts';
import { readAudience, resourceParameters } from './resource-indicators.ts';

/** Dependencies of the token endpoint. */
interface TokenContext extends OAuthContext {
  /** Verifies proofs of possession; undefined if none are accepted. */
  readonly proofs: Proofs | undefined;
}

/** Creates the token endpoint (RFC 6749 §3.2). It issues access tokens for codes, refresh tokens and client credentials. */
export function tokenResource(context: TokenContext, authenticate: AuthenticateClient): Resource {
  const names = [
    ...['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope'],
    ...resourceParameters,
  ];
  const exchanges: Readonly<Record<GrantType, Respond>> = {
    authorization_code: (request) => exchangeCode(context, request),
    refresh_token: (request) => refresh(context, request),
    client_credentials: (request) => issueToClient(context, request),
  };
  const respond: Respond = async (request) => {
    const type = parseGrantType(requireParameter(request.values, 'grant_type'));
    const { id, grants } = request.client;
    if (!grants.includes(type))
      throw new OAuthError(
        'unauthorized_client',
        `The client is not registered for the grant type ${type}.`,
        [],
        {
          check: 'grant_type',
          hint: `${id} is registered for ${grants.join(', ')}`,
        },
      );
    const { alterations, proofs } = context;
    const planned = alterations?.refuseProof(request.request.headers.has('dpop'));
    if (planned !== undefined) throw planned;
    const key = await proofs?.readKey(request.request);
    const response = await exchanges[type]({ ...request, key });
    const altered = alterations?.token(response, context.signer()?.keys, type);
    if (altered instanceof OAuthError) throw altered;
    return altered ?? response;
  };
  // Partners with a path of their own accept JSON too.
  const readsJson = context.settings.paths.token !== oauth2Paths.token;
  return clientEndpoint(context, { authenticate, admits: 'any', names, respond, readsJson });
}

const grantTypes: readonly GrantType[] = ['authorization_code', 'refresh_token', 'client_credentials'];

function parseGrantType(text: string): GrantType {
  const type = grantTypes.find((each) => each === text);
  if (type !== undefined) return type;
  const closest = findClosestMatch(text, grantTypes);
  throw new OAuthError('unsupported_grant_type', 'The grant_type is not supported.', [], {
    check: 'grant_type',
    hint: `${text} was sent; authorization_code, refresh_token and client_credentials are supported${closest === undefined ? '' : `; did you mean ${closest}?`}`,
  });
}

/**
 * Exchanges a code (RFC 6749 §4.1.3). A code is used up by the first attempt, even if the client, redirect URI or verifier is
 * wrong or missing. A second attempt means that the code may be stolen, so its grant is revoked (§4.1.2, §10.5).
 */
async function exchangeCode(context: TokenContext, request: ClientRequest): Promise<TokenResponse> {
  const { client, values } = request;
  const code = requireParameter(values, 'code');
  const found = await context.grants.find(code, 'oauth2', 'code');
  const isBound = found?.token.details['code_challenge'] !== '';
  const required = ['redirect_uri', ...(isBound ? ['code_verifier'] : [])];
  const missing = required.find((name) => !values.has(name));
  const refused = createExplainer(
    context,
    request,
    missing === undefined ? codeRefused() : missingParameter(missing),
    () => codeReason(context, request, found),
  );
  if (found === undefined) throw await refused();
  if (found.token.used) throw await revokeReused(context, found, refused);
  const { token, grant } = found;
  const matches = token.client === client.id && matchesCode(values, token) && isBoundTo(found, request);
  if (!matches || grant === undefined || (await findTokenHolder(context, found)) === undefined) {
    if (!(await context.grants.consume(found))) throw await revokeReused(context, found, refused);
    throw await refused();
  }
  return exchange(context, request, grant, found, token.scopes, refused);
}

/** Returns the error of a refusal. */
type Refused = () => Promise<OAuthError>;

/** Returns a function that adds the reason to an error, if a trace or the client is to see it. */
function createExplainer(
  { explain }: TokenContext,
  { request }: ClientRequest,
  error: OAuthError,
  reason: () => Promise<Reason>,
): Refused {
  const isShown = explain || findTrace(request) !== undefined;
  return async () => (isShown ? error.because(await reason()) : error);
}

/**
 * Returns whether the redirect URI is that of the code (RFC 6749 §4.1.3) and the verifier matches its challenge (RFC 7636 §4.6). A
 * verifier without a challenge is a sign of a downgrade (RFC 9700 §2.1.1).
 */
function matchesCode(values: ReadonlyMap<string, string>, { details }: Token): boolean {
  const { redirect_uri: expectedUri, code_challenge: challenge = '' } = details;
  const [redirectUri, verifier] = [values.get('redirect_uri'), values.get('code_verifier')];
  if (redirectUri !== expectedUri) return false;
  if (challenge === '') return verifier === undefined;
  return verifier !== undefined && verifies(verifier, challenge);
}

/** Returns whether a code or refresh token is bound to no key, or to that of the proof (RFC 9449 §5, §10). */
function isBoundTo({ token }: Found, { key }: ClientRequest): boolean {
  const { jkt } = token.details;
  return jkt === undefined || jkt === key;
}

function codeRefused(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The code is invalid, expired or used, or does not match the client, redirect_uri or code_verifier.',
  );
}

/** Exchanges a refresh token (RFC 6749 §6). Each works once; reuse revokes the grant (RFC 9700 §4.14.2). */
async function refresh(context: TokenContext, request: ClientRequest): Promise<TokenResponse> {
  const { client, values } = request;
  const value = values.get('refresh_token');
  if (value === undefined) {
    const error = missingParameter('refresh_token');
    const hint = 'a code was sent; its grant_type is authorization_code';
    throw values.has('code') ? error.because({ check: 'grant_type', hint }) : error;
  }
  const found = await context.grants.find(value, 'oauth2', 'refresh');
  const refused = createExplainer(context, request, refreshRefused(), () =>
    refreshReason(context, request, found),
  );
  if (found === undefined || found.token.client !== client.id) throw await refused();
  if (found.token.used) throw await revokeReused(context, found, refused);
  if (
    !isBoundTo(found, request) ||
    found.grant === undefined ||
    (await findTokenHolder(context, found)) === undefined
  )
    throw await refused();
  const granted = found.token.scopes;
  const reason = scopeReason(values.get('scope'), granted, 'granted');
  const scopes = readRequestedScopes(values, granted, reason, granted);
  if (!isWithin(scopes, granted)) throw scopeRefused(reason);
  return exchange(context, request, found.grant, found, scopes, refused);
}

function refreshRefused(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The refresh token is invalid, expired, revoked or used, or belongs to another client.',
  );
}

/**
 * Issues an access token to the client itself (RFC 6749 §4.4), without a refresh token (§4.4.3). Only clients with a secret can
 * be registered for this grant type.
 */
async function issueToClient(
  context: TokenContext,
  { client, values, request, key }: ClientRequest,
): Promise<TokenResponse> {
  const reason = scopeReason(values.get('scope'), client.scopes, 'registered');
  const scopes = readRequestedScopes(values, defaultScopesFor(client.scopes), reason, client.scopes);
  if (!isWithin(scopes, client.scopes)) throw scopeRefused(reason);
  const draft = await draftAccessToken(context, {
    issuer: issuerFor(context, request),
    client: client.id,
    scopes,
    expires: context.clock.now() + lifetimeOf(client, context, 'access'),
    audience: readAudience(values, context.settings),
    key,
  });
  return buildResponse(await context.grants.issue([draft]));
}

/** Exchanges a code or refresh token for an access token, and for a refresh token if the client is registered for it. */
async function exchange(
  context: TokenContext,
  { client, values, request, key }: ClientRequest,
  grant: Grant,
  found: Found,
  requested: readonly Scope[],
  refused: Refused,
): Promise<TokenResponse> {
  const scopes = intersectScopes(requested, client.scopes);
  if (scopes.length === 0) throw scopeRefused(scopeReason(undefined, client.scopes, 'registered'));
  const { clock, grants } = context;
  const { details, scopes: granted } = found.token;
  // A token expires with its grant at the latest.
  const endOf = (kind: 'access' | 'refresh'): number =>
    Math.min(clock.now() + lifetimeOf(client, context, kind), grant.ends);
  const common = { client: client.id, user: grant.user };
  const drafts = [
    await draftAccessToken(context, {
      ...common,
      issuer: issuerFor(context, request),
      scopes,
      expires: endOf('access'),
      audience: readAudience(values, context.settings) ?? details['audience']?.split(' '),
      authenticated: authenticatedAt(found),
      key,
    }),
  ];
  // A refresh token keeps the granted scope, even if this access token has a narrower one (RFC 6749 §6).
  if (client.grants.includes('refresh_token'))
    drafts.push({
      ...common,
      mechanism: 'oauth2',
      kind: 'refresh',
      scopes: granted,
      expires: endOf('refresh'),
      // The refresh token of a public client proves nothing but the key (RFC 9449 §5).
      details: { ...keptDetails(details), ...(key !== undefined && !isConfidential(client) && { jkt: key }) },
    });
  const issued = await grants.exchange(found, drafts);
  if (issued === undefined) throw await revokeReused(context, found, refused);
  return { ...buildResponse(issued), ...(await idTokenOf(context, request, requireFirst(issued), found)) };
}

/** Returns when the user was authenticated (ms); undefined unless that was asked for. */
function authenticatedAt({ token: { details } }: Found): number | undefined {
  const { auth_time: time } = details;
  return time === undefined ? undefined : Number(time);
}

/** Returns what a refresh token knows of its code: when the user was authenticated, and the audience. */
function keptDetails({ auth_time, audience }: Token['details']): Readonly<Record<string, string>> {
  return { ...(auth_time !== undefined && { auth_time }), ...(audience !== undefined && { audience }) };
}

/** Returns the ID token that belongs to an access token with the scope `openid` (OpenID Connect Core 1.0 §3.1.3.3). */
async function idTokenOf(
  context: TokenContext,
  request: IncomingRequest,
  { value, token }: Issued,
  found: Found,
): Promise<TokenResponse> {
  const { user, client, issued, expires, scopes } = token;
  const authenticated = authenticatedAt(found);
  const signer = scopes.includes(openidScope) ? context.signer() : undefined;
  if (signer === undefined || user === undefined || authenticated === undefined) return {};
  const id_token = signer.idToken({
    issuer: issuerFor(context, request),
    client,
    user,
    issued,
    expires,
    authenticated,
    nonce: found.token.details['nonce'],
    accessToken: value,
    claims: await userClaims(context, signer, user),
  });
  return { id_token };
}

/** Revokes the grant of a reused token, and returns the error. */
async function revokeReused(
  { grants }: TokenContext,
  { token }: Found,
  refused: Refused,
): Promise<OAuthError> {
  if (token.grant !== undefined) await grants.revokeGrant(token.grant, token.kind);
  return refused();
}

function readRequestedScopes(
  values: ReadonlyMap<string, string>,
  defaults: readonly Scope[],
  reason: Reason,
  further: readonly Scope[],
): readonly Scope[] {
  const text = values.get('scope');
  const scopes = text === undefined ? defaults : parseScope(text, further);
  if (scopes === undefined) throw scopeRefused(reason);
  return scopes;
}

function scopeRefused(reason: Reason): OAuthError {
  const description = 'The scope is unknown or exceeds the granted or registered scopes.';
  return new OAuthError('invalid_scope', description, [], reason);
}

/** A successful token response (RFC 6749 §5.1). */
type TokenResponse = Readonly<Record<string, string | number>>;

function buildResponse(issued: readonly Issued[]): TokenResponse {
  // The access token is always drafted first.
  const [access, refreshToken] = [requireFirst(issued), issued[1]];
  return {
    access_token: access.value,
    token_type: access.token.details['jkt'] === undefined ? 'Bearer' : 'DPoP',
    // Relative to the time of issue, which is slightly later than the time that the expiry was computed from.
    expires_in: Math.round((access.token.expires - access.token.issued) / 1000),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken.value }),
    scope: formatScope(access.token.scopes),
  };
}
