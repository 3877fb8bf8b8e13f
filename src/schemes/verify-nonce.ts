// Accepts each nonce once, or each message in place of one.

import { createHash } from 'node:crypto';
import type { KeyHolder } from '../accounts/keyring.ts';
import { type Steps, wait } from '../maybe-promise.ts';
import type { Principal } from '../principal.ts';
import { messageBytes, type Piece } from './message.ts';
import type { NonceClaim } from './nonce-claim.ts';
import { refuseNonce } from './refuse.ts';
import type { Presented, Rules, TimeRule } from './scheme.ts';
import type { Verification } from './scheme-context.ts';
import type { BadVerdict, Verdict } from './verifier.ts';

/** A valid signature, before its nonce is claimed. */
export interface Valid<Own extends Presented> {
  readonly presented: Own;
  readonly principal: Principal;
  /** What is claimed; undefined if the request may be repeated. */
  readonly claim: NonceClaim | undefined;
  /** The time (ms) at which the signature was verified. */
  readonly now: number;
}

/** The rule of a scheme whose requests have no time. */
const noTime: TimeRule = { subject: '', window: 0, resolution: 1000 };

/** Returns whether the same credentials are not accepted again. */
export function isAcceptedOnce({ nonce, time }: Presented, rules: Rules): boolean {
  if (time === undefined && rules.time?.undated === undefined) return false;
  return nonce !== undefined || rules.refusesReplays === true;
}

/**
 * Returns what is claimed; undefined if the request may be repeated. In place of a nonce it is the message and not the signature,
 * because a list of several signatures can be sent again without the one that was verified.
 */
export function buildClaim<Own extends Presented>(
  presented: Own,
  { principal }: KeyHolder,
  message: readonly Piece[],
  now: number,
  { scheme: { rules }, context }: Verification<Own>,
): NonceClaim | undefined {
  if (!isAcceptedOnce(presented, rules)) return undefined;
  const { nonce, time = now, expires = 0, countedAs: user = principal.name } = presented;
  const { window, undated = window, resolution, expiryReplacesWindow = false } = rules.time ?? noTime;
  const isUndated = presented.time === undefined;
  const stored = Math.max(context.nonceWindow, isUndated ? undated : window);
  const end = Math.max(expiryReplacesWindow || isUndated ? expires : 0, time + stored);
  const once = nonce ?? createHash('sha256').update(messageBytes(message)).digest('base64url');
  return { user, nonce: once, until: end + resolution - 1 };
}

/** Claims the nonces of all valid signatures, and admits the request by the first one if all are fresh. */
export function* admit<Own extends Presented>(
  first: Valid<Own>,
  others: readonly Valid<Own>[],
  verification: Verification<Own>,
): Steps<Verdict> {
  const { context, authTrace } = verification;
  const { presented, principal, now } = first;
  let { claim } = first;
  if (others.length > 0) {
    const claims = selectLatestClaims([first, ...others]);
    claim = first.claim && claims.get(nonceKey(first.claim));
    const refused = yield* claimOthers(others, claims, claim, verification);
    if (refused !== undefined) return refused;
  }
  recordPassed(presented, verification);
  if (claim === undefined) return { outcome: 'good', principal };
  const claimed = yield* wait(context.nonces.claim(claim.user, claim.nonce, claim.until, now));
  if (claimed !== 'fresh') return refuseNonce(presented, claimed, now, verification);
  authTrace?.pass('nonce');
  return { outcome: 'good', principal };
}

function recordPassed<Own extends Presented>(
  presented: Own,
  { scheme: { rules }, authTrace }: Verification<Own>,
): void {
  if (authTrace === undefined) return;
  for (const check of ['parse', 'user', rules.check]) authTrace.pass(check);
  if (presented.time !== undefined) authTrace.pass('date');
  if (rules.digestCheck !== undefined && presented.request.body.present) authTrace.pass(rules.digestCheck);
}

/**
 * Claims the nonces of the other valid signatures. Otherwise a repeated request would be admitted by its next signature. Returns the
 * refusal if one of them is not fresh.
 */
function* claimOthers<Own extends Presented>(
  others: readonly Valid<Own>[],
  claims: ReadonlyMap<string, NonceClaim>,
  own: NonceClaim | undefined,
  verification: Verification<Own>,
): Steps<BadVerdict | undefined> {
  const { nonces } = verification.context;
  for (const { presented, claim, now } of others) {
    if (claim === undefined || claim === own || claims.get(nonceKey(claim)) !== claim) continue;
    const claimed = yield* wait(nonces.claim(claim.user, claim.nonce, claim.until, now));
    if (claimed === 'fresh') continue;
    recordPassed(presented, verification);
    return refuseNonce(presented, claimed, now, verification);
  }
  return undefined;
}

/** Returns each claimed nonce once, until the last time at which one of its signatures could be accepted. */
function selectLatestClaims<Own extends Presented>(
  valid: readonly Valid<Own>[],
): ReadonlyMap<string, NonceClaim> {
  const claims = new Map<string, NonceClaim>();
  for (const { claim } of valid) {
    if (claim === undefined) continue;
    const same = claims.get(nonceKey(claim));
    if (same === undefined || same.until < claim.until) claims.set(nonceKey(claim), claim);
  }
  return claims;
}

/** Returns a text that is different for every user and nonce: a user name has no colon. */
function nonceKey({ user, nonce }: NonceClaim): string {
  return `${user}:${nonce}`;
}
