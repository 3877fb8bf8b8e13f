import type { Resource } from '../../pipeline/resource.ts';
import type { Found, Grants } from '../grants.ts';
import type { AuthenticateClient } from './client-authentication.ts';
import { clientAction, type Respond, requireParameter } from './endpoint.ts';
import { OAuthError, writeOAuthProblem } from './oauth-error.ts';

/**
 * Creates the revocation endpoint (RFC 7009). It revokes an access token alone, and a refresh token with its grant. The response
 * for an unknown token is the same (§2.2). The token of another client is refused and stays valid (§2.1, RFC 6749 §5.2).
 */
export function revocationResource(
  { grants, explain }: { readonly grants: Grants; readonly explain: boolean },
  authenticate: AuthenticateClient,
): Resource {
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
  const names = ['token', 'token_type_hint'];
  return {
    ownCredentials: true,
    writeProblem: writeOAuthProblem,
    POST: clientAction({ explain, authenticate, admits: 'any', names, respond }),
  };
}

/** Finds an access or refresh token. The token_type_hint is not needed for that (RFC 7009 §2.1). */
export async function findToken(grants: Grants, value: string): Promise<Found | undefined> {
  return (await grants.find(value, 'oauth2', 'access')) ?? grants.find(value, 'oauth2', 'refresh');
}
