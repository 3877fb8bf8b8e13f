import { createHash, type KeyObject, verify as verifySignature } from 'node:crypto';
import { hasTooManyParameters, holdForm, maxFormParameters } from '../../http/form.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { andThen } from '../../maybe-promise.ts';
import { sortedForm } from '../../signature/declared/form.ts';
import { createDeclaredKey, type DeclaredKey, isSameDigest, keyBytes } from '../../signature/declared/key.ts';
import {
  type MessageSource,
  messageBytes,
  messagePieces,
  type Piece,
  takeParameter,
} from '../../signature/declared/message.ts';
import type { SigningKey } from '../../signature/hmac.ts';
import { ExplanationBudget } from '../explanation.ts';
import { admitOnce, type NonceUse } from '../freshness.ts';
import { createKeyHolders, derivedOnce, isCurrent, type KeyHolder } from '../named-user.ts';
import type { Scheme, Verdict } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { AuthenticationTrace, TraceDetails } from '../trace.ts';
import { createDecoyKey } from './decoy-key.ts';
import { checkTime, endOf, refusedOnce } from './freshness.ts';
import type { DeclaredOptions } from './options.ts';
import { planOf } from './plan.ts';
import {
  hasSignedForm,
  type Malformed,
  malformedProblem,
  noContent,
  type Presented,
  present,
  type Sources,
  sourcesOf,
} from './presented.ts';

/** Minimum number of keys that a refusal tries: a user usually has at most two. */
const minKeys = 2;

/** The parts that a verification uses. */
interface Verification {
  readonly name: string;
  readonly options: DeclaredOptions;
  readonly context: SchemeContext;
  readonly keyOf: (key: SigningKey) => { readonly prepared: DeclaredKey | undefined };
  /** Used in place of a missing key, so that every refusal takes the same time. It is never valid. */
  readonly decoy: DeclaredKey;
  /** The same for Ed25519. */
  readonly decoyPublicKey: () => KeyObject;
}

/** The credentials of one request, and what they are compared with. */
interface Attempt {
  readonly request: Request;
  readonly presented: Presented;
  readonly sources: Sources;
  readonly authTrace: AuthenticationTrace | undefined;
  /** Whether the nonce may be claimed with the change of the request. */
  readonly deferrable: boolean;
}

/**
 * Creates the verification of a declared scheme. Checks in this order: grammar, user and signature, digest of the content, time,
 * nonce. If the message contains the content, the time is checked first, so that the content of a stale request is not read.
 */
export function createVerification(
  name: string,
  options: DeclaredOptions,
  context: SchemeContext,
): Scheme['authenticate'] {
  const decoy = createDeclaredKey(Buffer.from('no one has this secret'), options.hash);
  const keyOf = derivedOnce((secret) => {
    const bytes = keyBytes(secret, options);
    return { prepared: bytes === undefined ? undefined : createDeclaredKey(bytes, options.hash) };
  });
  const verification: Verification = {
    name,
    options,
    context,
    keyOf,
    decoy,
    decoyPublicKey: createDecoyKey(),
  };
  const holders = createKeyHolders(context.accounts);
  const plan = planOf(options);
  const needsContent = plan.needs.content;

  return (request, rest, authTrace, deferrable = false) => {
    const presented = present(request, rest, options, plan);
    if ('detail' in presented) return malformed(presented, verification, authTrace);
    if (needsContent) {
      const stale = judgeTime(presented, verification, authTrace);
      if (stale !== undefined) return stale;
    }
    const proceed = (content: Uint8Array): Verdict | Promise<Verdict> => {
      const sources = sourcesOf(request, presented, content, options, plan);
      const unprotected = plan.needs.form ? contentFault(sources[0], options) : undefined;
      if (unprotected !== undefined) return malformed(unprotected, verification, authTrace);
      const attempt = { request, presented, sources, authTrace, deferrable };
      return andThen(holders.find(presented.user), (holder) => judge(attempt, holder, verification));
    };
    if (!needsContent || !request.body.present) return proceed(noContent);
    const isForm = plan.needs.form && hasSignedForm(request, presented.target, options);
    const content = isForm ? holdForm(request, context.bodyLimit) : request.body.hold(context.bodyLimit);
    return content.then(proceed);
  };
}

function malformed(
  fault: Malformed,
  { context }: Verification,
  authTrace: AuthenticationTrace | undefined,
): Verdict {
  const { hint } = fault;
  authTrace?.fail('parse', hint === undefined ? { detail: fault.detail } : { detail: fault.detail, hint });
  return { outcome: 'bad', problem: malformedProblem(fault, context.explain) };
}

/** Returns a fault if the signature covers the content only as a form, and it is not one, or if the form cannot be parsed. */
function contentFault(
  source: MessageSource,
  { message, digestParameter }: DeclaredOptions,
): Malformed | undefined {
  if (source.content.length === 0) return undefined;
  const form = source.hasForm ? Buffer.from(source.content).toString('latin1') : undefined;
  // Counted before the form is decoded, because its sender is not authenticated yet.
  if (form !== undefined && hasTooManyParameters(form))
    return { detail: `A signed form can have at most ${maxFormParameters} parameters.` };
  if (message.some(({ kind }) => kind.startsWith('body'))) return undefined;
  if (digestParameter !== undefined && takeParameter(source.target, digestParameter).values.length === 1)
    return undefined;
  if (form !== undefined)
    return sortedForm(form) === undefined
      ? { detail: 'The form has a malformed escape, so the signature cannot cover it.' }
      : undefined;
  const further =
    digestParameter === undefined ? '' : `, or its SHA-256 in the query parameter ${digestParameter}`;
  return { detail: `The signature does not cover this content; it must be a form${further}.` };
}

/** Verifies signature, digest, time and nonce in one turn of the event loop. */
function judge(
  attempt: Attempt,
  holder: KeyHolder | undefined,
  verification: Verification,
): Verdict | Promise<Verdict> {
  const { presented, authTrace } = attempt;
  const { options, context } = verification;
  const now = context.clock.now();
  const messages: Piece[][] = [];
  for (const source of attempt.sources) messages.push(messagePieces(options.message, source));
  const isSigned =
    isSignedBySecret(presented, messages, holder, verification, now) ||
    isSignedByKey(presented, messages, holder, verification, now);
  if (!isSigned || holder === undefined) return refuseSignature(attempt, holder, verification);
  authTrace?.pass('parse');
  authTrace?.pass('user');
  authTrace?.pass('signature');
  const digestFault = contentDigestFault(attempt.sources[0], options);
  if (digestFault !== undefined) {
    authTrace?.fail('digest', { detail: digestFault });
    return refuse(presented, 'digest-mismatch', digestFault, {});
  }
  // Again if the content was read, which may have taken a while.
  const stale = judgeTime(presented, verification, authTrace);
  if (stale !== undefined) return stale;
  if (presented.time !== undefined) authTrace?.pass('date');
  return admit(attempt, holder, verification, now);
}

/** Claims the nonce, or the message in place of one, and admits the request if it is fresh. */
function admit(
  { request, presented, sources, authTrace, deferrable }: Attempt,
  { account }: KeyHolder,
  { name, options, context }: Verification,
  now: number,
): Verdict | Promise<Verdict> {
  const principal = { name: account.name, scheme: name };
  const { time } = presented;
  if (time === undefined || (options.nonce === undefined && options.replay === 'accept'))
    return { outcome: 'good', principal };
  const once = options.nonce === undefined ? messageDigest(sources[0], options) : presented.nonce;
  const use: NonceUse = {
    principal,
    method: request.method,
    // Schemes share nonces: a signature of one may be valid in another one with the same message.
    claim: { user: account.name, nonce: once, until: endOf(time, context, options) },
    deferrable,
    authTrace,
    refuse(claimed) {
      const problem = refusedOnce(claimed, now, options, context.explain);
      authTrace?.fail('nonce', problem.type === 'nonce-replayed' ? { detail: problem.detail } : {});
      return { outcome: 'bad', problem, claimed: presented.user };
    },
  };
  return admitOnce(use, now, context.nonces);
}

/**
 * Returns what identifies a request without a nonce. It is not the signature, because a list of several signatures can be sent
 * again without the one that was verified.
 */
function messageDigest(source: MessageSource, { message }: DeclaredOptions): string {
  return createHash('sha256')
    .update(messageBytes(messagePieces(message, source)))
    .digest('base64url');
}

/** Returns the verdict on a timestamp outside the window; undefined if it is inside, or none is declared. */
function judgeTime(
  presented: Presented,
  { options, context }: Verification,
  authTrace: AuthenticationTrace | undefined,
): Verdict | undefined {
  const stale = checkTime(presented, options, context);
  if (stale === undefined) return undefined;
  const { detail, hint } = stale;
  const details: TraceDetails = hint === undefined ? { detail } : { detail, hint };
  authTrace?.fail('date', details);
  const members = hint === undefined ? { check: 'date' } : { check: 'date', hint };
  return refuse(presented, 'date-out-of-window', detail, context.explain ? members : {});
}

function refuse({ user }: Presented, type: ProblemType, detail: string, members: TraceDetails): Verdict {
  return { outcome: 'bad', problem: new Problem(type, detail, { members }), claimed: user };
}

/**
 * Returns whether one of the currently valid secrets produces one of the digests. A refusal computes a digest with at least two
 * keys, for any number of secrets, valid or expired.
 */
function isSignedBySecret(
  { digests }: Presented,
  messages: readonly (readonly Piece[])[],
  holder: KeyHolder | undefined,
  { keyOf, decoy }: Verification,
  now: number,
): boolean {
  if (digests.length === 0) return false;
  const secrets = holder?.secrets ?? [];
  for (let at = 0; at < Math.max(secrets.length, minKeys); at += 1) {
    const secret = secrets[at];
    const key = secret === undefined ? undefined : keyOf(secret.key).prepared;
    for (const pieces of messages) {
      const isGiven = (key ?? decoy).signs(pieces, digests);
      if (isGiven && key !== undefined && secret !== undefined && isCurrent(secret, now)) return true;
    }
  }
  return false;
}

/** Like `isSignedBySecret`, for Ed25519. */
function isSignedByKey(
  { asymmetric }: Presented,
  [pieces = []]: readonly (readonly Piece[])[],
  holder: KeyHolder | undefined,
  { decoyPublicKey }: Verification,
  now: number,
): boolean {
  if (asymmetric.length === 0) return false;
  const keys = holder?.publicKeys ?? [];
  const message = messageBytes(pieces);
  for (let at = 0; at < Math.max(keys.length, minKeys); at += 1) {
    const own = keys[at];
    for (const signature of asymmetric) {
      const bytes = Buffer.from(signature, 'base64');
      const isValid = verifySignature(null, message, own?.key ?? decoyPublicKey(), bytes);
      if (isValid && own !== undefined && isCurrent(own, now)) return true;
    }
  }
  return false;
}

/** Returns an error message if the content does not have the digest that the signed target contains. */
function contentDigestFault(
  { target, content }: MessageSource,
  { digestParameter }: DeclaredOptions,
): string | undefined {
  if (digestParameter === undefined) return undefined;
  const { values } = takeParameter(target, digestParameter);
  const [given] = values;
  if (given === undefined) return undefined;
  const digest = createHash('sha256').update(content).digest('hex');
  // The lengths are compared by the digest of both, because the given one is not a secret.
  return values.length === 1 && isSameDigest(digest, given)
    ? undefined
    : `The content does not have the SHA-256 in the query parameter ${digestParameter}.`;
}

/**
 * Explains a wrong signature: in full in the trace, and in the response without revealing whether the user exists. The names of
 * the members, the time to compute them and, for a client without the secret, their values do not depend on the user.
 */
function refuseSignature(
  attempt: Attempt,
  holder: KeyHolder | undefined,
  { options, context }: Verification,
): Verdict | Promise<Verdict> {
  const { presented, authTrace } = attempt;
  const detail = 'The user, the secret or the signed message is wrong.';
  authTrace?.pass('parse');
  if (holder !== undefined) authTrace?.pass('user');
  if (!context.explain && authTrace === undefined)
    return refuse(presented, 'credentials-refused', detail, {});
  return import('./explain.ts').then(({ explainSignature, membersOf }) => {
    const secrets = holder?.secrets ?? [];
    const budget = new ExplanationBudget(context.clock, authTrace);
    const explanation = explainSignature(attempt.sources, presented, secrets, options, budget);
    const members = membersOf(explanation);
    if (holder === undefined) authTrace?.fail('user', members);
    else
      authTrace?.fail('signature', {
        ...members,
        hint: explanation.hint ?? hintFor(holder, presented, options),
      });
    const shown = { check: 'signature', ...members, hint: explanation.hint ?? otherUserOrSecret };
    return refuse(presented, 'credentials-refused', detail, context.explain ? shown : {});
  });
}

const otherSecret = 'the secret is different, or the message differs in a way that is not a common mistake';
const otherUserOrSecret = `the user does not exist, ${otherSecret}`;

/** Returns a hint for the trace, if no common mistake explains the signature. */
function hintFor(
  { secrets, publicKeys }: KeyHolder,
  { digests }: Presented,
  options: DeclaredOptions,
): string {
  if (digests.length === 0)
    return publicKeys.length === 0 ? 'the user has no Ed25519 key' : 'the private key is different';
  if (secrets.length === 0) return 'the user has no secret';
  const isReadable = secrets.some(({ key }) =>
    key.derive((secret) => keyBytes(secret, options) !== undefined),
  );
  return isReadable ? otherSecret : `the secret of the user is not in ${options.key}`;
}
