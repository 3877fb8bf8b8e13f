import type { Problem } from '../../http/problem.ts';
import { andThen } from '../../maybe-promise.ts';
import type { Principal } from '../../principal.ts';
import {
  canonicalText,
  emptyHash,
  hashContent,
  stringToSign,
} from '../../signature/aws4/canonical-request.ts';
import { createFieldParser } from '../../signature/aws4/credentials.ts';
import { createStampParser } from '../../signature/aws4/date.ts';
import { scopeText } from '../../signature/aws4/signing-key.ts';
import { ExplanationBudget } from '../explanation.ts';
import { admitOnce } from '../freshness.ts';
import { noRoomForNonce, type RefusedNonce } from '../nonce-claim.ts';
import type { BadVerdict, Scheme, Verdict } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { AuthenticationTrace, TraceDetails } from '../trace.ts';
import { type Access, type CheckSignature, createSignatureCheck, findAccess } from './access.ts';
import { createProblemWriter } from './errors/problem-writer.ts';
import type { Facts, Reason, Refusal } from './errors/refusal.ts';
import type { Explained } from './explain.ts';
import { dateFault } from './freshness.ts';
import type { Aws4Options } from './options.ts';
import {
  type Attempt,
  type Presented,
  present,
  type Reader,
  type Texts,
  unsignedPayload,
} from './presented.ts';

/** The parts of a verifier. */
interface Verifier extends Reader {
  readonly name: string;
  readonly context: SchemeContext;
  readonly check: CheckSignature;
  readonly problemOf: (refusal: Refusal, now: number) => Problem;
}

type Answer = Verdict | Promise<Verdict>;

/** Creates the function that verifies requests. */
export function createVerifier(
  name: string,
  options: Aws4Options,
  context: SchemeContext,
): Scheme['authenticate'] {
  const [check, problemOf] = [createSignatureCheck(), createProblemWriter(options)];
  const parsers = { parseField: createFieldParser(), parseStamp: createStampParser() };
  const verifier: Verifier = { name, options, context, check, problemOf, ...parsers };
  return (request, rest, authTrace, deferrable = false) =>
    authenticate({ request, rest, authTrace, deferrable }, verifier);
}

function authenticate(attempt: Attempt, verifier: Verifier): Answer {
  const { context } = verifier;
  const { authTrace } = attempt;
  const now = context.clock.now();
  const presented = present(attempt, verifier, now);
  if ('reason' in presented) return refuseUnread(presented, now, verifier, authTrace);
  authTrace?.pass('parse');
  return andThen(findAccess(context.accounts, presented.credentials.accessKeyId), (access) =>
    presented.payloadHash === undefined
      ? verifyWithContent(presented, access, verifier)
      : verifySignature(presented, textsOf(presented, presented.payloadHash), access, verifier),
  );
}

/** Refuses a request whose header section alone shows the reason. */
function refuseUnread(
  refusal: Refusal,
  now: number,
  { context, problemOf }: Verifier,
  authTrace: AuthenticationTrace | undefined,
): Verdict {
  const check = refusal.reason === 'region' || refusal.reason === 'service' ? 'scope' : 'grammar';
  authTrace?.fail(check === 'scope' ? check : 'parse', { hint: refusal.detail });
  const problem = problemOf({ ...refusal, members: context.explain ? { check } : {} }, now);
  const claimed = refusal.facts.accessKeyId;
  return claimed === undefined ? { outcome: 'bad', problem } : { outcome: 'bad', problem, claimed };
}

/** Verifies a signature that covers a hash which only the content shows. The content is not read if the date is refused. */
function verifyWithContent(presented: Presented, access: Access | undefined, verifier: Verifier): Answer {
  const { clock, bodyLimit, notBefore } = verifier.context;
  const now = clock.now();
  const fault = dateFault(presented, now, verifier.options, notBefore);
  if (fault !== undefined) return refuse({ presented, now, ...fault }, verifier);
  return presented.request.body
    .hold(bodyLimit)
    .then((content) =>
      verifySignature(presented, textsOf(presented, hashContent(content)), access, verifier),
    );
}

function textsOf(
  { request, path, query, headers, stamp, credentials }: Presented,
  payloadHash: string,
): Texts {
  const canonical = { method: request.method, path, query, headers, payloadHash };
  const canonicalRequest = canonicalText(canonical);
  const text = stringToSign(stamp, scopeText(credentials.scope), canonicalRequest);
  return { canonical, canonicalRequest, stringToSign: text };
}

/** Checks signature, date, content and replay, in this order. */
function verifySignature(
  presented: Presented,
  texts: Texts,
  access: Access | undefined,
  verifier: Verifier,
): Answer {
  const { credentials, authTrace } = presented;
  const { clock, notBefore } = verifier.context;
  const now = clock.now();
  const checked = verifier.check(credentials, texts.stringToSign, access?.secrets ?? [], now);
  if (access === undefined) return refuseSignature(presented, texts, undefined, 'unknown-key', verifier);
  if (checked !== 'good') {
    const reason = checked === 'expired' ? 'expired-key' : 'signature';
    return refuseSignature(presented, texts, access, reason, verifier);
  }
  authTrace?.pass('user');
  authTrace?.pass('signature');
  const fault = dateFault(presented, now, verifier.options, notBefore);
  if (fault !== undefined)
    return refuse(
      { presented, now, ...fault, details: { ...signedTexts(texts), ...fault.details } },
      verifier,
    );
  authTrace?.pass('date');
  return verifyContent(presented, texts, access, verifier);
}

/** Compares the content with the signed hash, unless that was computed from the content. Content that is not signed is not read. */
function verifyContent(presented: Presented, texts: Texts, access: Access, verifier: Verifier): Answer {
  const { request, payloadHash, hasContent } = presented;
  const admitted = (): Answer => admit(presented, texts, access, verifier);
  if (payloadHash === undefined || payloadHash === unsignedPayload) return admitted();
  if (hasContent) {
    return request.body.hold(verifier.context.bodyLimit).then((content) => {
      if (hashContent(content) !== payloadHash) return refuseContent(presented, texts, content, verifier);
      presented.authTrace?.pass('content');
      return admitted();
    });
  }
  return payloadHash === emptyHash
    ? admitted()
    : refuseContent(presented, texts, new Uint8Array(0), verifier);
}

async function refuseContent(
  presented: Presented,
  texts: Texts,
  content: Uint8Array,
  verifier: Verifier,
): Promise<Verdict> {
  const sentHash = texts.canonical.payloadHash;
  const details: TraceDetails = isExplained(presented, verifier)
    ? { ...signedTexts(texts), ...(await import('./mistakes/content.ts')).explainContent(content, sentHash) }
    : {};
  const detail = 'The content does not have the SHA-256 in X-Amz-Content-Sha256.';
  const facts = { ...texts, sentHash, computedHash: hashContent(content) };
  const now = verifier.context.clock.now();
  return refuse({ presented, reason: 'payload-mismatch', detail, now, details, facts }, verifier);
}

/** Claims the signature if replays are refused, and returns the principal. */
function admit(presented: Presented, texts: Texts, { account }: Access, verifier: Verifier): Answer {
  const principal: Principal = { name: account.name, scheme: verifier.name };
  if (verifier.options.replay === 'allow') return { outcome: 'good', principal };
  return claimNonce(presented, texts, principal, verifier);
}

/** Claims the signature as a nonce, until the request cannot be accepted any more. */
function claimNonce(presented: Presented, texts: Texts, principal: Principal, verifier: Verifier): Answer {
  const { credentials, time, expires, request, authTrace, deferrable } = presented;
  const { nonces, clock, nonceWindow } = verifier.context;
  const now = clock.now();
  const until = time + (expires === undefined ? nonceWindow : expires * 1000) + 999;
  const claim = { user: principal.name, nonce: credentials.signature, until };
  const refuseClaim = (claimed: RefusedNonce): BadVerdict => {
    if (claimed === 'seen') {
      const detail = 'A request with this signature was already accepted.';
      return refuse({ presented, reason: 'replayed', detail, now, details: signedTexts(texts) }, verifier);
    }
    authTrace?.fail('nonce');
    const problem = noRoomForNonce(claimed, verifier.options.window, now);
    return { outcome: 'bad', problem, claimed: principal.name };
  };
  const { method } = request;
  return admitOnce({ principal, method, claim, deferrable, authTrace, refuse: refuseClaim }, now, nonces);
}

function isExplained({ authTrace }: Presented, { context }: Verifier): boolean {
  return context.explain || authTrace !== undefined;
}

function signedTexts({ canonicalRequest, stringToSign: text }: Texts): TraceDetails {
  return { canonicalRequest, stringToSign: text };
}

const checkOf: Partial<Record<Reason, string>> = {
  'payload-mismatch': 'content',
  'unknown-key': 'signature',
  'expired-key': 'signature',
  signature: 'signature',
  replayed: 'nonce',
};

/** A request that is refused after its credentials were read. */
interface Refused {
  readonly presented: Presented;
  readonly reason: Reason;
  readonly detail: string;
  readonly now: number;
  /** The explanation, for the trace and with `explain` for the client. */
  readonly details?: TraceDetails;
  readonly facts?: Partial<Facts>;
}

function refuse(
  { presented, reason, detail, now, details = {}, facts = {} }: Refused,
  { context, problemOf }: Verifier,
): BadVerdict {
  const check = checkOf[reason] ?? 'date';
  presented.authTrace?.fail(check, details);
  return refusal(
    { presented, reason, detail, now, details: { check, ...details }, facts },
    context,
    problemOf,
  );
}

function refusal(
  { presented, reason, detail, now, details = {}, facts = {} }: Refused,
  { explain }: SchemeContext,
  problemOf: Verifier['problemOf'],
): BadVerdict {
  const { credentials, presigned, time, expires } = presented;
  const { accessKeyId, signature } = credentials;
  const all = { presigned, accessKeyId, signature, time, expires, ...facts };
  const problem = problemOf({ reason, detail, facts: all, members: explain ? details : {} }, now);
  return { outcome: 'bad', problem, claimed: accessKeyId };
}

/**
 * Refuses a wrong signature: explains it in full in the trace, and in the response without revealing whether the user exists. Errors
 * in the form of AWS reveal that, as those of AWS do.
 */
function refuseSignature(
  presented: Presented,
  texts: Texts,
  access: Access | undefined,
  reason: 'unknown-key' | 'expired-key' | 'signature',
  verifier: Verifier,
): Answer {
  const { context, problemOf } = verifier;
  const refused = {
    presented,
    reason,
    detail: 'The access key, the secret or the signed request is wrong.',
    now: context.clock.now(),
    facts: texts,
  };
  if (!isExplained(presented, verifier)) return refusal(refused, context, problemOf);
  return explained(presented, texts, access, context).then(({ traced, shown }) => {
    if (access !== undefined) presented.authTrace?.pass('user');
    presented.authTrace?.fail(access === undefined ? 'user' : 'signature', traced);
    return refusal({ ...refused, details: { check: 'signature', ...shown } }, context, problemOf);
  });
}

/** Explains a wrong signature. The content was read already if its hash is not in a header field. */
async function explained(
  presented: Presented,
  texts: Texts,
  access: Access | undefined,
  { bodyLimit, clock }: SchemeContext,
): Promise<Explained> {
  const { request, payloadHash } = presented;
  const content = payloadHash === undefined ? await request.body.hold(bodyLimit) : undefined;
  const { explainSignature } = await import('./explain.ts');
  const budget = new ExplanationBudget(clock, presented.authTrace);
  return explainSignature(presented, texts, access?.secrets, content, budget);
}
