import type { Accounts } from '../auth/accounts.ts';
import type { Clock } from '../clock.ts';
import type { Principal, Scope } from '../principal.ts';
import type { Client, Registry } from './clients.ts';
import { type Found, type Grants, isLive, isOf } from './grants.ts';
import { commonScopes } from './scopes.ts';

/** What the validity of a token depends on. */
export interface TokenHolderContext {
  readonly grants: Grants;
  readonly clients: Registry<Client>;
  readonly accounts: Accounts;
  readonly clock: Clock;
}

/** Whom a valid token stands for, and the scopes that it has at present. */
export interface TokenHolder {
  readonly client: Client;
  /** Undefined where the client acts for itself (RFC 6749 §4.4). */
  readonly user: string | undefined;
  readonly scopes: readonly Scope[];
}

/** The holder of a token; undefined unless token and grant are live, and client and user those it was issued to, and enabled. */
export async function tokenHolderOf(
  parts: TokenHolderContext,
  found: Found,
): Promise<TokenHolder | undefined> {
  const { token } = found;
  const client = parts.clients.find(token.client);
  if (client === undefined || !isLive(found, parts.clock.now())) return undefined;
  if (!isOf(found, client)) return undefined;
  if (token.user !== undefined) {
    const account = await parts.accounts.find(token.user);
    if (account === undefined || !isOf(found, account)) return undefined;
  }
  // Scopes that the client's registration has lost since are lost to the token too.
  return { client, user: token.user, scopes: commonScopes(token.scopes, client.scopes) };
}

/** The principal of an access token; undefined where the token is not valid. */
export async function principalOf(parts: TokenHolderContext, value: string): Promise<Principal | undefined> {
  const found = await parts.grants.find(value, 'oauth2', 'access');
  const holder = found && (await tokenHolderOf(parts, found));
  if (holder === undefined) return undefined;
  const { client, user, scopes } = holder;
  const users = user === undefined ? client.users : undefined;
  return { name: user ?? client.id, scheme: 'bearer', lent: { client: client.id, scopes, users } };
}
