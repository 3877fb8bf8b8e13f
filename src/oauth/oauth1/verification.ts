import { createHash } from 'node:crypto';
import { oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import type { AuthenticationTrace } from '../../auth/trace.ts';
import type { Request } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import type { HeldNonce } from '../../principal.ts';
import { baseStringOf, type OAuth1Method } from '../../signature/oauth1.ts';
import type { Consumer, Registry } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import { type Found, isLive, isOf } from '../grants.ts';
import { createNonceClaims } from './nonces.ts';
import type { OAuth1Parameters } from './parameters.ts';
import { checkNames, checkRequired, checkVersion, type SignedFor } from './required-parameters.ts';
import { createTokenSecrets, type SecretKind } from './secrets.ts';
import { createSignatureCheck } from './signature-check.ts';

/** A request whose signature is valid and whose nonce is fresh. */
export interface Verified {
  readonly consumer: Consumer;
  /** The token that it is signed with; undefined where there is none to sign with yet. */
  readonly found: Found | undefined;
  readonly parameters: OAuth1Parameters;
  /** The nonce that it used, where it is to be kept in one write with what the request changes. */
  readonly nonce: HeldNonce | undefined;
}

/** What is asked of a signed request, in this order. */
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

/** Verifies signed requests (RFC 5849 §3.2). Rejects with a Problem. */
export type Verify = (
  request: Request,
  parameters: OAuth1Parameters,
  signedFor: SignedFor,
  authTrace?: AuthenticationTrace,
) => Promise<Verified>;

const methods: readonly OAuth1Method[] = ['HMAC-SHA256', 'HMAC-SHA1', 'PLAINTEXT', 'RSA-SHA1'];

/**
 * Makes the function that verifies signed requests, in the order of `checks`. Nothing before the signature depends on who signed,
 * and an unknown consumer costs what a known one does.
 */
export function createVerification(parts: OAuthContext): Verify {
  const { consumers, grants, clock } = parts;
  const judgeSignature = createSignatureJudgement(parts);
  const claimNonce = createNonceClaims(parts);

  return async (request, parameters, signedFor, authTrace) => {
    checkNames(parameters, signedFor);
    authTrace?.pass('parse');
    checkVersion(parameters);
    authTrace?.pass('version');
    checkRequired(parameters, signedFor);
    authTrace?.pass('presence');
    const method = judgeMethod(parameters, consumers);
    authTrace?.pass('method');
    const timestamp = judgeTimestamp(textOf(parameters, 'oauth_timestamp'), parts);
    authTrace?.pass('timestamp');
    const token = textOf(parameters, 'oauth_token');
    const kind: SecretKind = signedFor === 'resource' ? 'access' : 'request';
    const consumer = judgeSignature({ request, parameters, method, kind }, authTrace);
    authTrace?.pass('signature');
    const found = token === '' ? undefined : await grants.find(token, 'oauth1', kind);
    if (token !== '') await judgeToken(found, consumer, clock.now(), parts);
    authTrace?.pass('token');
    await judgeBodyHash(request, parameters, method, parts.bodyLimit);
    authTrace?.pass('content');
    const nonce = claimNonce(parameters, timestamp, signedFor);
    authTrace?.pass('nonce');
    return { consumer, found, parameters, nonce };
  };
}

/** The value of a parameter of the protocol; '' where it was not sent. */
function textOf({ protocol }: OAuth1Parameters, name: string): string {
  return protocol.get(name) ?? '';
}

/** Gives the signature method. Throws a Problem where no consumer may sign by it. */
function judgeMethod(parameters: OAuth1Parameters, consumers: Registry<Consumer>): OAuth1Method {
  const method = methods.find((each) => each === textOf(parameters, 'oauth_signature_method'));
  if (method === undefined || !consumers.some((one) => one.methods.includes(method))) throw methodRejected();
  return method;
}

/** What a signature is judged with. */
interface SignedRequest {
  readonly request: Request;
  readonly parameters: OAuth1Parameters;
  readonly method: OAuth1Method;
  /** What the token is, if there is one. */
  readonly kind: SecretKind;
}

/** Makes the function that gives the consumer who has signed. That throws a Problem where nobody has, or may by this method. */
function createSignatureJudgement({ random, masterKey, consumers, origins, explain }: OAuthContext) {
  const secretOf = createTokenSecrets(masterKey);
  const isSigned = createSignatureCheck(random);

  return (
    { request, parameters, method, kind }: SignedRequest,
    authTrace: AuthenticationTrace | undefined,
  ): Consumer => {
    const consumer = consumers.find(textOf(parameters, 'oauth_consumer_key'));
    const token = textOf(parameters, 'oauth_token');
    const tokenSecret = token === '' ? '' : secretOf(kind, token);
    const baseString =
      method === 'PLAINTEXT' ? '' : baseStringFor(request, parameters, origins.asAddressed(request));
    const signature = textOf(parameters, 'oauth_signature');
    if (!isSigned({ method, baseString, consumer, tokenSecret, signature }) || consumer === undefined) {
      authTrace?.fail('signature', baseString === '' ? {} : { message: baseString });
      throw signatureInvalid(explain, baseString);
    }
    // Only a consumer who has signed is told that it may not by this method.
    if (!consumer.methods.includes(method)) throw methodRejected();
    return consumer;
  };
}

function methodRejected(): Problem {
  return oauth1Error('signature_method_rejected', 'The signature method is not one that is taken here.');
}

function baseStringFor({ method, target }: Request, { signed }: OAuth1Parameters, origin: string): string {
  // The absolute form (RFC 9112 §3.2.2) has the path behind the authority.
  const path = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/\?.*$/s, '');
  return baseStringOf({ method, origin, path, parameters: signed });
}

function signatureInvalid(explain: boolean, baseString: string): Problem {
  const detail = 'Consumer, secrets and what was signed do not fit.';
  const advice = explain && baseString !== '' ? { oauth_problem_advice: baseString } : {};
  return oauth1Error('signature_invalid', detail, advice);
}

/** Gives the time that was sent (ms); undefined where none was. */
function judgeTimestamp(
  sent: string,
  { clock, lifetimes, notBefore = Number.NEGATIVE_INFINITY }: OAuthContext,
): number | undefined {
  if (sent === '') return undefined;
  // RFC 5849 §3.3: a positive integer.
  if (!/^[1-9][0-9]{0,11}$/.test(sent))
    throw rejectedParameters('The timestamp is not a number of seconds since 1970.', ['oauth_timestamp']);
  const time = Number(sent) * 1000;
  const now = wholeSecond(clock.now());
  const first = Math.max(now - lifetimes.oauth1Window, wholeSecond(notBefore));
  const last = now + lifetimes.oauth1Window;
  if (time >= first && time <= last) return time;
  throw oauth1Error(
    'timestamp_refused',
    'The timestamp is too far from the clock, or before this server began.',
    {
      oauth_acceptable_timestamps: `${Math.ceil(first / 1000)}-${Math.floor(last / 1000)}`,
    },
  );
}

function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Throws a Problem (401) on a token that may not be used: only a consumer who has signed with its secret learns its state. */
async function judgeToken(
  found: Found | undefined,
  consumer: Consumer,
  now: number,
  { accounts }: OAuthContext,
): Promise<void> {
  if (found === undefined || found.token.client !== consumer.key || !isOf(found, consumer))
    throw oauth1Error('token_rejected', 'The token is not one of this consumer.');
  const { token, grant } = found;
  if (token.used) throw oauth1Error('token_used', 'The token was used up.');
  if (grant?.revoked === true) throw oauth1Error('token_revoked', 'The token was revoked.');
  if (!isLive(found, now)) throw oauth1Error('token_expired', 'The token has expired.');
  if (token.user === undefined) return;
  const account = await accounts.find(token.user);
  // A request token may be older than the user who allowed it.
  const isTheirs = account !== undefined && (token.kind === 'request' || isOf(found, account));
  if (!isTheirs) throw oauth1Error('token_rejected', 'The user of the token is not there any more.');
}

/** Throws a Problem (400) where a hash of the content was sent (OAuth Request Body Hash 1.0 §4) that is not that of the content. */
async function judgeBodyHash(
  { body }: Request,
  { protocol, signsForm }: OAuth1Parameters,
  method: OAuth1Method,
  limit: number,
): Promise<void> {
  const sent = protocol.get('oauth_body_hash');
  if (sent === undefined) return;
  // §4.1.1: a form is signed itself.
  if (signsForm) throw rejectedParameters('A form is signed without a hash of it.', ['oauth_body_hash']);
  const content = body.present ? await body.hold(limit) : new Uint8Array();
  const hashes = hashesOf(method).map((hash) => createHash(hash).update(content).digest('base64'));
  if (!hashes.includes(sent))
    throw rejectedParameters('The content does not have this hash.', ['oauth_body_hash']);
}

/** The hashes that are taken with a method: its own, and SHA-1, which many clients send with every method. */
function hashesOf(method: OAuth1Method): readonly string[] {
  return method === 'HMAC-SHA256' ? ['sha256', 'sha1'] : ['sha1'];
}
