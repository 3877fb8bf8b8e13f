// Refuses requests: records the failed check, explains it if somebody may read the explanation, and makes the Problem.

import type { KeyHolder } from '../accounts/keyring.ts';
import { refusePair } from '../accounts/rate-limit.ts';
import { Problem } from '../http/problem.ts';
import type { ProblemType } from '../http/problem-types.ts';
import { andThen, type MaybePromise, type Steps, wait } from '../maybe-promise.ts';
import { describeFields, displayName } from './explain/related-names.ts';
import { describeInContent } from './explain/sent-keys.ts';
import { type RefusedNonce, unclaimableNonce } from './nonce-claim.ts';
import type { DigestFault, Fault, Presented, RefusalReason } from './scheme.ts';
import type { SchemeContext, Verification } from './scheme-context.ts';
import type { Explained, Members } from './trace.ts';
import type { BadVerdict } from './verifier.ts';

/** A check that failed. It is recorded and explained only if no other signature of the request is accepted. */
export type Failure<Own extends Presented> = FaultyFailure<Own> | ExplainedFailure<Own>;

/** A failure that its fault describes completely. */
interface FaultyFailure<Own extends Presented> {
  readonly presented: Own;
  /** The checks that were passed before. */
  readonly passed: readonly string[];
  readonly fault: Fault;
}

/** A failure that is explained on demand. */
interface ExplainedFailure<Own extends Presented> {
  readonly presented: Own;
  readonly passed: readonly string[];
  readonly reason: RefusalReason;
  /** The name of the check in traces. */
  readonly check: string;
  readonly detail: string;
  /** The content, if the message contains it. */
  readonly content: Uint8Array;
  /** The digest that the content has, if that is the reason. */
  readonly computed?: string | undefined;
  /** Prepares the explanation: keeps what it depends on. */
  readonly explain: () => MaybePromise<Explained>;
}

const noContent = new Uint8Array(0);

/** Returns a failure whose explanation is known. Only a client that holds the key receives it. */
export function failWith<Own extends Presented>(
  presented: Own,
  reason: RefusalReason,
  check: string,
  detail: string,
  passed: readonly string[],
  members: Members,
): ExplainedFailure<Own> {
  return { presented, reason, check, detail, passed, content: noContent, explain: () => known(members) };
}

function known(members: Members): Explained {
  return { traced: members, shown: () => members };
}

/** Returns the failure of a signature that no key of the user made. Its explanation is loaded on first use. */
export function wrongSignature<Own extends Presented>(
  presented: Own,
  holder: KeyHolder | undefined,
  content: Uint8Array,
  isExpired: boolean,
  verification: Verification<Own>,
): Failure<Own> | BadVerdict {
  const { scheme, context, decoys, authTrace } = verification;
  const { rules } = scheme;
  const fault = scheme.signatureFault?.(presented);
  if (fault !== undefined) return refuseFault(fault, verification);
  return {
    presented,
    reason: holder === undefined ? 'unknown-user' : isExpired ? 'expired-key' : 'signature',
    content,
    check: holder === undefined ? 'user' : rules.check,
    detail: rules.wrong,
    passed: holder === undefined ? ['parse'] : ['parse', 'user'],
    explain: async () => {
      const knowledge = authTrace?.knowledge;
      const { prepareExplanation } = await import('./explain/explain.ts');
      return prepareExplanation({ scheme, presented, holder, content, decoys, knowledge, context });
    },
  };
}

/** Returns the failure of content that does not have the signed digest. */
export function wrongDigest<Own extends Presented>(
  presented: Own,
  { detail, explain, computed }: DigestFault,
  content: Uint8Array,
  passed: readonly string[],
  { scheme, authTrace }: Verification<Own>,
): Failure<Own> {
  const explainCause = (): MaybePromise<Explained> =>
    andThen(explain(), (cause) => {
      const { isLimited = true } = authTrace?.knowledge ?? {};
      const members = scheme.mistakes?.members?.(presented, content, 'content');
      if (typeof cause !== 'function') return known({ ...members, ...cause });
      const make = (): Members => ({ ...members, ...cause(isLimited) });
      return { traced: make, shown: make };
    });
  const check = scheme.rules.digestCheck ?? 'digest';
  return {
    presented,
    reason: 'content',
    check,
    detail,
    passed,
    content: noContent,
    computed,
    explain: explainCause,
  };
}

const unexplained: Explained = { traced: {}, shown: () => ({}) };

/** Records a failure in the trace, with its explanation if errors or a trace contain it, and returns the verdict. */
export function* refuse<Own extends Presented>(
  failure: Failure<Own>,
  verification: Verification<Own>,
): Steps<BadVerdict> {
  const { context, authTrace } = verification;
  if ('fault' in failure) {
    for (const check of failure.passed) authTrace?.pass(check);
    return refuseFault({ ...claimedBy(failure.presented), ...failure.fault }, verification);
  }
  const isExplained = context.explain || authTrace !== undefined;
  const explained = isExplained ? yield* wait(failure.explain()) : unexplained;
  return conclude(failure, explained, verification);
}

const problemTypes: Readonly<Record<RefusalReason, ProblemType>> = {
  'unknown-user': 'credentials-refused',
  signature: 'credentials-refused',
  'expired-key': 'credentials-refused',
  content: 'digest-mismatch',
  time: 'date-out-of-window',
  expired: 'date-out-of-window',
  'before-start': 'date-out-of-window',
  replayed: 'nonce-replayed',
};

function conclude<Own extends Presented>(
  { presented, reason, check, detail, passed, content, computed }: ExplainedFailure<Own>,
  { traced, shown }: Explained,
  { scheme, context, authTrace }: Verification<Own>,
): BadVerdict {
  for (const name of passed) authTrace?.pass(name);
  authTrace?.fail(check, traced);
  // The same name for an unknown user.
  const shownCheck = reason === 'unknown-user' ? scheme.rules.check : check;
  const members = context.explain ? { check: shownCheck, ...shown() } : {};
  const now = context.clock.now();
  const refusal = { reason, presented, detail, members, now, content, computed };
  const problem = scheme.problem?.(refusal) ?? new Problem(problemTypes[reason], detail, { members });
  return { outcome: 'bad', problem, ...claimedBy(presented) };
}

/** Returns the verdict on a nonce that is not fresh, and records it in the trace. */
export function refuseNonce<Own extends Presented>(
  presented: Own,
  claimed: RefusedNonce,
  now: number,
  verification: Verification<Own>,
): BadVerdict {
  const { scheme, authTrace } = verification;
  if (claimed !== 'seen') {
    authTrace?.fail('nonce');
    const problem = unclaimableNonce(claimed, scheme.rules.time?.window ?? 0, now);
    return { outcome: 'bad', problem, ...claimedBy(presented) };
  }
  const what = presented.nonce === undefined ? 'signature' : 'nonce';
  const detail = `The user has already used this ${what}.`;
  const hint = `generate a new ${what} for every request, including retries`;
  const members = { hint, ...scheme.mistakes?.members?.(presented, noContent, 'replayed') };
  const failure = failWith(presented, 'replayed', 'nonce', detail, [], members);
  return conclude(failure, known(members), verification);
}

/** Returns the refusal of credentials of a user for which the peer has failed too often. */
export function refuseBlocked(presented: Presented, { rateLimiter }: SchemeContext): BadVerdict | undefined {
  if (rateLimiter === undefined) return undefined;
  const problem = refusePair(rateLimiter, presented.request.connection.peer, claimedBy(presented).claimed);
  return problem && { outcome: 'bad', problem };
}

/** Returns the name for which a failure is counted. A key that identifies its user names none. */
function claimedBy({ user, countedAs = user }: Presented): { readonly claimed?: string } {
  return countedAs === '' ? {} : { claimed: countedAs };
}

/** Refuses a request for a fault that is described completely. */
export function refuseFault<Own extends Presented>(
  { detail, hint: cause, missing, check, claimed, type, members = {}, problem }: Fault,
  { context, authTrace }: Verification<Own>,
): BadVerdict {
  const failed = check ?? 'parse';
  const isExplained = missing !== undefined && (context.explain || authTrace !== undefined);
  const hint =
    cause ??
    (isExplained ? describeFields(missing.request.headers.raw, [missing.field.toLowerCase()]) : undefined);
  if (missing !== undefined && hint === undefined)
    authTrace?.searchContent((content) =>
      describeInContent(
        content,
        [displayName(missing.field.toLowerCase())],
        authTrace.knowledge?.secrets ?? [],
      ),
    );
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
