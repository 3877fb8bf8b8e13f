// Verifies signed requests: one order of checks for every scheme. A check that fails before the signature reveals nothing about
// users, and only a client that holds the key learns about those after it.
import { createHash } from 'node:crypto';
import { holdForm } from '../http/form.ts';
import { formatDate } from '../http/headers/date.ts';
import { Problem, type ProblemMember } from '../http/problem.ts';
import type { ProblemType } from '../http/problem-types.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { NonceClaim, Principal } from '../principal.ts';
import { messageBytes, type Piece } from '../signature/message.ts';
import { describeFields } from './explain/related-names.ts';
import type { Explained } from './explanation.ts';
import { admitOnce, describeDistance, describeMovedClock, describeTimeError } from './freshness.ts';
import { Decoys, fits, isCurrent, type Key, type KeyHolder, minKeys, selectSamples } from './keyring.ts';
import { type RefusedNonce, unclaimableNonce } from './nonce-claim.ts';
import { tooManyFailures } from './rate-limit.ts';
import type { SchemeContext } from './scheme-context.ts';
import {
  assembleMessage,
  type DigestFault,
  type Fault,
  type Presented,
  type RefusalReason,
  type SignatureScheme,
  type TimeRule,
} from './signature-scheme.ts';
import type { AuthenticationTrace } from './trace.ts';
import type { BadVerdict, Verdict, Verifier } from './verifier.ts';

type Members = Readonly<Record<string, ProblemMember>>;

/** The parts that every step of a verification uses. */
interface Verification<Own extends Presented> {
  readonly scheme: SignatureScheme<Own>;
  readonly context: SchemeContext;
  readonly decoys: Decoys;
}

/** One signature of a request. */
interface Attempt<Own extends Presented> {
  readonly presented: Own;
  readonly authTrace: AuthenticationTrace | undefined;
  /** Whether the nonce may be claimed with the change of the request. */
  readonly deferrable: boolean;
}

/** A check that failed. It is recorded and explained only if no other signature of the request is accepted. */
interface Failure<Own extends Presented> {
  readonly attempt: Attempt<Own>;
  readonly reason: RefusalReason;
  /** The name of the check in traces. */
  readonly check: string;
  readonly detail: string;
  /** The checks that were passed before. */
  readonly passed: readonly string[];
  /** The content, if the message contains it. */
  readonly content?: Uint8Array;
  /** The fault that is reported in place of the reason. */
  readonly fault?: Fault;
  /** The digest that the content has, if that is the reason. */
  readonly computed?: string | undefined;
  /** Prepares the explanation: keeps what it depends on. */
  readonly explain: () => MaybePromise<Explained>;
}

/** A valid signature, before its nonce is claimed. */
interface Valid<Own extends Presented> {
  readonly attempt: Attempt<Own>;
  readonly principal: Principal;
  /** What is claimed; undefined if the request may be repeated. */
  readonly claim: NonceClaim | undefined;
  /** The time (ms) at which the signature was verified. */
  readonly now: number;
}

type Checked<Own extends Presented> = BadVerdict | Failure<Own> | Valid<Own>;
type MaybeChecked<Own extends Presented> = Checked<Own> | Promise<Checked<Own>>;

const noContent = new Uint8Array(0);
const noKeys: readonly Key[] = [];
const noTime: TimeRule = { subject: '', window: 0, resolution: 1000 };

/** Creates the function that verifies the requests of a scheme. */
export function createVerification<Own extends Presented>(
  scheme: SignatureScheme<Own>,
  context: SchemeContext,
): Verifier['authenticate'] {
  const verify = createVerifier(scheme, context);
  return (request, rest = '', authTrace, deferrable = false) =>
    verify(scheme.read(request, rest), authTrace, deferrable);
}

/** Verifies what was read from a request: credentials, several of which one is enough, or a fault. */
export type Verify<Own extends Presented> = (
  read: Own | readonly Own[] | Fault,
  authTrace: AuthenticationTrace | undefined,
  deferrable: boolean,
) => Verdict | Promise<Verdict>;

/** Creates the function that verifies credentials of a scheme which the caller has read, from the content for instance. */
export function createVerifier<Own extends Presented>(
  scheme: SignatureScheme<Own>,
  context: SchemeContext,
): Verify<Own> {
  const verification = { scheme, context, decoys: new Decoys() };
  return (read, authTrace, deferrable) => {
    if (isFault(read)) return refuseUnread(read, verification, authTrace);
    if (isSeveral(read)) {
      const attempts = read.map((presented) => ({ presented, authTrace, deferrable }));
      return verifySeveral(attempts, verification);
    }
    return andThen(verifyOne({ presented: read, authTrace, deferrable }, verification), (checked) =>
      conclude(checked, verification),
    );
  };
}

function isFault(read: object): read is Fault {
  return 'detail' in read;
}

function isSeveral<Own>(read: Own | readonly Own[]): read is readonly Own[] {
  return Array.isArray(read);
}

/**
 * Verifies all signatures. The first valid one admits the request; if none is valid, the refusal that passed the most checks is
 * reported.
 */
async function verifySeveral<Own extends Presented>(
  attempts: readonly Attempt<Own>[],
  verification: Verification<Own>,
): Promise<Verdict> {
  const valid: Valid<Own>[] = [];
  let best: Failure<Own> | undefined;
  for (const attempt of attempts) {
    const checked = await verifyOne(attempt, verification);
    if ('outcome' in checked) return checked;
    if ('principal' in checked) valid.push(checked);
    else if (best === undefined || checked.passed.length > best.passed.length) best = checked;
  }
  const [first, ...others] = valid;
  if (first !== undefined) return admitFirst(first, others, verification);
  if (best === undefined) throw new Error('a scheme read no credentials');
  return conclude(best, verification);
}

/** Verifies one signature: content if the message contains it, holder, signature, time, digest of the content, nonce. */
function verifyOne<Own extends Presented>(
  attempt: Attempt<Own>,
  verification: Verification<Own>,
): MaybeChecked<Own> {
  const { scheme, context } = verification;
  const { presented, authTrace } = attempt;
  recordTimes(authTrace, presented);
  const blocked = refuseBlocked(presented, context);
  if (blocked !== undefined) return blocked;
  const needed = scheme.needsContent?.(presented) ?? false;
  if (needed === false) return verifyWith(noContent, attempt, verification);
  // The content of a stale request is not read.
  const stale = checkTime(attempt, [], context.clock.now(), verification, noContent);
  if (stale !== undefined) return stale;
  const proceed = (content: Uint8Array): MaybeChecked<Own> => {
    const complete = scheme.addContent?.(presented, content) ?? presented;
    if (isFault(complete)) return refuseUnread(complete, verification, authTrace);
    recordTimes(authTrace, complete);
    // The content may name the user.
    return (
      refuseBlocked(complete, context) ??
      verifyWith(content, { ...attempt, presented: complete }, verification)
    );
  };
  const { request } = presented;
  if (!request.body.present) return proceed(noContent);
  const content =
    needed === 'form' ? holdForm(request, context.bodyLimit) : request.body.hold(context.bodyLimit);
  return content.then(proceed);
}

function recordTimes(authTrace: AuthenticationTrace | undefined, presented: Presented): void {
  if (authTrace === undefined) return;
  const { time, sentTime, nonce } = presented;
  authTrace.presented = { time, sentTime, nonce };
}

function verifyWith<Own extends Presented>(
  content: Uint8Array,
  attempt: Attempt<Own>,
  verification: Verification<Own>,
): MaybeChecked<Own> {
  const { scheme, context } = verification;
  const { presented } = attempt;
  return andThen(scheme.find(presented), (holder) => {
    const now = context.clock.now();
    const messages = assembleAll(presented, content, scheme);
    const { key, isExpired } = findSigningKey(presented, messages, holder, now, verification);
    if (key === undefined || holder === undefined)
      return wrongSignature(attempt, holder, content, isExpired, verification);
    const passed = ['parse', 'user', scheme.check];
    const keyFault = scheme.keyFault?.(presented, key);
    if (keyFault !== undefined)
      return fail(attempt, 'algorithm', 'alg', scheme.wrong, ['parse', 'user'], { hint: keyFault });
    const verifyFresh = (): MaybeChecked<Own> => {
      // Before the digest of the content, which may have to be read for it.
      const stale = checkTime(attempt, passed, now, verification, content);
      if (stale !== undefined) return stale;
      const owner = presented.countedAs ?? holder.principal.name;
      const claim = buildClaim(presented, owner, messages[0] ?? [], now, verification);
      const valid = { attempt, principal: holder.principal, claim, now };
      if (scheme.digestFault === undefined) return valid;
      // Content of a sender that is authenticated now.
      presented.request.body.release?.();
      return andThen(scheme.digestFault(presented, content), (fault) =>
        fault === undefined ? valid : contentFailure(attempt, fault, passed, content, verification),
      );
    };
    if (scheme.holderFault === undefined) return verifyFresh();
    return andThen(scheme.holderFault(presented, holder), (fault) =>
      fault === undefined
        ? verifyFresh()
        : { ...fail(attempt, 'signature', scheme.check, fault.detail, passed, {}), fault },
    );
  });
}

function contentFailure<Own extends Presented>(
  attempt: Attempt<Own>,
  { detail, explain, computed }: DigestFault,
  passed: readonly string[],
  content: Uint8Array,
  { scheme }: Verification<Own>,
): Failure<Own> {
  return {
    attempt,
    reason: 'content',
    check: scheme.digestCheck ?? 'digest',
    detail,
    passed,
    computed,
    explain: () =>
      andThen(explain(), (cause) => {
        const { presented, authTrace } = attempt;
        const { isLimited = true } = authTrace?.knowledge ?? {};
        const members = scheme.explanationMembers?.(presented, content, 'content');
        if (typeof cause !== 'function') {
          const known = { ...members, ...cause };
          return { traced: known, shown: () => known };
        }
        const make = (): Members => ({ ...members, ...cause(isLimited) });
        return { traced: make, shown: make };
      }),
  };
}

function assembleAll<Own extends Presented>(
  presented: Own,
  content: Uint8Array,
  scheme: SignatureScheme<Own>,
): readonly (readonly Piece[])[] {
  const messages: (readonly Piece[])[] = [];
  for (const parts of scheme.messages(presented, content))
    messages.push(assembleMessage(scheme, parts, presented));
  return messages;
}

/** The key that made a signature. */
interface SigningKey {
  readonly key: Key | undefined;
  /** Whether an expired key made it. */
  readonly isExpired: boolean;
}

/**
 * Finds the valid key that made one of the signatures. A refusal tries at least two keys of each kind and length, whatever keys the
 * user has, valid or expired, and whether or not the user exists.
 */
function findSigningKey<Own extends Presented>(
  presented: Own,
  messages: readonly (readonly Piece[])[],
  holder: KeyHolder | undefined,
  now: number,
  { scheme, decoys }: Verification<Own>,
): SigningKey {
  let isExpired = false;
  for (const kind of scheme.kinds(presented)) {
    for (const sample of selectSamples(kind, presented.signatures)) {
      let tried = 0;
      for (const key of holder?.keys ?? noKeys) {
        if (key.kind !== kind || !fits(key, sample)) continue;
        tried += 1;
        for (const message of messages) {
          if (!scheme.signs(key, message, presented)) continue;
          if (isCurrent(key, now)) return { key, isExpired };
          isExpired = true;
        }
      }
      for (; tried < minKeys; tried += 1) {
        const decoy = decoys.of(kind, sample);
        for (const message of messages) scheme.signs(decoy, message, presented);
      }
    }
  }
  return { key: undefined, isExpired };
}

/** Returns the failure if the time is outside the window or over, or before the start of the server. */
function checkTime<Own extends Presented>(
  attempt: Attempt<Own>,
  passed: readonly string[],
  now: number,
  { scheme, context }: Verification<Own>,
  content: Uint8Array,
): Failure<Own> | undefined {
  const { presented } = attempt;
  const { time, expires } = presented;
  if (scheme.time === undefined) return undefined;
  const { subject, window, resolution, expiryReplacesWindow = false } = scheme.time;
  const rounded = Math.floor(now / resolution) * resolution;
  const off = time === undefined ? 0 : time - rounded;
  const failTime = (reason: RefusalReason, detail: string, hint?: string): Failure<Own> =>
    fail(attempt, reason, 'date', detail, passed, {
      ...(hint === undefined ? {} : { hint }),
      serverDate: formatDate(now),
      ...scheme.explanationMembers?.(presented, content, reason),
    });
  const isLate = -off > window && !(expiryReplacesWindow && expires !== undefined);
  const movedClock = describeMovedClock(off, context.clock.ahead?.());
  if (off > window || isLate) {
    const hint =
      movedClock ?? scheme.timeHint?.(presented, off, now) ?? describeTimeError(subject, off / 1000);
    return failTime('time', describeDistance(subject, off / 1000, window / 1000), hint);
  }
  if (expires !== undefined && rounded > expires) {
    const detail = `The signature expired ${Math.ceil((rounded - expires) / 1000)} s ago.`;
    return failTime('expired', detail, movedClock ?? describeExpiry(scheme, presented, off, now));
  }
  const { notBefore } = context;
  if (time === undefined || notBefore === undefined || !isAcceptedOnce(presented, scheme)) return undefined;
  if (time >= Math.floor(notBefore / resolution) * resolution) return undefined;
  return failTime(
    'before-start',
    `${subject} is before the start of this server, which does not know the nonces used before.`,
  );
}

/** The longest lifetime (ms) that is a window for clocks, and not a permission for a while. */
const longestWindow = 300_000;

/** Returns the likely cause of a signature that is expired, `off` ms after its time. */
function describeExpiry<Own extends Presented>(
  scheme: SignatureScheme<Own>,
  presented: Own,
  off: number,
  now: number,
): string {
  const over = 'its lifetime is over; sign the request again';
  const { time, expires } = presented;
  if (time === undefined || expires === undefined || expires - time > longestWindow) return over;
  return scheme.timeHint?.(presented, off, now) ?? describeTimeError('The time', off / 1000);
}

function isAcceptedOnce<Own extends Presented>({ nonce, time }: Own, scheme: SignatureScheme<Own>): boolean {
  if (time === undefined && scheme.time?.undated === undefined) return false;
  return nonce !== undefined || scheme.refusesReplays === true;
}

/**
 * Returns what is claimed; undefined if the request may be repeated. In place of a nonce it is the message and not the signature,
 * because a list of several signatures can be sent again without the one that was verified.
 */
function buildClaim<Own extends Presented>(
  presented: Own,
  user: string,
  message: readonly Piece[],
  now: number,
  { scheme, context }: Verification<Own>,
): NonceClaim | undefined {
  if (!isAcceptedOnce(presented, scheme)) return undefined;
  const { nonce, time = now, expires = 0 } = presented;
  const { window, undated = window, resolution, expiryReplacesWindow = false } = scheme.time ?? noTime;
  const isUndated = presented.time === undefined;
  const stored = Math.max(context.nonceWindow, isUndated ? undated : window);
  const end = Math.max(expiryReplacesWindow || isUndated ? expires : 0, time + stored);
  const once = nonce ?? createHash('sha256').update(messageBytes(message)).digest('base64url');
  return { user, nonce: once, until: end + resolution - 1 };
}

/** Claims the nonce, or the message in place of one, and admits the request if it is fresh. */
function admit<Own extends Presented>(
  { attempt, principal, claim, now }: Valid<Own>,
  verification: Verification<Own>,
): Verdict | Promise<Verdict> {
  recordPassed(attempt, verification.scheme);
  if (claim === undefined) return { outcome: 'good', principal };
  const { presented, authTrace, deferrable } = attempt;
  const use = {
    principal,
    method: presented.request.method,
    claim,
    deferrable,
    authTrace,
    refuse: (claimed: RefusedNonce) => refuseNonce(attempt, claimed, now, verification),
  };
  return admitOnce(use, now, verification.context.nonces);
}

function recordPassed<Own extends Presented>(
  { presented, authTrace }: Attempt<Own>,
  scheme: SignatureScheme<Own>,
): void {
  if (authTrace === undefined) return;
  for (const check of ['parse', 'user', scheme.check]) authTrace.pass(check);
  if (presented.time !== undefined) authTrace.pass('date');
  if (scheme.digestCheck !== undefined && presented.request.body.present) authTrace.pass(scheme.digestCheck);
}

/**
 * Claims the nonces of all valid signatures, and admits the request by the first one if all are fresh. Otherwise a repeated request
 * would be admitted by its next signature.
 */
async function admitFirst<Own extends Presented>(
  first: Valid<Own>,
  others: readonly Valid<Own>[],
  verification: Verification<Own>,
): Promise<Verdict> {
  const { nonces } = verification.context;
  const claims = selectLatestClaims([first, ...others]);
  const own = first.claim && claims.get(nonceKey(first.claim));
  for (const { attempt, claim, now } of others) {
    if (claim === undefined || claim === own || claims.get(nonceKey(claim)) !== claim) continue;
    const claimed = await nonces.claim(claim.user, claim.nonce, claim.until, now);
    if (claimed === 'fresh') continue;
    recordPassed(attempt, verification.scheme);
    return refuseNonce(attempt, claimed, now, verification);
  }
  await nonces.kept(false);
  return admit({ ...first, claim: own }, verification);
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

function refuseNonce<Own extends Presented>(
  attempt: Attempt<Own>,
  claimed: RefusedNonce,
  now: number,
  verification: Verification<Own>,
): BadVerdict {
  const { scheme } = verification;
  const { presented, authTrace } = attempt;
  if (claimed !== 'seen') {
    authTrace?.fail('nonce');
    const problem = unclaimableNonce(claimed, (scheme.time ?? noTime).window, now);
    return { outcome: 'bad', problem, ...claimedBy(presented) };
  }
  const what = presented.nonce === undefined ? 'signature' : 'nonce';
  const detail = `The user has already used this ${what}.`;
  const hint = `generate a new ${what} for every request, including retries`;
  const members = { hint, ...scheme.explanationMembers?.(presented, noContent, 'replayed') };
  const failure = fail(attempt, 'replayed', 'nonce', detail, [], members);
  return refuse(failure, { traced: members, shown: () => members }, verification);
}

/** Returns a failure whose explanation is known. Only a client that holds the key receives it. */
function fail<Own extends Presented>(
  attempt: Attempt<Own>,
  reason: RefusalReason,
  check: string,
  detail: string,
  passed: readonly string[],
  members: Members,
): Failure<Own> {
  return {
    attempt,
    reason,
    check,
    detail,
    passed,
    explain: () => ({ traced: members, shown: () => members }),
  };
}

/** Returns the failure of a signature that no key of the user made. Its explanation is loaded on first use. */
function wrongSignature<Own extends Presented>(
  attempt: Attempt<Own>,
  holder: KeyHolder | undefined,
  content: Uint8Array,
  isExpired: boolean,
  verification: Verification<Own>,
): Checked<Own> {
  const { scheme, context, decoys } = verification;
  const { presented, authTrace } = attempt;
  const fault = scheme.signatureFault?.(presented);
  if (fault !== undefined) return refuseUnread(fault, verification, authTrace);
  return {
    attempt,
    reason: holder === undefined ? 'unknown-user' : isExpired ? 'expired-key' : 'signature',
    content,
    check: holder === undefined ? 'user' : scheme.check,
    detail: scheme.wrong,
    passed: holder === undefined ? ['parse'] : ['parse', 'user'],
    explain: async () => {
      const knowledge = authTrace?.knowledge;
      const { prepareExplanation } = await import('./explain/explain.ts');
      return prepareExplanation({ scheme, presented, holder, content, decoys, knowledge, context });
    },
  };
}

/** Returns the verdict: admits a valid signature, and prepares the explanation of a failure for an error or a trace. */
function conclude<Own extends Presented>(
  checked: Checked<Own>,
  verification: Verification<Own>,
): Verdict | Promise<Verdict> {
  if ('outcome' in checked) return checked;
  if ('principal' in checked) return admit(checked, verification);
  const { context } = verification;
  if (!context.explain && checked.attempt.authTrace === undefined)
    return refuse(checked, unexplained, verification);
  return andThen(checked.explain(), (explained) => refuse(checked, explained, verification));
}

const unexplained: Explained = { traced: {}, shown: () => ({}) };

const problemTypes: Readonly<Record<RefusalReason, ProblemType>> = {
  'unknown-user': 'credentials-refused',
  signature: 'credentials-refused',
  'expired-key': 'credentials-refused',
  algorithm: 'credentials-refused',
  content: 'digest-mismatch',
  time: 'date-out-of-window',
  expired: 'date-out-of-window',
  'before-start': 'date-out-of-window',
  replayed: 'nonce-replayed',
};

/** Records a failure in the trace, and returns the verdict. */
function refuse<Own extends Presented>(
  { attempt, reason, check, detail, passed, content = noContent, fault, computed }: Failure<Own>,
  { traced, shown }: Explained,
  verification: Verification<Own>,
): BadVerdict {
  const { scheme, context } = verification;
  const { presented, authTrace } = attempt;
  const claimed = presented.countedAs ?? presented.user;
  for (const name of passed) authTrace?.pass(name);
  if (fault !== undefined) return refuseUnread({ claimed, ...fault }, verification, authTrace);
  authTrace?.fail(check, traced);
  // The same name for an unknown user.
  const shownCheck = reason === 'unknown-user' ? scheme.check : check;
  const members = context.explain ? { check: shownCheck, ...shown() } : {};
  const now = context.clock.now();
  const refusal = { reason, presented, detail, members, now, content, computed };
  const problem = scheme.problem?.(refusal) ?? new Problem(problemTypes[reason], detail, { members });
  return { outcome: 'bad', problem, ...claimedBy(presented) };
}

/** Returns the refusal of credentials of a user for which the peer has failed too often. */
function refuseBlocked(presented: Presented, { rateLimiter }: SchemeContext): BadVerdict | undefined {
  if (rateLimiter === undefined) return undefined;
  const { claimed } = claimedBy(presented);
  return rateLimiter.blocksPair(presented.request.connection.peer, claimed)
    ? { outcome: 'bad', problem: tooManyFailures(rateLimiter, 'peer-and-user') }
    : undefined;
}

/** Returns the name for which a failure is counted. A key that identifies its user names none. */
function claimedBy({ user, countedAs = user }: Presented): { readonly claimed?: string } {
  return countedAs === '' ? {} : { claimed: countedAs };
}

/** Refuses a request for a fault that is described completely. */
function refuseUnread<Own extends Presented>(
  { detail, hint: cause, missing, check, claimed, type, members = {}, problem }: Fault,
  { context }: Verification<Own>,
  authTrace: AuthenticationTrace | undefined,
): BadVerdict {
  const failed = check ?? 'parse';
  const isExplained = missing !== undefined && (context.explain || authTrace !== undefined);
  const hint =
    cause ?? (isExplained ? describeFields(missing.request, [missing.field.toLowerCase()]) : undefined);
  const explained: Members = { ...members, ...(hint === undefined ? {} : { hint }) };
  // Otherwise the check follows from the type of the Problem.
  if (problem === undefined || check !== undefined)
    authTrace?.fail(failed, { ...problem?.members, detail, ...explained });
  const shown = context.explain ? { check: failed === 'parse' ? 'grammar' : failed, ...explained } : {};
  return {
    outcome: 'bad',
    problem: problem ?? new Problem(type ?? 'malformed-credentials', detail, { members: shown }),
    claimed,
  };
}
