import type { Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { Client, GrantType } from '../clients.ts';
import { type Found, firstOf, type Issued } from '../grants.ts';
import type { Lifetimes } from '../lifetimes.ts';
import type { Grant, Token, TokenDraft } from '../records.ts';
import { commonScopes, defaultScopes, formatScope, isWithin, parseScope } from '../scopes.ts';
import { type TokenHolderContext, tokenHolderOf } from '../token-holder.ts';
import type { AuthenticateClient } from './client-authentication.ts';
import {
  type ClientRequest,
  clientAction,
  missingParameter,
  type Respond,
  requiredParameter,
} from './endpoint.ts';
import { OAuthError } from './oauth-error.ts';
import { verifies } from './pkce.ts';

/** What the token endpoint is made of. */
export interface TokenParts extends TokenHolderContext {
  readonly lifetimes: Lifetimes;
}

/** The token endpoint (RFC 6749 §3.2): codes, refresh tokens and the client's own credentials for access tokens. */
export function tokenResource(parts: TokenParts, authenticate: AuthenticateClient): Resource {
  const names = ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope'];
  const exchanges: Readonly<Record<GrantType, Respond>> = {
    authorization_code: (asked) => exchangeCode(parts, asked),
    refresh_token: (asked) => refresh(parts, asked),
    client_credentials: (asked) => issueToClient(parts, asked),
  };
  const respond: Respond = async (asked) => {
    const type = grantTypeOf(requiredParameter(asked.values, 'grant_type'));
    if (!asked.client.grants.includes(type))
      throw new OAuthError('unauthorized_client', `The client is not registered for ${type}.`);
    return exchanges[type](asked);
  };
  return { ownCredentials: true, POST: clientAction({ authenticate, admits: 'any', names, respond }) };
}

function grantTypeOf(text: string): GrantType {
  if (text === 'authorization_code' || text === 'refresh_token' || text === 'client_credentials') return text;
  throw new OAuthError('unsupported_grant_type', 'That grant_type is not one that works here.');
}

/**
 * RFC 6749 §4.1.3. A code has one attempt: whoever brings it with the wrong client, redirect URI or verifier, or without one of
 * them, has used it up. What is brought again was in somebody else's hands, so all that came of it ends (§4.1.2, §10.5).
 */
async function exchangeCode(parts: TokenParts, { client, values }: ClientRequest): Promise<TokenReply> {
  const code = requiredParameter(values, 'code');
  const missing = ['redirect_uri', 'code_verifier'].find((name) => !values.has(name));
  const refused = missing === undefined ? codeRefused() : missingParameter(missing);
  const found = await parts.grants.find(code, 'oauth2', 'code');
  if (found === undefined) throw refused;
  if (found.token.used) throw await usedAgain(parts, found, refused);
  const { token, grant } = found;
  const fits = token.client === client.id && fitsCode(values, token);
  if (!fits || grant === undefined || (await tokenHolderOf(parts, found)) === undefined) {
    if (!(await parts.grants.spend(found))) throw await usedAgain(parts, found, refused);
    throw refused;
  }
  return exchange(parts, client, grant, found, token.scopes, refused);
}

/** Whether this is the redirect URI that the code was sent to (RFC 6749 §4.1.3), and the verifier of its challenge (RFC 7636 §4.6). */
function fitsCode(values: ReadonlyMap<string, string>, { details }: Token): boolean {
  const { redirect_uri: askedFor, code_challenge: challenge = '' } = details;
  const [redirectUri, verifier] = [values.get('redirect_uri'), values.get('code_verifier')];
  return redirectUri === askedFor && verifier !== undefined && verifies(verifier, challenge);
}

function codeRefused(): OAuthError {
  return new OAuthError('invalid_grant', 'The code is not good, or not for this client, URI and verifier.');
}

/** RFC 6749 §6, with rotation: each refresh token works once, and one that comes again ends all (RFC 9700 §4.14.2). */
async function refresh(parts: TokenParts, { client, values }: ClientRequest): Promise<TokenReply> {
  const value = requiredParameter(values, 'refresh_token');
  const found = await parts.grants.find(value, 'oauth2', 'refresh');
  if (found === undefined || found.token.client !== client.id) throw refreshRefused();
  if (found.token.used) throw await usedAgain(parts, found, refreshRefused());
  if (found.grant === undefined || (await tokenHolderOf(parts, found)) === undefined) throw refreshRefused();
  const scopes = askedScopes(values, found.token.scopes);
  if (!isWithin(scopes, found.token.scopes)) throw scopeRefused();
  return exchange(parts, client, found.grant, found, scopes, refreshRefused());
}

function refreshRefused(): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is not good, or not for this client.');
}

/**
 * RFC 6749 §4.4: an access token for the client itself, without a refresh token (§4.4.3). Only clients with a secret can be
 * registered for this.
 */
async function issueToClient(parts: TokenParts, { client, values }: ClientRequest): Promise<TokenReply> {
  const scopes = askedScopes(values, defaultScopes);
  if (!isWithin(scopes, client.scopes)) throw scopeRefused();
  const expires = parts.clock.now() + parts.lifetimes.access;
  const issued = await parts.grants.issue([
    { mechanism: 'oauth2', kind: 'access', client: client.id, scopes, expires },
  ]);
  return replyOf(issued);
}

/** Puts an access token, and a refresh token where the client may have one, in the place of what was found. */
async function exchange(
  parts: TokenParts,
  client: Client,
  grant: Grant,
  found: Found,
  asked: readonly Scope[],
  refused: OAuthError,
): Promise<TokenReply> {
  const scopes = commonScopes(asked, client.scopes);
  if (scopes.length === 0) throw scopeRefused();
  const { clock, lifetimes, grants } = parts;
  const draft = (kind: 'access' | 'refresh', lifetime: number, of: readonly Scope[]): TokenDraft => ({
    mechanism: 'oauth2',
    kind,
    client: client.id,
    user: grant.user,
    scopes: of,
    // Nothing outlives its grant.
    expires: Math.min(clock.now() + lifetime, grant.ends),
  });
  const drafts = [draft('access', lifetimes.access, scopes)];
  // The scope of a refresh token stays as it was granted, however narrow this access token is (RFC 6749 §6).
  if (client.grants.includes('refresh_token'))
    drafts.push(draft('refresh', lifetimes.refresh, found.token.scopes));
  const issued = await grants.exchange(found, drafts);
  if (issued === undefined) throw await usedAgain(parts, found, refused);
  return replyOf(issued);
}

/** Ends the grant of what was used twice, and gives the refusal. */
async function usedAgain({ grants }: TokenParts, { token }: Found, refused: OAuthError): Promise<OAuthError> {
  if (token.grant !== undefined) await grants.revokeGrant(token.grant, token.kind);
  return refused;
}

function askedScopes(values: ReadonlyMap<string, string>, otherwise: readonly Scope[]): readonly Scope[] {
  const text = values.get('scope');
  const scopes = text === undefined ? otherwise : parseScope(text);
  if (scopes === undefined) throw scopeRefused();
  return scopes;
}

function scopeRefused(): OAuthError {
  return new OAuthError('invalid_scope', 'The scope is not known, or goes beyond what may be had.');
}

/** RFC 6749 §5.1. */
type TokenReply = Readonly<Record<string, string | number>>;

function replyOf(issued: readonly Issued[]): TokenReply {
  // The access token is always drafted first.
  const [access, refreshToken] = [firstOf(issued), issued[1]];
  return {
    access_token: access.value,
    token_type: 'Bearer',
    // From its issue on, which came a moment after its end was set.
    expires_in: Math.round((access.token.expires - access.token.issued) / 1000),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken.value }),
    scope: formatScope(access.token.scopes),
  };
}
