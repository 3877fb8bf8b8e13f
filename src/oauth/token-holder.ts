import type { Principal, Scope } from '../principal.ts';
import type { Client } from './clients.ts';
import type { OAuthContext } from './context.ts';
import type { Found } from './grants.ts';
import { findTokenFault } from './reasons.ts';
import { intersectScopes } from './scopes.ts';

/** The client and user of a valid token, and its current scopes. */
export interface TokenHolder {
  readonly client: Client;
  /** Undefined if the client acts on its own behalf (RFC 6749 §4.4). */
  readonly user: string | undefined;
  readonly scopes: readonly Scope[];
}

/**
 * Returns the holder of a token. Resolves to undefined unless token and grant are live, and the client and user that it was
 * issued to are still registered and enabled.
 */
export async function findTokenHolder(context: OAuthContext, found: Found): Promise<TokenHolder | undefined> {
  const { token } = found;
  const client = context.clients.find(token.client);
  if (client === undefined || (await findTokenFault(found, client, context)) !== undefined) return undefined;
  // A scope that was removed from the client's registration is removed from its tokens too.
  return { client, user: token.user, scopes: intersectScopes(token.scopes, client.scopes) };
}

/**
 * Returns the principal of an access token. Resolves to undefined if the token is not valid.
 * @param isForThisApi returns whether an audience, if the token was requested for one, is this API
 */
export async function findPrincipal(
  context: OAuthContext,
  value: string,
  isForThisApi: (audience: string) => boolean,
): Promise<Principal | undefined> {
  const found = await context.grants.find(value, 'oauth2', 'access');
  const holder = found && (await findTokenHolder(context, found));
  const audience = found?.token.details['audience'];
  if (holder === undefined || (audience !== undefined && !isForThisApi(audience))) return undefined;
  const { client, user, scopes } = holder;
  const users = user === undefined ? client.users : undefined;
  const key = found?.token.details['jkt'];
  const lent = { client: client.id, scopes, users, ...(key !== undefined && { key }) };
  return { name: user ?? client.id, scheme: 'bearer', lent };
}
