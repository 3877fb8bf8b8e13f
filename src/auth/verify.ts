// Verifies signed requests: one order of checks for every scheme. A check that fails before the signature reveals nothing about
// users, and only a client that holds the key learns about those after it.
import { createHash } from 'node:crypto';
import { holdForm } from '../http/form.ts';
import { formatDate } from '../http/headers/date.ts';
import { Problem, type ProblemMember } from '../http/problem.ts';
import type { ProblemType } from '../http/problem-types.ts';
import { andThen } from '../maybe-promise.ts';
import type { HeldNonce, Principal } from '../principal.ts';
import { messageBytes, type Piece } from '../signature/message.ts';
import { admitOnce, describeDistance, describeTimeError } from './freshness.ts';
import { Decoys, isCurrent, type Key, type KeyHolder, minKeys } from './keyring.ts';
import { type RefusedNonce, unclaimableNonce } from './nonce-claim.ts';
import type { BadVerdict, Scheme, Verdict } from './scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import {
  assembleMessage,
  type Fault,
  type Presented,
  type RefusalReason,
  type SignatureScheme,
  type TimeRule,
} from './signature-scheme.ts';
import type { AuthenticationTrace } from './trace.ts';

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
  /** Returns the explanation: what the trace records, and what the client may see. */
  readonly explain: () => Explained | Promise<Explained>;
}

/** An explanation, in full for the trace, and without what shows whether the user exists for the client. */
interface Explained {
  readonly traced: Members;
  readonly shown: Members;
}

type Checked<Own extends Presented> = Verdict | Failure<Own>;
type MaybeChecked<Own extends Presented> = Checked<Own> | Promise<Checked<Own>>;

const noContent = new Uint8Array(0);
const noKeys: readonly Key[] = [];
const noTime: TimeRule = { subject: '', window: 0, resolution: 1000 };

/** Creates the function that verifies the requests of a scheme. */
export function createVerification<Own extends Presented>(
  scheme: SignatureScheme<Own>,
  context: SchemeContext,
): Scheme['authenticate'] {
  const verify = createVerifier(scheme, context);
  return (request, rest, authTrace, deferrable = false) =>
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
    if (!isSeveral(read)) {
      const attempt = { presented: read, authTrace, deferrable };
      return andThen(verifyOne(attempt, verification), (checked) => verdictOf(checked, verification));
    }
    const attempts = read.map((presented) => ({ presented, authTrace, deferrable }));
    return verifySeveral(attempts, verification);
  };
}

function isFault(read: object): read is Fault {
  return 'detail' in read;
}

function isSeveral<Own>(read: Own | readonly Own[]): read is readonly Own[] {
  return Array.isArray(read);
}

/** Verifies signatures one after the other, until one is accepted. The refusal that passed the most checks is reported. */
async function verifySeveral<Own extends Presented>(
  attempts: readonly Attempt<Own>[],
  verification: Verification<Own>,
): Promise<Verdict> {
  let best: Failure<Own> | undefined;
  for (const attempt of attempts) {
    const checked = await verifyOne(attempt, verification);
    if ('outcome' in checked) return checked;
    if (best === undefined || checked.passed.length > best.passed.length) best = checked;
  }
  if (best === undefined) throw new Error('a scheme read no credentials');
  return verdictOf(best, verification);
}

/** Verifies one signature: content if the message contains it, holder, signature, time, digest of the content, nonce. */
function verifyOne<Own extends Presented>(
  attempt: Attempt<Own>,
  verification: Verification<Own>,
): MaybeChecked<Own> {
  const { scheme, context } = verification;
  const { presented, authTrace } = attempt;
  const needed = scheme.needsContent?.(presented) ?? false;
  if (needed === false) return verifyWith(noContent, attempt, verification);
  // The content of a stale request is not read.
  const stale = checkTime(attempt, [], context.clock.now(), verification, noContent);
  if (stale !== undefined) return stale;
  const proceed = (content: Uint8Array): MaybeChecked<Own> => {
    const complete = scheme.addContent?.(presented, content) ?? presented;
    if (isFault(complete)) return refuseUnread(complete, verification, authTrace);
    return verifyWith(content, { ...attempt, presented: complete }, verification);
  };
  const { request } = presented;
  if (!request.body.present) return proceed(noContent);
  const content =
    needed === 'form' ? holdForm(request, context.bodyLimit) : request.body.hold(context.bodyLimit);
  return content.then(proceed);
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
      return andThen(scheme.digestFault?.(presented, content), (fault) =>
        fault === undefined
          ? admit(attempt, holder.principal, messages[0] ?? [], now, verification)
          : {
              ...fail(attempt, 'content', scheme.digestCheck ?? 'digest', fault.detail, passed, {
                ...scheme.explanationMembers?.(presented, content, 'content'),
                ...fault.members,
              }),
              computed: fault.computed,
            },
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
 * Finds the valid key that made one of the signatures. A refusal tries at least two keys of each kind, whatever keys the user has,
 * valid or expired, and whether or not the user exists.
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
    let tried = 0;
    for (const key of holder?.keys ?? noKeys) {
      if (key.kind !== kind) continue;
      tried += 1;
      for (const message of messages) {
        if (!scheme.signs(key, message, presented)) continue;
        if (isCurrent(key, now)) return { key, isExpired };
        isExpired = true;
      }
    }
    for (; tried < minKeys; tried += 1) {
      const decoy = decoys.of(kind, presented.signatures[0]);
      for (const message of messages) scheme.signs(decoy, message, presented);
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
  if (scheme.time === undefined || time === undefined) return undefined;
  const { subject, window, resolution } = scheme.time;
  const rounded = Math.floor(now / resolution) * resolution;
  const off = time - rounded;
  const failTime = (reason: RefusalReason, detail: string, hint?: string): Failure<Own> =>
    fail(attempt, reason, 'date', detail, passed, {
      ...(hint === undefined ? {} : { hint }),
      serverDate: formatDate(now),
      ...scheme.explanationMembers?.(presented, content, reason),
    });
  // A lifetime takes the place of the window after the time.
  if (off > window || (expires === undefined && -off > window)) {
    const hint = scheme.timeHint?.(presented, off, now) ?? describeTimeError(subject, off / 1000);
    return failTime('time', describeDistance(subject, off / 1000, window / 1000), hint);
  }
  if (expires !== undefined && rounded > expires) {
    const detail = `The signature expired ${Math.ceil((rounded - expires) / 1000)} s ago.`;
    return failTime('expired', detail, 'its lifetime is over; sign the request again');
  }
  const { notBefore } = context;
  if (notBefore === undefined || !isAcceptedOnce(presented, scheme)) return undefined;
  if (time >= Math.floor(notBefore / resolution) * resolution) return undefined;
  return failTime(
    'before-start',
    `${subject} is before the start of this server, which does not know the nonces used before.`,
  );
}

function isAcceptedOnce<Own extends Presented>({ nonce, time }: Own, scheme: SignatureScheme<Own>): boolean {
  return time !== undefined && (nonce !== undefined || scheme.refusesReplays === true);
}

/** Claims the nonce, or the message in place of one, and admits the request if it is fresh. */
function admit<Own extends Presented>(
  attempt: Attempt<Own>,
  principal: Principal,
  message: readonly Piece[],
  now: number,
  verification: Verification<Own>,
): Verdict | Promise<Verdict> {
  const { scheme, context } = verification;
  const { presented, authTrace, deferrable } = attempt;
  authTrace?.pass('parse');
  authTrace?.pass('user');
  authTrace?.pass(scheme.check);
  if (presented.time !== undefined) authTrace?.pass('date');
  if (scheme.digestCheck !== undefined && presented.request.body.present) authTrace?.pass(scheme.digestCheck);
  if (!isAcceptedOnce(presented, scheme)) return { outcome: 'good', principal };
  const use = {
    principal,
    method: presented.request.method,
    claim: claimOf(presented, presented.countedAs ?? principal.name, message, verification),
    deferrable,
    authTrace,
    refuse: (claimed: RefusedNonce) => refuseNonce(attempt, claimed, now, verification),
  };
  return admitOnce(use, now, context.nonces);
}

/**
 * Returns what is claimed. In place of a nonce it is the message and not the signature, because a list of several signatures can
 * be sent again without the one that was verified.
 */
function claimOf<Own extends Presented>(
  { nonce, time = 0, expires }: Own,
  user: string,
  message: readonly Piece[],
  { scheme, context }: Verification<Own>,
): HeldNonce {
  const { window, resolution } = scheme.time ?? noTime;
  const end = Math.max(expires ?? 0, time + Math.max(context.nonceWindow, window));
  const once = nonce ?? createHash('sha256').update(messageBytes(message)).digest('base64url');
  return { user, nonce: once, until: end + resolution - 1 };
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
    return { outcome: 'bad', problem, claimed: presented.countedAs ?? presented.user };
  }
  const what = presented.nonce === undefined ? 'signature' : 'nonce';
  const detail = `The user has already used this ${what}.`;
  const hint = `generate a new ${what} for every request, including retries`;
  const members = { hint, ...scheme.explanationMembers?.(presented, noContent, 'replayed') };
  const failure = fail(attempt, 'replayed', 'nonce', detail, [], members);
  return refuse(failure, { traced: members, shown: members }, verification);
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
  return { attempt, reason, check, detail, passed, explain: () => ({ traced: members, shown: members }) };
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
      const { explainSignature } = await import('./explain/explain.ts');
      return explainSignature({
        scheme,
        presented,
        holder,
        content,
        decoys,
        knowledge: authTrace?.knowledge,
        context,
      });
    },
  };
}

function verdictOf<Own extends Presented>(
  checked: Checked<Own>,
  verification: Verification<Own>,
): Verdict | Promise<Verdict> {
  if ('outcome' in checked) return checked;
  const { context } = verification;
  if (!context.explain && checked.attempt.authTrace === undefined)
    return refuse(checked, { traced: {}, shown: {} }, verification);
  return andThen(checked.explain(), (explained) => refuse(checked, explained, verification));
}

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
  const members = context.explain ? { check: shownCheck, ...shown } : {};
  const now = context.clock.now();
  const refusal = { reason, presented, detail, members, now, content, computed };
  const problem = scheme.problem?.(refusal) ?? new Problem(problemTypes[reason], detail, { members });
  return { outcome: 'bad', problem, claimed };
}

/** Refuses a request for a fault that is described completely. */
function refuseUnread<Own extends Presented>(
  { detail, hint, members: further, check, claimed, problem }: Fault,
  { context }: Verification<Own>,
  authTrace: AuthenticationTrace | undefined,
): BadVerdict {
  const failed = check ?? 'parse';
  // Otherwise the check follows from the type of the Problem.
  if (problem === undefined || check !== undefined)
    authTrace?.fail(failed, {
      ...problem?.members,
      ...further,
      detail,
      ...(hint === undefined ? {} : { hint }),
    });
  const members: Members = {
    check: failed === 'parse' ? 'grammar' : failed,
    ...(hint === undefined ? {} : { hint }),
  };
  return {
    outcome: 'bad',
    problem:
      problem ?? new Problem('malformed-credentials', detail, { members: context.explain ? members : {} }),
    ...(claimed === undefined ? {} : { claimed }),
  };
}
