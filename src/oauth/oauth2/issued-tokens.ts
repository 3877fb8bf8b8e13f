// The endpoints at which clients revoke and inspect their own tokens.

import type { Resource } from '../../pipeline/resource.ts';
import type { OAuthContext } from '../context.ts';
import type { FormContent } from '../form-body.ts';
import type { Found, Grants } from '../grants.ts';
import type { Token } from '../records.ts';
import { formatScope } from '../scopes.ts';
import { findTokenHolder, type TokenHolder } from '../token-holder.ts';
import { issuerFor } from './access-tokens.ts';
import type { AuthenticateClient } from './client-authentication.ts';
import { clientEndpoint, type Respond, requireParameter } from './endpoint.ts';
import { OAuthError } from './oauth-error.ts';

const names = ['token', 'token_type_hint'];

/**
 * Creates the revocation endpoint (RFC 7009). It revokes an access token alone, and a refresh token with its grant. The response
 * for an unknown token is the same (§2.2). The token of another client is refused and stays valid (§2.1, RFC 6749 §5.2).
 */
export function revocationResource(
  context: OAuthContext,
  authenticate: AuthenticateClient,
): Resource<unknown, FormContent> {
  const { grants } = context;
  const respond: Respond = async ({ client, values }) => {
    const found = await findToken(grants, requireParameter(values, 'token'));
    if (found === undefined) return {};
    if (found.token.client !== client.id)
      throw new OAuthError('invalid_grant', 'The token was issued to another client.');
    const { kind, grant } = found.token;
    if (kind === 'access') await grants.revokeToken(found);
    else if (grant !== undefined) await grants.revokeGrant(grant);
    return {};
  };
  return clientEndpoint(context, { authenticate, admits: 'any', names, respond });
}

/** Creates the introspection endpoint (RFC 7662): it returns the state of a token to the confidential client that owns it. */
export function introspectionResource(
  context: OAuthContext,
  authenticate: AuthenticateClient,
): Resource<unknown, FormContent> {
  const respond: Respond = async ({ client, values, request }) => {
    const found = await findToken(context.grants, requireParameter(values, 'token'));
    const holder = found?.token.client === client.id ? await findTokenHolder(context, found) : undefined;
    if (found === undefined || holder === undefined) return { active: false };
    return describe(found.token, holder, issuerFor(context, request));
  };
  // RFC 7662 §2.1: the endpoint requires authorization, which a public client does not have.
  return clientEndpoint(context, { authenticate, admits: 'confidential', names, respond });
}

/** Finds an access or refresh token. The token_type_hint is not needed for that (RFC 7009 §2.1). */
async function findToken(grants: Grants, value: string): Promise<Found | undefined> {
  return (await grants.find(value, 'oauth2', 'access')) ?? grants.find(value, 'oauth2', 'refresh');
}

function describe(
  token: Token,
  { client, user, scopes }: TokenHolder,
  issuer: string,
): Record<string, unknown> {
  return {
    active: true,
    client_id: client.id,
    ...(user === undefined ? {} : { username: user }),
    sub: user ?? client.id,
    scope: formatScope(scopes),
    exp: Math.floor(token.expires / 1000),
    iat: Math.floor(token.issued / 1000),
    iss: issuer,
    // A refresh token has no type: RFC 6749 §7.1 is about access tokens.
    ...(token.kind === 'access'
      ? { token_type: token.details['jkt'] === undefined ? 'Bearer' : 'DPoP' }
      : {}),
    ...(token.details['jkt'] === undefined ? {} : { cnf: { jkt: token.details['jkt'] } }),
  };
}
