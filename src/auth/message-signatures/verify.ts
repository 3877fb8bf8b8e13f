import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { andThen } from '../../maybe-promise.ts';
import type { Principal } from '../../principal.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import {
  type MessageSignature,
  parseSignatures,
} from '../../signature/message-signatures/signature-fields.ts';
import { admitClaimed } from '../freshness.ts';
import type { Verdict } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { AuthenticationTrace, TraceDetails } from '../trace.ts';
import {
  bad,
  dateFault,
  nonceFault,
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
export type Verify = (request: Request, authTrace?: AuthenticationTrace) => Verdict | Promise<Verdict>;

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
  return (request, authTrace) =>
    verifyKnown(verification, request, authTrace) ?? verifyWhole(verification, request, authTrace);
}

/**
 * Verifies a signature with known components. Returns undefined if there is none, or it is refused before its date is checked:
 * then it is verified as a whole.
 */
function verifyKnown(
  verification: Verification,
  request: Request,
  authTrace: AuthenticationTrace | undefined,
): Verdict | Promise<Verdict> | undefined {
  const { fields } = request;
  const known = verification.known.find(fields.get('signature-input'), fields.get('signature'));
  if (known === undefined) return undefined;
  const message = messageOf(request);
  const candidate = verification.requirements.judgeKnown(known, message, carriesContent(request));
  if (candidate === undefined) return undefined;
  const presented = { request, message, claimed: candidate.keyid, authTrace };
  const holder = findHolder(verification.context.accounts, candidate.keyid);
  if (holder instanceof Promise)
    return holder.then(
      (found) =>
        judgeAtOnce(verification, presented, candidate, found) ??
        verifyWhole(verification, request, authTrace),
    );
  return judgeAtOnce(verification, presented, candidate, holder);
}

function judgeAtOnce(
  verification: Verification,
  presented: Presented,
  candidate: Candidate,
  holder: Holder | undefined,
): Verdict | Promise<Verdict> | undefined {
  const result = verifyCandidate(verification, presented, candidate, holder);
  return result !== undefined && 'passed' in result ? result.verdict() : result;
}

/** Parses and verifies all signatures. */
function verifyWhole(
  verification: Verification,
  request: Request,
  authTrace: AuthenticationTrace | undefined,
): Verdict | Promise<Verdict> {
  const { fields } = request;
  const signatures = parseSignatures(fields.get('signature-input'), fields.get('signature'));
  if (typeof signatures === 'string') return malformed(signatures, verification.context, authTrace);
  return verifySignatures(verification, request, signatures, authTrace);
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
  request: Request,
  signatures: readonly MessageSignature[],
  authTrace: AuthenticationTrace | undefined,
): Verdict | Promise<Verdict> {
  const { requirements } = verification;
  const message = messageOf(request);
  const presented = { request, message, claimed: signatures[0]?.parameters.keyid, authTrace };
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
  return verifyFrom(verification, presented, candidates, 0, undefined);
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
): Verdict | Promise<Verdict> {
  const candidate = candidates[index];
  if (candidate === undefined) {
    if (best === undefined) throw new Error('a request without signatures was verified');
    return best.verdict();
  }
  return andThen(findHolder(verification.context.accounts, candidate.keyid), (holder) => {
    const result = verifyCandidate(verification, presented, candidate, holder) ?? {
      passed: 0,
      verdict: () => refuseSignature(verification, presented, candidate, holder),
    };
    if (!('passed' in result)) {
      rememberComponents(verification, presented, candidate);
      return result;
    }
    const next = best === undefined || result.passed > best.passed ? result : best;
    return verifyFrom(verification, presented, candidates, index + 1, next);
  });
}

function rememberComponents(
  { known }: Verification,
  { request }: Presented,
  { signature, components }: ParsedCandidate,
): void {
  known.remember(request.fields.get('signature-input') ?? '', signature, components);
}

/** Returns a verdict or a refusal; undefined if no key of the holder verifies the signature. */
function verifyCandidate(
  verification: Verification,
  presented: Presented,
  candidate: Candidate,
  holder: Holder | undefined,
): Verdict | Promise<Verdict> | Refusal | undefined {
  const { context } = verification;
  const now = context.clock.now();
  const key = matchingKey(verification.verifiers, candidate, holder, now);
  if (key === undefined || holder === undefined) return undefined;
  const { alg } = candidate.parameters;
  if (alg !== undefined && alg !== key.algorithm) {
    const hint = `the parameter alg is "${alg}", but the key with this id is for ${key.algorithm}`;
    return refusal(1, verification, presented, 'alg', 'credentials-refused', wrongSignature, { hint });
  }
  const fault =
    dateFault(verification, presented, candidate, now) ??
    nonceFault(verification, presented, candidate, holder, now);
  if (fault !== undefined) return fault;
  return accept(verification, presented, candidate, holder);
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

function accept(
  { name, options, context }: Verification,
  { request, authTrace }: Presented,
  { parameters }: Candidate,
  { account }: Holder,
): Verdict | Promise<Verdict> {
  const isClaimed = parameters.nonce !== undefined && options.nonce !== 'off';
  if (authTrace !== undefined) {
    const passed = ['parse', 'user', 'signature', 'date', ...(isClaimed ? ['nonce'] : [])];
    for (const check of passed) authTrace.pass(check);
  }
  const principal: Principal = { name: account.name, scheme: name };
  return isClaimed ? admitClaimed(principal, request.method, context.nonces) : { outcome: 'good', principal };
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
  return import('./explain.ts').then(({ explainSignature }) => {
    const { shown, traced } = explainSignature({ message, candidate, holder, verifiers });
    authTrace?.pass('parse');
    if (holder !== undefined) authTrace?.pass('user');
    authTrace?.fail(holder === undefined ? 'user' : 'signature', traced);
    return refused(context.explain ? { check: 'signature', ...shown } : {});
  });
}
