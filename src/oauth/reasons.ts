import type { Accounts } from '../auth/accounts.ts';
import type { AuthenticationTrace } from '../auth/trace.ts';
import { formatDate } from '../http/headers/date.ts';
import { type Found, isIssuedTo } from './grants.ts';
import type { Token } from './records.ts';

/** The reason of a refusal, for a journal and for errors that explain themselves. It contains no secret and no token. */
export interface Reason {
  /** The check that failed, such as `redirect_uri`. */
  readonly check: string;
  readonly hint: string;
  /** Whether only a journal may show the hint, because it is about another client or user. */
  readonly isPrivate?: boolean;
}

/** What determines whether a token is valid. */
export interface TokenState {
  readonly now: number;
  readonly accounts: Accounts;
  /** The client or consumer to which the token was issued; undefined if it is not registered any more. */
  readonly owner: { readonly since?: number | undefined } | undefined;
}

/** Returns why a token is not valid: reuse, expiry, revocation or removal. Resolves to undefined if it is valid. */
export async function tokenReason(found: Found, state: TokenState): Promise<Reason | undefined> {
  const { token, grant } = found;
  const what = nameOf(token);
  const { now, accounts, owner } = state;
  if (token.used)
    return {
      check: 'reuse',
      hint: `the ${what} was used before; each one is valid once, and reuse revokes its grant`,
    };
  if (grant?.revoked === true)
    return {
      check: 'revocation',
      hint: `the grant of the ${what} was revoked by its user or client, or after a reuse`,
    };
  if (token.expires <= now)
    return { check: 'expiry', hint: expiredSince(what, token.expires, now, token.issued) };
  if (grant !== undefined && grant.ends <= now)
    return { check: 'expiry', hint: expiredSince(`grant of the ${what}`, grant.ends, now, grant.issued) };
  if (token.grant !== undefined && grant === undefined)
    return { check: 'revocation', hint: `the grant of the ${what} was deleted` };
  if (owner === undefined) return { check: 'client', hint: `the client of the ${what} was removed` };
  if (!isIssuedTo(found, owner))
    return { check: 'client', hint: `the ${what} was issued to a removed client of the same name` };
  if (token.user === undefined) return undefined;
  const account = await accounts.find(token.user);
  if (account !== undefined && isIssuedTo(found, account)) return undefined;
  return { check: 'user', hint: `the user of the ${what} was removed or disabled` };
}

function expiredSince(what: string, end: number, now: number, issued: number): string {
  const [ago, lifetime] = [now - end, end - issued].map((ms) => Math.max(0, Math.round(ms / 1000)));
  return `the ${what} expired ${ago} s ago, at ${formatDate(end)}; it was valid for ${lifetime} s`;
}

/** Returns the name of a token in explanations. */
export function nameOf({ kind }: Pick<Token, 'kind'>): string {
  return kind === 'code' ? 'code' : `${kind} token`;
}

/** Records a refusal in the trace of a request, if it has one. Only the first one is recorded. */
export function recordReason(
  authTrace: AuthenticationTrace | undefined,
  scheme: string,
  { check, hint }: Reason,
  details: Readonly<Record<string, string>> = {},
): void {
  if (authTrace === undefined) return;
  authTrace.scheme = scheme;
  authTrace.fail(check, { ...details, hint });
}
