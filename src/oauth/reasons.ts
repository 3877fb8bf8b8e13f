import type { Accounts } from '../accounts/accounts.ts';
import type { Clock } from '../clock.ts';
import { findClosestMatch } from '../did-you-mean.ts';
import { formatDate } from '../http/headers/date.ts';
import { knownScopes, type Scope } from '../principal.ts';
import { describeSpan } from '../schemes/jwt/verify.ts';
import type { AuthenticationTrace } from '../schemes/trace.ts';
import { type Found, isIssuedTo } from './grants.ts';
import type { Token } from './records.ts';
import { formatScope, isWithin, parseScope } from './scopes.ts';

/** The reason of a refusal, for a journal and for errors that explain themselves. It contains no secret and no token. */
export interface Reason {
  /** The check that failed, such as `redirect_uri`. */
  readonly check: string;
  readonly hint: string;
  /** Whether only a journal may show the hint, because it is about another client or user. */
  readonly isPrivate?: boolean;
}

/** Why a token is not valid. `orphaned`: its grant was deleted; `renewed`: its client was removed, and registered again. */
export type TokenFault =
  | 'used'
  | 'revoked'
  | 'expired'
  | 'ended'
  | 'orphaned'
  | 'unregistered'
  | 'renewed'
  | 'user-removed';

/** What determines whether a token is valid. */
interface TokenState {
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** What has the clock of which reasons speak: `this double`. */
  readonly here: string;
}

/** The client or consumer to which a token was issued; undefined if it is not registered any more. */
type Owner = { readonly since?: number | undefined } | undefined;

/** Returns why a token is not valid: reuse, expiry, revocation or removal. Resolves to undefined if it is valid. */
export async function findTokenFault(
  found: Found,
  owner: Owner,
  { accounts, clock }: Omit<TokenState, 'here'>,
): Promise<TokenFault | undefined> {
  const { token, grant } = found;
  const now = clock.now();
  if (token.used) return 'used';
  if (grant?.revoked === true) return 'revoked';
  if (token.expires <= now) return 'expired';
  if (grant !== undefined && grant.ends <= now) return 'ended';
  if (token.grant !== undefined && grant === undefined) return 'orphaned';
  if (owner === undefined) return 'unregistered';
  if (!isIssuedTo(found, owner)) return 'renewed';
  if (token.user === undefined) return undefined;
  const account = await accounts.find(token.user);
  // A request token may be older than the user that authorized it.
  const isValid = account !== undefined && (token.kind === 'request' || isIssuedTo(found, account));
  return isValid ? undefined : 'user-removed';
}

/** Returns the reason why a token is not valid. Resolves to undefined if it is valid. */
export async function tokenReason(
  found: Found,
  owner: Owner,
  context: TokenState,
): Promise<Reason | undefined> {
  const fault = await findTokenFault(found, owner, context);
  if (fault === undefined) return undefined;
  const { token, grant } = found;
  const what = formatTokenName(token);
  const reasons: Readonly<Record<TokenFault, readonly [check: string, hint: string]>> = {
    used: ['reuse', `the ${what} was used before; each one is valid once, and reuse revokes its grant`],
    revoked: ['revocation', `the grant of the ${what} was revoked by its user or client, or after a reuse`],
    expired: ['expiry', describeExpiry(what, token.expires, token.issued, context)],
    ended: ['expiry', describeExpiry(`grant of the ${what}`, grant?.ends ?? 0, grant?.issued ?? 0, context)],
    orphaned: ['revocation', `the grant of the ${what} was deleted`],
    unregistered: ['client', `the client of the ${what} was removed`],
    renewed: ['client', `the ${what} was issued to a removed client of the same name`],
    'user-removed': ['user', `the user of the ${what} was removed or disabled`],
  };
  const [check, hint] = reasons[fault];
  return { check, hint };
}

function describeExpiry(what: string, end: number, issued: number, { clock, here }: TokenState): string {
  const [ago, lifetime] = [clock.now() - end, end - issued].map((ms) => describeSpan(Math.max(0, ms)));
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
