// Verifies signed requests: one order of checks for every scheme. A check that fails before the signature reveals nothing about
// users, and only a client that holds the key learns about those after it.

import {
  Decoys,
  fits,
  isCurrent,
  type Key,
  type KeyHolder,
  minKeys,
  selectSamples,
} from '../accounts/keyring.ts';
import { holdForm } from '../http/form.ts';
import { type MaybePromise, run, type Steps, wait } from '../maybe-promise.ts';
import type { Piece } from './message.ts';
import { type Failure, refuse, refuseBlocked, refuseFault, wrongDigest, wrongSignature } from './refuse.ts';
import {
  assembleMessage,
  type DigestFault,
  type Fault,
  type Presented,
  type SchemeVerification,
} from './scheme.ts';
import type { SchemeContext, Verification } from './scheme-context.ts';
import type { AuthenticationTrace } from './trace.ts';
import type { BadVerdict, Verdict } from './verifier.ts';
import { admit, buildClaim, type Valid } from './verify-nonce.ts';
import { checkTime } from './verify-time.ts';

/** Verifies what was read from a request: credentials, several of which one is enough, or a fault. */
export type Verify<Own extends Presented> = (
  read: Own | readonly Own[] | Fault,
  authTrace: AuthenticationTrace | undefined,
) => Verdict | Promise<Verdict>;

/** Creates the function that verifies what the caller has read. */
export function createVerify<Own extends Presented>(
  scheme: SchemeVerification<Own>,
  context: SchemeContext,
): Verify<Own> {
  const decoys = new Decoys();
  return (read, authTrace) => run(verify(read, { scheme, context, decoys, authTrace }));
}

/**
 * Verifies all signatures. The first valid one admits the request; if none is valid, the refusal that passed the most checks is
 * reported.
 */
function* verify<Own extends Presented>(
  read: Own | readonly Own[] | Fault,
  verification: Verification<Own>,
): Steps<Verdict> {
  if (isFault(read)) return refuseFault(read, verification);
  const valid: Valid<Own>[] = [];
  let best: Failure<Own> | undefined;
  for (const presented of isSeveral(read) ? read : [read]) {
    const checked = yield* verifySignature(presented, verification);
    if ('outcome' in checked) return checked;
    if ('principal' in checked) valid.push(checked);
    else if (best === undefined || checked.passed.length > best.passed.length) best = checked;
  }
  const [first, ...others] = valid;
  if (first !== undefined) return yield* admit(first, others, verification);
  if (best === undefined) throw new Error('a scheme read no credentials');
  return yield* refuse(best, verification);
}

function isFault(read: object): read is Fault {
  return 'detail' in read;
}

function isSeveral<Own>(read: Own | readonly Own[]): read is readonly Own[] {
  return Array.isArray(read);
}

/** Verifies one signature, without its nonce. */
function* verifySignature<Own extends Presented>(
  sent: Own,
  verification: Verification<Own>,
): Steps<BadVerdict | Failure<Own> | Valid<Own>> {
  const { scheme, context } = verification;
  const { clock } = context;
  recordTimes(sent, verification);
  const blocked = refuseBlocked(sent, context);
  if (blocked !== undefined) return blocked;
  // The content of a stale request is not read.
  const stale = sent.needs && checkTime(sent, [], clock.now(), verification, noContent);
  if (stale !== undefined) return stale;
  const content = sent.needs === undefined ? noContent : yield* wait(readContent(sent, context));
  const presented = sent.needs === undefined ? sent : (scheme.complete?.(sent, content) ?? sent);
  if (isFault(presented)) return refuseFault(presented, verification);
  if (presented !== sent) {
    recordTimes(presented, verification);
    // The content may name the user.
    const refused = refuseBlocked(presented, context);
    if (refused !== undefined) return refused;
  }
  const holder = yield* wait(scheme.find(presented));
  const now = clock.now();
  const messages = assembleMessages(presented, content, scheme);
  const { key, isExpired } = findSigningKey(presented, messages, holder, now, verification);
  if (key === undefined || holder === undefined)
    return wrongSignature(presented, holder, content, isExpired, verification);
  const passed = ['parse', 'user', scheme.rules.check];
  const fault = scheme.accept && (yield* wait(scheme.accept(presented, key, holder)));
  if (fault !== undefined) return { presented, passed, fault };
  // Before the digest of the content, which may have to be read for it.
  const late = checkTime(presented, passed, now, verification, content);
  if (late !== undefined) return late;
  const digestFault = scheme.digestFault && (yield* wait(compareDigest(presented, content, scheme)));
  if (digestFault !== undefined) return wrongDigest(presented, digestFault, content, passed, verification);
  const claim = buildClaim(presented, holder, messages[0] ?? [], now, verification);
  return { presented, principal: holder.principal, claim, now };
}

const noContent = new Uint8Array(0);

function recordTimes({ time, sentTime, nonce }: Presented, { authTrace }: Verification<Presented>): void {
  if (authTrace !== undefined) authTrace.presented = { time, sentTime, nonce };
}

function readContent({ request, needs }: Presented, { bodyLimit }: SchemeContext): MaybePromise<Uint8Array> {
  if (!request.body.present) return noContent;
  return needs === 'form' ? holdForm(request, bodyLimit) : request.body.hold(bodyLimit);
}

/** Compares the content with the signed digest. */
function compareDigest<Own extends Presented>(
  presented: Own,
  content: Uint8Array,
  scheme: SchemeVerification<Own>,
): MaybePromise<DigestFault | undefined> {
  // Content of a sender that is authenticated now.
  presented.request.body.release?.();
  return scheme.digestFault?.(presented, content);
}

/** The key that made a signature. */
interface SigningKey {
  readonly key: Key | undefined;
  /** Whether an expired key made it. */
  readonly isExpired: boolean;
}

const noKeys: readonly Key[] = [];

/** Returns the messages that the signature may fit. */
function assembleMessages<Own extends Presented>(
  presented: Own,
  content: Uint8Array,
  scheme: SchemeVerification<Own>,
): readonly (readonly Piece[])[] {
  const messages: (readonly Piece[])[] = [];
  for (const parts of scheme.messages(presented, content))
    messages.push(assembleMessage(scheme, parts, presented));
  return messages;
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
  for (const kind of presented.kinds) {
    for (const sample of selectSamples(kind, presented.signatures)) {
      let tried = 0;
      for (const key of holder?.keys ?? noKeys) {
        if (key.kind !== kind || !fits(key, sample)) continue;
        tried += 1;
        for (const message of messages) {
          if (!scheme.verify(key, message, presented)) continue;
          if (isCurrent(key, now)) return { key, isExpired };
          isExpired = true;
        }
      }
      for (; tried < minKeys; tried += 1) {
        const decoy = decoys.of(kind, sample);
        for (const message of messages) scheme.verify(decoy, message, presented);
      }
    }
  }
  return { key: undefined, isExpired };
}
