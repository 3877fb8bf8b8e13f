import type { Accounts } from '../auth/accounts.ts';
import type { AuthenticationTrace } from '../auth/trace.ts';
import { findClosestMatch } from '../did-you-mean.ts';
import { formatDate } from '../http/headers/date.ts';
import { describeSpan } from '../jwt/verify.ts';
import type { Scope } from '../principal.ts';
import { type Found, isIssuedTo } from './grants.ts';
import type { Token } from './records.ts';
import { formatScope, isWithin, knownScopes, parseScope } from './scopes.ts';

/** The reason of a refusal, for a journal and for errors that explain themselves. It contains no secret and no token. */
export interface Reason {
  /** The check that failed, such as `redirect_uri`. */
  readonly check: string;
  readonly hint: string;
  /** Whether only a journal may show the hint, because it is about another client or user. */
  readonly isPrivate?: boolean;
}

/** What determines whether a token is valid. */
interface TokenState {
  readonly now: number;
  /** What has the clock: `this double`. */
  readonly here: string;
  readonly accounts: Accounts;
  /** The client or consumer to which the token was issued; undefined if it is not registered any more. */
  readonly owner: { readonly since?: number | undefined } | undefined;
}

/** Returns why a token is not valid: reuse, expiry, revocation or removal. Resolves to undefined if it is valid. */
export async function tokenReason(found: Found, state: TokenState): Promise<Reason | undefined> {
  const { token, grant } = found;
  const what = formatTokenName(token);
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
    return { check: 'expiry', hint: describeExpiry(what, token.expires, token.issued, state) };
  if (grant !== undefined && grant.ends <= now)
    return { check: 'expiry', hint: describeExpiry(`grant of the ${what}`, grant.ends, grant.issued, state) };
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

function describeExpiry(
  what: string,
  end: number,
  issued: number,
  { now, here }: Pick<TokenState, 'now' | 'here'>,
): string {
  const [ago, lifetime] = [now - end, end - issued].map((ms) => describeSpan(Math.max(0, ms)));
  return `the ${what} expired ${ago} ago by the clock of ${here}, at ${formatDate(end)}; it was valid for ${lifetime}`;
}

/** Returns the name of a token in explanations. */
export function formatTokenName({ kind }: Pick<Token, 'kind'>): string {
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

/** Returns why a requested scope was refused. `allowed` describes the scopes that may be requested. */
export function scopeReason(
  requested: string | undefined,
  allowed: readonly Scope[],
  what: 'granted' | 'registered',
): Reason {
  const check = 'scope';
  const words = (requested ?? '').split(' ');
  const known = [...new Set<Scope>([...knownScopes, ...allowed])];
  const unknown = words.filter((word) => !known.includes(word));
  if (requested !== undefined && unknown.length > 0) {
    const named = unknown.map((word) => (word === '' ? 'an empty word' : word)).join(', ');
    const meant = unknown.map((word) => findClosestMatch(word, known)).find((each) => each !== undefined);
    const closest = meant === undefined ? '' : `; did you mean ${meant}?`;
    const advice = /[,+;]/.test(requested) ? '; scopes are separated by spaces' : closest;
    return { check, hint: `unknown in the scope: ${named}; the scopes are ${formatScope(known)}${advice}` };
  }
  const asked = requested === undefined ? undefined : parseScope(requested, allowed);
  const beyond = (asked ?? []).filter((scope) => !isWithin([scope], allowed));
  const listed = allowed.length === 0 ? 'none' : formatScope(allowed);
  const exceeding = beyond.length === 0 ? 'the default scope' : `the scope ${formatScope(beyond)}`;
  return { check, hint: `${exceeding} is not ${what}; ${what} for the client: ${listed}` };
}
