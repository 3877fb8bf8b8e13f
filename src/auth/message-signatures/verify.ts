import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { andThen } from '../../maybe-promise.ts';
import type { HeldNonce, Principal } from '../../principal.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import {
  type MessageSignature,
  parseSignatures,
} from '../../signature/message-signatures/signature-fields.ts';
import { admitClaimed } from '../freshness.ts';
import { otherSecretMistake } from '../other-secrets.ts';
import type { RefuseNonce, Verdict } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { AuthenticationTrace, TraceDetails } from '../trace.ts';
import {
  bad,
  dateFault,
  nonceOf,
  nonceRefusal,
  type Presented,
  type Refusal,
  refusal,
  type Verification,
} from './freshness.ts';
import { bytesIn, findHolder, type Holder, isSignedBy, Verifiers, type VerifyingKey } from './keys.ts';
import { KnownComponents } from './known-components.ts';
import type { MessageSignaturesOptions } from './options.ts';
import { type Candidate, createRequirements, type ParsedCandidate } from './requirements.ts';

/** Verifies the signatures of a request. */
export type Verify = (request: Request, authTrace?: AuthenticationTrace, deferrable?: boolean) => Answer;

type Answer = Verdict | Promise<Verdict>;

/** What follows the check of a candidate whose signature is valid. */
interface Continuation {
  readonly refused: (refusal: Refusal) => Answer;
  /** Default: nothing is done. */
  readonly accepted?: () => void;
}

/** The continuation if the request has no other signature. */
const alone: Continuation = { refused: (refusal) => refusal.verdict() };

/** The maximum number of signatures of a request whose keys are looked up. It bounds the work of a refusal. */
const maxCandidates = 4;

/** Creates the function that verifies requests. */
export function createVerify(
  name: string,
  options: MessageSignaturesOptions,
  context: SchemeContext,
): Verify {
  const requirements = createRequirements(options, context.explain);
  const parts = { known: new KnownComponents(), verifiers: new Verifiers() };
  const verification: Verification = { name, options, context, requirements, ...parts };
  return (request, authTrace, deferrable = false) =>
    verifyKnown(verification, request, authTrace, deferrable) ??
    verifyWhole(verification, request, authTrace, deferrable);
}

/**
 * Verifies a signature with known components. Returns undefined if there is none, or it is refused before its date is checked:
 * then it is verified as a whole.
 */
function verifyKnown(
  verification: Verification,
  request: Request,
  authTrace: AuthenticationTrace | undefined,
  deferrable: boolean,
): Answer | undefined {
  const { fields } = request;
  const known = verification.known.find(fields.get('signature-input'), fields.get('signature'));
  if (known === undefined) return undefined;
  const message = messageOf(request);
  const candidate = verification.requirements.judgeKnown(known, message, carriesContent(request));
  if (candidate === undefined) return undefined;
  const presented = { request, message, claimed: candidate.keyid, authTrace, deferrable };
  const holder = findHolder(verification.context.accounts, candidate.keyid);
  if (holder instanceof Promise)
    return holder.then(
      (found) =>
        verifyCandidate(verification, presented, candidate, found, alone) ??
        verifyWhole(verification, request, authTrace, deferrable),
    );
  return verifyCandidate(verification, presented, candidate, holder, alone);
}

/** Parses and verifies all signatures. */
function verifyWhole(
  verification: Verification,
  request: Request,
  authTrace: AuthenticationTrace | undefined,
  deferrable: boolean,
): Answer {
  const { fields } = request;
  const signatures = parseSignatures(fields.get('signature-input'), fields.get('signature'));
  if (typeof signatures === 'string') return malformed(signatures, verification.context, authTrace);
  const claimed = signatures[0]?.parameters.keyid;
  const presented = { request, message: messageOf(request), claimed, authTrace, deferrable };
  return verifySignatures(verification, presented, signatures);
}

function messageOf({ method, target, fields, connection }: Request): RequestMessage {
  return { method, target, fields, secure: connection.secure };
}

function malformed(
  fault: string,
  { explain }: SchemeContext,
  authTrace: AuthenticationTrace | undefined,
): Verdict {
  authTrace?.fail('parse', { hint: fault });
  const members = explain ? { check: 'grammar' } : {};
  return { outcome: 'bad', problem: new Problem('malformed-credentials', `${fault}.`, { members }) };
}

/** Verifies the signatures that meet the requirements, one after the other, until one is accepted. */
function verifySignatures(
  verification: Verification,
  presented: Presented,
  signatures: readonly MessageSignature[],
): Answer {
  const { requirements } = verification;
  const { request, message } = presented;
  const hasContent = carriesContent(request);
  const candidates: ParsedCandidate[] = [];
  let first: Problem | undefined;
  for (const signature of signatures) {
    const components = requirements.components(signature.covered.items);
    const judged = requirements.judge(signature, components, message, hasContent);
    if (judged instanceof Problem) first ??= judged;
    else if (candidates.push(judged) === maxCandidates) break;
  }
  if (candidates.length === 0 && first !== undefined) return refuseEarly(first, presented);
  // If the nonce of one signature is refused, another signature may be accepted, but only before the request is handled.
  const deferrable = presented.deferrable && candidates.length === 1;
  return verifyFrom(verification, { ...presented, deferrable }, candidates, 0, undefined);
}

function carriesContent({ body, fields }: Request): boolean {
  return body.present && fields.get('content-length') !== '0';
}

function refuseEarly(problem: Problem, { claimed, authTrace }: Presented): Verdict {
  const check = problem.type === 'malformed-credentials' ? 'parse' : 'requirements';
  authTrace?.fail(check, { ...problem.members, hint: problem.members['hint'] ?? problem.detail });
  return bad(problem, claimed);
}

function verifyFrom(
  verification: Verification,
  presented: Presented,
  candidates: readonly ParsedCandidate[],
  index: number,
  best: Refusal | undefined,
): Answer {
  const candidate = candidates[index];
  if (candidate === undefined) {
    if (best === undefined) throw new Error('a request without signatures was verified');
    return best.verdict();
  }
  const refused = (refusal: Refusal): Answer => {
    const next = best === undefined || refusal.passed > best.passed ? refusal : best;
    return verifyFrom(verification, presented, candidates, index + 1, next);
  };
  const accepted = (): void => rememberComponents(verification, presented, candidate);
  return andThen(findHolder(verification.context.accounts, candidate.keyid), (holder) => {
    const verdict = verifyCandidate(verification, presented, candidate, holder, { refused, accepted });
    const wrong = (): Answer => refuseSignature(verification, presented, candidate, holder);
    return verdict ?? refused({ passed: 0, verdict: wrong });
  });
}

function rememberComponents(
  { known }: Verification,
  { request }: Presented,
  { signature, components }: ParsedCandidate,
): void {
  known.remember(request.fields.get('signature-input') ?? '', signature, components);
}

/** Returns the verdict; undefined if no key of the holder verifies the signature. */
function verifyCandidate(
  verification: Verification,
  presented: Presented,
  candidate: Candidate,
  holder: Holder | undefined,
  continuation: Continuation,
): Answer | undefined {
  const { context } = verification;
  const now = context.clock.now();
  const key = matchingKey(verification.verifiers, candidate, holder, now);
  if (key === undefined || holder === undefined) return undefined;
  const { alg } = candidate.parameters;
  if (alg !== undefined && alg !== key.algorithm) {
    const hint = `the parameter alg is "${alg}", but the key with this id is for ${key.algorithm}`;
    return continuation.refused(
      refusal(1, verification, presented, 'alg', 'credentials-refused', wrongSignature, { hint }),
    );
  }
  const stale = dateFault(verification, presented, candidate, now);
  if (stale !== undefined) return continuation.refused(stale);
  const principal: Principal = { name: holder.account.name, scheme: verification.name };
  const claim = nonceOf(verification, candidate, holder);
  if (claim !== undefined) return admitOnce(verification, presented, principal, claim, now, continuation);
  continuation.accepted?.();
  for (const check of checksBeforeNonce) presented.authTrace?.pass(check);
  return { outcome: 'good', principal };
}

const wrongSignature = 'The key, the signature or the signed message is wrong.';

/** Returns the key that verifies the signature and is valid. A refusal tries the same algorithms for every holder. */
function matchingKey(
  verifiers: Verifiers,
  { value, pieces }: Candidate,
  holder: Holder | undefined,
  now: number,
): VerifyingKey | undefined {
  const length = bytesIn(value);
  const keys = holder?.keys ?? [];
  for (const key of keys) {
    const isMatch = verifiers.lengthOf(key) === length && isSignedBy(key, pieces, value);
    if (isMatch && (key.until === undefined || now < key.until)) return key;
  }
  const fitting = verifiers.fitting(keys, length);
  for (const dummy of verifiers.dummies(fitting, length)) isSignedBy(dummy, pieces, value);
  return undefined;
}

const checksBeforeNonce = ['parse', 'user', 'signature', 'date'];

/** Claims the nonce, and admits the request if it is fresh. */
function admitOnce(
  verification: Verification,
  presented: Presented,
  principal: Principal,
  claim: HeldNonce,
  now: number,
  { refused, accepted }: Continuation,
): Answer {
  const { nonces } = verification.context;
  const { request, authTrace, deferrable } = presented;
  const { user, nonce, until } = claim;
  return andThen(nonces.claim(user, nonce, until, now, deferrable), (claimed) => {
    if (claimed !== 'fresh') return refused(nonceRefusal(verification, presented, claimed, now));
    accepted?.();
    for (const check of checksBeforeNonce) authTrace?.pass(check);
    authTrace?.pass('nonce');
    const refuse: RefuseNonce = (late) => {
      // A refusal records the passed checks, too.
      authTrace?.retract('parse');
      return nonceRefusal(verification, presented, late, now).verdict();
    };
    return admitClaimed(principal, request.method, claim, nonces, deferrable ? refuse : undefined);
  });
}

/** Refuses a wrong signature. It is explained only if an error or a trace contains the explanation. */
function refuseSignature(
  verification: Verification,
  presented: Presented,
  candidate: ParsedCandidate,
  holder: Holder | undefined,
): Verdict | Promise<Verdict> {
  const { context, verifiers } = verification;
  const { claimed, authTrace, message } = presented;
  const refused = (members: TraceDetails): Verdict =>
    bad(new Problem('credentials-refused', wrongSignature, { members }), claimed);
  if (!context.explain && authTrace === undefined) return refused({});
  return import('./explain.ts').then(({ explainSignature, isSignedWith }) => {
    const { isExplained, shown, traced } = explainSignature({ message, candidate, holder, verifiers });
    const user = holder?.account.name ?? claimed ?? '';
    const hint = isExplained
      ? undefined
      : otherSecretMistake(authTrace?.knowledge, user, (secret) => isSignedWith(secret, candidate));
    authTrace?.pass('parse');
    if (holder !== undefined) authTrace?.pass('user');
    authTrace?.fail(
      holder === undefined ? 'user' : 'signature',
      hint === undefined ? traced : { ...traced, hint },
    );
    return refused(context.explain ? { check: 'signature', ...shown } : {});
  });
}
