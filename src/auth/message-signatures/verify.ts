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

/** A valid signature, before its nonce is claimed. */
interface Valid {
  readonly principal: Principal;
  /** Undefined if the signature has no nonce, or nonces are not used. */
  readonly claim: HeldNonce | undefined;
}

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
        verifyAlone(verification, presented, candidate, found) ??
        verifyWhole(verification, request, authTrace, deferrable),
    );
  return verifyAlone(verification, presented, candidate, holder);
}

/** Returns the verdict on a request with one signature; undefined if no key of the holder verifies it. */
function verifyAlone(
  verification: Verification,
  presented: Presented,
  candidate: Candidate,
  holder: Holder | undefined,
): Answer | undefined {
  const checked = checkCandidate(verification, presented, candidate, holder);
  if (checked === undefined) return undefined;
  return 'verdict' in checked ? checked.verdict() : admit(verification, presented, checked);
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

/** Verifies the signatures that meet the requirements, one after the other. */
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
  return verifyFrom(verification, presented, candidates, { valid: [], best: undefined });
}

function carriesContent({ body, fields }: Request): boolean {
  return body.present && fields.get('content-length') !== '0';
}

function refuseEarly(problem: Problem, { claimed, authTrace }: Presented): Verdict {
  const check = problem.type === 'malformed-credentials' ? 'parse' : 'requirements';
  authTrace?.fail(check, { ...problem.members, hint: problem.members['hint'] ?? problem.detail });
  return bad(problem, claimed);
}

/** The results of the candidates that were verified. */
interface Verified {
  readonly valid: readonly Valid[];
  /** The refusal of the candidate that passed the most checks. */
  readonly best: Refusal | undefined;
}

/**
 * Verifies the remaining candidates. The request is admitted by its first valid signature. All are verified, because the nonces of
 * all are claimed: otherwise a repeated request would be admitted by its next signature.
 */
function verifyFrom(
  verification: Verification,
  presented: Presented,
  [candidate, ...remaining]: readonly ParsedCandidate[],
  { valid, best }: Verified,
): Answer {
  if (candidate === undefined) {
    const [first, ...others] = valid;
    if (first !== undefined) return admitOnce(verification, presented, first, others);
    if (best === undefined) throw new Error('a request without signatures was verified');
    return best.verdict();
  }
  return andThen(findHolder(verification.context.accounts, candidate.keyid), (holder) => {
    const checked = checkCandidate(verification, presented, candidate, holder) ?? {
      passed: 0,
      verdict: (): Answer => refuseSignature(verification, presented, candidate, holder),
    };
    if ('verdict' in checked) {
      const next = best === undefined || checked.passed > best.passed ? checked : best;
      return verifyFrom(verification, presented, remaining, { valid, best: next });
    }
    if (valid.length === 0) rememberComponents(verification, presented, candidate);
    return verifyFrom(verification, presented, remaining, { valid: [...valid, checked], best });
  });
}

function rememberComponents(
  { known }: Verification,
  { request }: Presented,
  { signature, components }: ParsedCandidate,
): void {
  known.remember(request.fields.get('signature-input') ?? '', signature, components);
}

/** Checks a candidate up to its nonce. Returns undefined if no key of the holder verifies it. */
function checkCandidate(
  verification: Verification,
  presented: Presented,
  candidate: Candidate,
  holder: Holder | undefined,
): Valid | Refusal | undefined {
  const { context } = verification;
  const now = context.clock.now();
  const key = matchingKey(verification.verifiers, candidate, holder, now);
  if (key === undefined || holder === undefined) return undefined;
  const { alg } = candidate.parameters;
  if (alg !== undefined && alg !== key.algorithm) {
    const hint = `the parameter alg is "${alg}", but the key with this id is for ${key.algorithm}`;
    return refusal(1, verification, presented, 'alg', 'credentials-refused', wrongSignature, { hint });
  }
  const stale = dateFault(verification, presented, candidate, now);
  if (stale !== undefined) return stale;
  const principal: Principal = { name: holder.account.name, scheme: verification.name };
  return { principal, claim: nonceOf(verification, candidate, holder) };
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

/** Claims the nonces of all valid signatures, and admits the request by the first one if all are fresh. */
function admitOnce(
  verification: Verification,
  presented: Presented,
  first: Valid,
  others: readonly Valid[],
): Answer {
  if (others.length === 0) return admit(verification, presented, first);
  const claims = claimsOf([first, ...others]);
  const own = first.claim === undefined ? undefined : claims.get(nonceKey(first.claim));
  const { nonces } = verification.context;
  const claimFrom = ([other, ...remaining]: readonly HeldNonce[]): Answer => {
    if (other === undefined)
      return andThen(nonces.kept(false), () => admit(verification, presented, { ...first, claim: own }));
    const now = verification.context.clock.now();
    return andThen(nonces.claim(other.user, other.nonce, other.until, now), (claimed) =>
      claimed === 'fresh'
        ? claimFrom(remaining)
        : nonceRefusal(verification, presented, claimed, now).verdict(),
    );
  };
  return claimFrom([...claims.values()].filter((claim) => claim !== own));
}

/** Returns the nonces of signatures, each once, until the last time at which one of its signatures could be accepted. */
function claimsOf(valid: readonly Valid[]): ReadonlyMap<string, HeldNonce> {
  const claims = new Map<string, HeldNonce>();
  for (const { claim } of valid) {
    if (claim === undefined) continue;
    const same = claims.get(nonceKey(claim));
    if (same === undefined || same.until < claim.until) claims.set(nonceKey(claim), claim);
  }
  return claims;
}

/** Returns a text that is different for every user and nonce: a user name has no colon. */
function nonceKey({ user, nonce }: HeldNonce): string {
  return `${user}:${nonce}`;
}

/** Claims the nonce of a valid signature, and admits the request if it is fresh. */
function admit(verification: Verification, presented: Presented, { principal, claim }: Valid): Answer {
  const { nonces, clock } = verification.context;
  const { request, authTrace, deferrable } = presented;
  if (claim === undefined) {
    for (const check of checksBeforeNonce) authTrace?.pass(check);
    return { outcome: 'good', principal };
  }
  const now = clock.now();
  const { user, nonce, until } = claim;
  return andThen(nonces.claim(user, nonce, until, now, deferrable), (claimed) => {
    if (claimed !== 'fresh') return nonceRefusal(verification, presented, claimed, now).verdict();
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
      hint === undefined
        ? traced
        : { ...traced, hint: holder === undefined ? `${traced['hint']}; ${hint}` : hint },
    );
    return refused(context.explain ? { check: 'signature', ...shown } : {});
  });
}
