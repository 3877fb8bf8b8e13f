import type { Resource } from '../../pipeline/resource.ts';
import type { OAuthContext } from '../context.ts';
import type { Token } from '../records.ts';
import { formatScope } from '../scopes.ts';
import { findTokenHolder, type TokenHolder, type TokenHolderContext } from '../token-holder.ts';
import { issuerFor } from './access-tokens.ts';
import type { AuthenticateClient } from './client-authentication.ts';
import { clientAction, type Respond, requireParameter } from './endpoint.ts';
import { writeOAuthProblem } from './oauth-error.ts';
import { findToken } from './revocation.ts';

/** Dependencies of the introspection endpoint. */
interface IntrospectionContext extends TokenHolderContext, Pick<OAuthContext, 'settings' | 'origins'> {
  readonly explain: boolean;
}

/** Creates the introspection endpoint (RFC 7662): it returns the state of a token to the confidential client that owns it. */
export function introspectionResource(
  context: IntrospectionContext,
  authenticate: AuthenticateClient,
): Resource {
  const respond: Respond = async ({ client, values, request }) => {
    const found = await findToken(context.grants, requireParameter(values, 'token'));
    const holder = found?.token.client === client.id ? await findTokenHolder(context, found) : undefined;
    if (found === undefined || holder === undefined) return { active: false };
    return describe(found.token, holder, issuerFor(context, request));
  };
  const names = ['token', 'token_type_hint'];
  // RFC 7662 §2.1: the endpoint requires authorization, which a public client does not have.
  return {
    ownCredentials: true,
    writeProblem: writeOAuthProblem,
    POST: clientAction({ explain: context.explain, authenticate, admits: 'confidential', names, respond }),
  };
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
