import { createHash } from 'node:crypto';
import { oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import { type AuthenticationTrace, explanationMembers } from '../../auth/trace.ts';
import type { Request } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import type { HeldNonce } from '../../principal.ts';
import { baseStringOf, type OAuth1Method, type OAuth1Request } from '../../signature/oauth1.ts';
import type { Consumer, Registry } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import { type Found, isIssuedTo, isLive } from '../grants.ts';
import { type Reason, tokenReason } from '../reasons.ts';
import { createNonceClaims } from './nonces.ts';
import type { OAuth1Parameters } from './parameters.ts';
import { withReason } from './reason.ts';
import { checkNames, checkRequired, checkVersion, type SignedFor } from './required-parameters.ts';
import { createTokenSecrets, type SecretKind } from './secrets.ts';
import { createSignatureCheck } from './signature-check.ts';
import type { WrongSignature } from './signature-mistakes.ts';

/** A request whose signature is valid and whose nonce is fresh. */
export interface Verified {
  readonly consumer: Consumer;
  /** The token that it is signed with; undefined without a token. */
  readonly found: Found | undefined;
  readonly parameters: OAuth1Parameters;
  /** The nonce, if it is to be stored in one write with the change of the request. */
  readonly nonce: HeldNonce | undefined;
}

/** The checks of a signed request, in this order. */
export const checks = [
  'parse',
  'version',
  'presence',
  'method',
  'timestamp',
  'signature',
  'token',
  'content',
  'nonce',
] as const;

/**
 * Verifies signed requests (RFC 5849 §3.2). Rejects with a Problem. With `deferrable`, the nonce may be claimed with the change of
 * the request.
 */
export type Verify = (
  request: Request,
  parameters: OAuth1Parameters,
  signedFor: SignedFor,
  authTrace?: AuthenticationTrace,
  deferrable?: boolean,
) => Promise<Verified>;

const methods: readonly OAuth1Method[] = ['HMAC-SHA256', 'HMAC-SHA1', 'PLAINTEXT', 'RSA-SHA1'];

/**
 * Creates the function that verifies signed requests, in the order of `checks`. Checks before the signature do not depend on the
 * consumer, and an unknown consumer takes the same time as a registered one.
 */
export function createVerification(context: OAuthContext): Verify {
  const { consumers, grants } = context;
  const verifySignature = createSignatureVerification(context);
  const claimNonce = createNonceClaims(context);

  return async (request, parameters, signedFor, authTrace, deferrable = false) => {
    checkNames(parameters, signedFor);
    authTrace?.pass('parse');
    checkVersion(parameters);
    authTrace?.pass('version');
    checkRequired(parameters, signedFor);
    authTrace?.pass('presence');
    const method = readMethod(parameters, consumers);
    authTrace?.pass('method');
    const timestamp = readTimestamp(textOf(parameters, 'oauth_timestamp'), context, authTrace);
    authTrace?.pass('timestamp');
    const token = textOf(parameters, 'oauth_token');
    const kind: SecretKind = signedFor === 'resource' ? 'access' : 'request';
    const signer = verifySignature({ request, parameters, method, kind }, authTrace);
    const consumer = signer instanceof Promise ? await signer : signer;
    authTrace?.pass('signature');
    const found = token === '' ? undefined : await grants.find(token, 'oauth1', kind);
    if (token !== '') await checkToken(found, consumer, context, authTrace);
    authTrace?.pass('token');
    await checkBodyHash(request, parameters, method, context.bodyLimit);
    authTrace?.pass('content');
    const claimed = claimNonce(parameters, timestamp, signedFor, deferrable);
    const nonce = claimed instanceof Promise ? await claimed : claimed;
    authTrace?.pass('nonce');
    return { consumer, found, parameters, nonce };
  };
}

/** Returns the value of a protocol parameter; empty if it was not sent. */
function textOf({ protocol }: OAuth1Parameters, name: string): string {
  return protocol.get(name) ?? '';
}

/** Returns the signature method. Throws a Problem if no consumer may use it. */
function readMethod(parameters: OAuth1Parameters, consumers: Registry<Consumer>): OAuth1Method {
  const method = methods.find((each) => each === textOf(parameters, 'oauth_signature_method'));
  if (method === undefined || !consumers.some((one) => one.methods.includes(method))) throw methodRejected();
  return method;
}

/** A request whose signature is to be verified. */
interface SignedRequest {
  readonly request: Request;
  readonly parameters: OAuth1Parameters;
  readonly method: OAuth1Method;
  /** The kind of its token, if it has one. */
  readonly kind: SecretKind;
}

/**
 * Creates the function that returns the consumer that signed. It rejects with a Problem if the signature is wrong, and throws one if
 * the method is not allowed.
 */
function createSignatureVerification({ random, masterKey, consumers, origins, explain }: OAuthContext) {
  const secretOf = createTokenSecrets(masterKey);
  const isSigned = createSignatureCheck(random);

  return (
    { request, parameters, method, kind }: SignedRequest,
    authTrace: AuthenticationTrace | undefined,
  ): Consumer | Promise<never> => {
    const consumerKey = textOf(parameters, 'oauth_consumer_key');
    const consumer = consumers.find(consumerKey);
    const token = textOf(parameters, 'oauth_token');
    const tokenSecret = token === '' ? '' : secretOf(kind, token);
    const signed = signedBy(request, parameters, origins.asAddressed(request));
    const baseString = method === 'PLAINTEXT' ? '' : baseStringOf(signed);
    const signature = textOf(parameters, 'oauth_signature');
    if (!isSigned({ method, baseString, consumer, tokenSecret, signature }) || consumer === undefined) {
      const otherTokenSecret = token === '' ? '' : secretOf(kind === 'access' ? 'request' : 'access', token);
      const wrong = {
        request,
        method,
        signed,
        signature,
        consumer,
        consumerKey,
        tokenSecret,
        otherTokenSecret,
      };
      return refuseSignature(wrong, baseString, explain, authTrace);
    }
    // Only a consumer with a valid signature learns that it may not use this method.
    if (!consumer.methods.includes(method)) throw methodRejected();
    return consumer;
  };
}

/**
 * Rejects with the Problem of a wrong signature. Explains it in the trace and, with `explain`, in the Problem. Only the trace of a
 * test double tries the secrets of other consumers. The mistakes are loaded on first use.
 */
async function refuseSignature(
  wrong: WrongSignature,
  baseString: string,
  explain: boolean,
  authTrace: AuthenticationTrace | undefined,
): Promise<never> {
  if (!explain && authTrace === undefined) throw signatureInvalid({});
  const { explainOAuth1WithKnowledge, explainSignature } = await import('./signature-mistakes.ts');
  const explanation = explainSignature(wrong);
  const known = explainOAuth1WithKnowledge(wrong, authTrace?.knowledge?.secrets() ?? []);
  authTrace?.fail('signature', {
    ...(baseString === '' ? {} : { message: baseString }),
    ...(known === undefined ? {} : { hint: known }),
    ...explanationMembers(explanation),
  });
  if (!explain) throw signatureInvalid({});
  const { hint } = explanation;
  // The advice contains all parts.
  throw signatureInvalid({
    ...(baseString === '' ? {} : { oauth_problem_advice: baseString }),
    ...(hint === undefined ? {} : { hint }),
  });
}

function methodRejected(): Problem {
  return oauth1Error('signature_method_rejected', 'The signature method is not supported here.');
}

/** Returns what the signature of a request covers. */
function signedBy({ method, target }: Request, { signed }: OAuth1Parameters, origin: string): OAuth1Request {
  // The absolute form (RFC 9112 §3.2.2) has the path after the authority.
  const path = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/\?.*$/s, '');
  return { method, origin, path, parameters: signed };
}

function signatureInvalid(members: Problem['members']): Problem {
  const detail = 'The consumer, its secret, the token secret or the signed base string is wrong.';
  return oauth1Error('signature_invalid', detail, members);
}

/** Returns the timestamp (ms); undefined if none was sent. Throws a Problem if it is malformed or outside the window. */
function readTimestamp(
  sent: string,
  { clock, lifetimes, notBefore = Number.NEGATIVE_INFINITY, explain }: OAuthContext,
  authTrace: AuthenticationTrace | undefined,
): number | undefined {
  if (sent === '') return undefined;
  // RFC 5849 §3.3: a positive integer.
  if (!/^[1-9][0-9]{0,11}$/.test(sent))
    throw rejectedParameters('oauth_timestamp must be a positive number of seconds since 1970.', [
      'oauth_timestamp',
    ]);
  const time = Number(sent) * 1000;
  const now = wholeSecond(clock.now());
  const first = Math.max(now - lifetimes.oauth1Window, wholeSecond(notBefore));
  const last = now + lifetimes.oauth1Window;
  if (time >= first && time <= last) return time;
  const problem = oauth1Error(
    'timestamp_refused',
    'The timestamp is too far from the clock of the server, or before its start.',
    { oauth_acceptable_timestamps: `${Math.ceil(first / 1000)}-${Math.floor(last / 1000)}` },
  );
  const hint = timestampHint((time - now) / 1000, lifetimes.oauth1Window / 1000);
  throw withReason(problem, { check: 'timestamp', hint }, explain, authTrace);
}

/** Returns how many seconds a timestamp is off, and in which direction. */
function timestampHint(off: number, window: number): string {
  const distance = `the timestamp is ${Math.abs(off)} s ${off < 0 ? 'behind' : 'ahead of'} the server's clock`;
  if (Math.abs(off) <= window) return `${distance}, before the start of the server`;
  const unit = off > window * 1000 ? ' (milliseconds instead of seconds?)' : '';
  return `${distance}; the maximum is ${window} s${unit}`;
}

function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Throws a Problem (401) if the token is not valid. Only a consumer that signed with the token secret learns its state. */
async function checkToken(
  found: Found | undefined,
  consumer: Consumer,
  context: OAuthContext,
  authTrace: AuthenticationTrace | undefined,
): Promise<void> {
  const problem = await tokenProblem(found, consumer, context);
  if (problem === undefined) return;
  throw withReason(problem, await reasonOfToken(found, consumer, context), context.explain, authTrace);
}

async function tokenProblem(
  found: Found | undefined,
  consumer: Consumer,
  { accounts, clock }: OAuthContext,
): Promise<Problem | undefined> {
  if (found === undefined || found.token.client !== consumer.key || !isIssuedTo(found, consumer))
    return oauth1Error('token_rejected', 'The token does not belong to this consumer.');
  const { token, grant } = found;
  if (token.used) return oauth1Error('token_used', 'The token has already been used.');
  if (grant?.revoked === true) return oauth1Error('token_revoked', 'The token was revoked.');
  if (!isLive(found, clock.now())) return oauth1Error('token_expired', 'The token has expired.');
  if (token.user === undefined) return undefined;
  const account = await accounts.find(token.user);
  // A request token may be older than the user that authorized it.
  const isValid = account !== undefined && (token.kind === 'request' || isIssuedTo(found, account));
  return isValid
    ? undefined
    : oauth1Error('token_rejected', 'The user of the token was removed or disabled.');
}

async function reasonOfToken(
  found: Found | undefined,
  consumer: Consumer,
  { accounts, clock }: OAuthContext,
): Promise<Reason> {
  if (found === undefined)
    return { check: 'token', hint: 'the token is unknown, of another kind, or was deleted after it expired' };
  if (found.token.client !== consumer.key)
    return { check: 'token', hint: `the token was issued to another consumer, not to ${consumer.key}` };
  const reason = await tokenReason(found, { accounts, now: clock.now(), owner: consumer });
  return reason ?? { check: 'token', hint: 'the token is not valid' };
}

/** Throws a Problem (400) if oauth_body_hash does not match the content (OAuth Request Body Hash 1.0 §4). */
async function checkBodyHash(
  { body }: Request,
  { protocol, signsForm }: OAuth1Parameters,
  method: OAuth1Method,
  limit: number,
): Promise<void> {
  const sent = protocol.get('oauth_body_hash');
  if (sent === undefined) return;
  // §4.1.1: a form is signed by its parameters, without a hash.
  if (signsForm) throw rejectedParameters('oauth_body_hash is not allowed with a form.', ['oauth_body_hash']);
  const content = body.present ? await body.hold(limit) : new Uint8Array();
  const hashes = hashesOf(method).map((hash) => createHash(hash).update(content).digest('base64'));
  if (!hashes.includes(sent))
    throw rejectedParameters('oauth_body_hash does not match the content.', ['oauth_body_hash']);
}

/** Returns the hash algorithms accepted with a method: its own, and SHA-1, which many clients send with every method. */
function hashesOf(method: OAuth1Method): readonly string[] {
  return method === 'HMAC-SHA256' ? ['sha256', 'sha1'] : ['sha1'];
}
