import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { absent, refusal, rejected } from '../auth/oauth1-refusal.ts';
import type { Story } from '../auth/story.ts';
import type { Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { HeldNonce } from '../principal.ts';
import {
  baseStringOf,
  createKeyCheck,
  isSameSignature,
  keyTextOf,
  type OAuth1Method,
  type SignatureCheck,
  signatureOf,
} from '../signature/oauth1.ts';
import type { Consumer } from './clients.ts';
import { type Found, isLive } from './grants.ts';
import type { OAuth1Parameters } from './oauth1-parameters.ts';
import { createTokenSecrets, type SecretKind } from './oauth1-secrets.ts';
import type { OAuthParts } from './parts.ts';

/** What a request is signed for: a resource, or one of both endpoints that give tokens. */
export type SignedFor = 'resource' | 'request_token' | 'access_token';

/** A request whose signature is good, and that was never made before. */
export interface Verified {
  readonly consumer: Consumer;
  /** The token that it is signed with; undefined where there is none to sign with yet. */
  readonly found: Found | undefined;
  readonly parameters: OAuth1Parameters;
  /** The nonce that it used up, where that is to be kept in one with what the request changes. */
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
  story?: Story,
) => Promise<Verified>;

/** The consumer that signed, or says so, by a name that no user has: failures are counted against it. */
export function claimedBy({ protocol }: OAuth1Parameters): string | undefined {
  const key = protocol.get('oauth_consumer_key');
  return key === undefined ? undefined : `oauth1:${digestOf([key])}`;
}

const always = ['oauth_consumer_key', 'oauth_signature_method', 'oauth_signature'];
/** What PLAINTEXT may do without (RFC 5849 §3.1). */
const onceOnly = ['oauth_timestamp', 'oauth_nonce'];
const optional = ['oauth_version', 'oauth_body_hash'];
const ofUse: Readonly<Record<SignedFor, readonly string[]>> = {
  resource: ['oauth_token'],
  request_token: ['oauth_callback'],
  access_token: ['oauth_token', 'oauth_verifier'],
};

/** What some clients go on sending after the first request: it is signed, and says nothing new. */
const sentOn: Readonly<Record<SignedFor, readonly string[]>> = {
  resource: ['oauth_callback'],
  // RFC 5849 §2.1: an empty token may stand where there is none.
  request_token: ['oauth_token'],
  access_token: ['oauth_callback'],
};

const methods: readonly OAuth1Method[] = ['HMAC-SHA256', 'HMAC-SHA1', 'PLAINTEXT', 'RSA-SHA1'];

/**
 * Makes what verifies, in the order of `checks`. Nothing before the signature depends on who signed, and an unknown consumer
 * costs what a known one does.
 */
export function createVerification(parts: OAuthParts): Verify {
  const { consumers, grants, clock, origins, masterKey } = parts;
  const secretOf = createTokenSecrets(masterKey);
  const isSigned = createSignatureCheck(parts.random);
  const claimNonce = createNonceClaims(parts);

  return async (request, parameters, signedFor, story) => {
    const value = (name: string): string => parameters.protocol.get(name) ?? '';
    judgeNames(parameters, signedFor);
    story?.pass('parse');
    judgeVersion(parameters);
    story?.pass('version');
    judgePresence(parameters, signedFor);
    story?.pass('presence');
    const method = methods.find((each) => each === value('oauth_signature_method'));
    if (method === undefined || !consumers.some((one) => one.methods.includes(method)))
      throw methodRejected();
    story?.pass('method');
    const timestamp = judgeTimestamp(value('oauth_timestamp'), parts);
    story?.pass('timestamp');
    const consumer = consumers.find(value('oauth_consumer_key'));
    const token = value('oauth_token');
    const kind: SecretKind = signedFor === 'resource' ? 'access' : 'request';
    const tokenSecret = token === '' ? '' : secretOf(kind, token);
    const baseString =
      method === 'PLAINTEXT' ? '' : baseStringFor(request, parameters, origins.asAddressed(request));
    const signed = isSigned({
      method,
      baseString,
      consumer,
      tokenSecret,
      signature: value('oauth_signature'),
    });
    if (!signed || consumer === undefined) {
      story?.fail('signature', baseString === '' ? {} : { message: baseString });
      throw signatureInvalid(parts.explain, baseString);
    }
    // Who has signed may know what it is registered for; whoever has not learns it of nobody.
    if (!consumer.methods.includes(method)) throw methodRejected();
    story?.pass('signature');
    const found = token === '' ? undefined : await grants.find(token, 'oauth1', kind);
    if (token !== '') await judgeToken(found, consumer, clock.now(), parts);
    story?.pass('token');
    await judgeBodyHash(request, parameters, method, parts.bodyLimit);
    story?.pass('content');
    const nonce = claimNonce(value, timestamp, signedFor);
    story?.pass('nonce');
    return { consumer, found, parameters, nonce };
  };
}

function methodRejected(): Problem {
  return refusal('signature_method_rejected', 'The signature method is not one that is taken here.');
}

/** What is not known could mean something that is not done: it is refused. */
function judgeNames({ protocol }: OAuth1Parameters, signedFor: SignedFor): void {
  const known = [...always, ...onceOnly, ...optional, ...ofUse[signedFor], ...sentOn[signedFor]];
  const others = [...protocol.keys()].filter((name) => !known.includes(name));
  if (signedFor === 'request_token' && (protocol.get('oauth_token') ?? '') !== '') others.push('oauth_token');
  if (others.length > 0) throw rejected('They have no meaning here.', others);
}

function judgeVersion({ protocol }: OAuth1Parameters): void {
  const version = protocol.get('oauth_version');
  if (version === undefined || version === '1.0') return;
  throw refusal('version_rejected', 'oauth_version is 1.0, where it is sent.', {
    oauth_acceptable_versions: '1.0-1.0',
  });
}

function judgePresence({ protocol }: OAuth1Parameters, signedFor: SignedFor): void {
  const mayBeOnceMore = protocol.get('oauth_signature_method') === 'PLAINTEXT';
  const sent = onceOnly.filter((name) => protocol.has(name));
  const needed = mayBeOnceMore && sent.length === 0 ? [] : onceOnly;
  const missing = [...always, ...needed, ...ofUse[signedFor]].filter(
    (name) => (protocol.get(name) ?? '') === '',
  );
  if (missing.length > 0) throw absent(missing);
}

function baseStringFor({ method, target }: Request, { signed }: OAuth1Parameters, origin: string): string {
  // The absolute form (RFC 9112 §3.2.2) has the path behind the authority.
  const path = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/\?.*$/s, '');
  return baseStringOf({ method, origin, path, parameters: signed });
}

function signatureInvalid(explain: boolean, baseString: string): Problem {
  const detail = 'Consumer, secrets and what was signed do not fit.';
  const advice = explain && baseString !== '' ? { oauth_problem_advice: baseString } : {};
  return refusal('signature_invalid', detail, advice);
}

/** Gives the time that was sent (ms); undefined where none was. */
function judgeTimestamp(
  sent: string,
  { clock, lifetimes, notBefore = Number.NEGATIVE_INFINITY }: OAuthParts,
): number | undefined {
  if (sent === '') return undefined;
  // RFC 5849 §3.3: a positive integer.
  if (!/^[1-9][0-9]{0,11}$/.test(sent))
    throw rejected('The timestamp is not a number of seconds since 1970.', ['oauth_timestamp']);
  const time = Number(sent) * 1000;
  const now = wholeSecond(clock.now());
  const first = Math.max(now - lifetimes.oauth1Window, wholeSecond(notBefore));
  const last = now + lifetimes.oauth1Window;
  if (time >= first && time <= last) return time;
  throw refusal(
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

interface Signature {
  readonly method: OAuth1Method;
  readonly baseString: string;
  readonly consumer: Consumer | undefined;
  readonly tokenSecret: string;
  readonly signature: string;
}

/** Bits of the key that stands where a consumer has none. */
const nobodysKeyBits = 2048;

/** What a consumer's signatures are checked with. */
interface Checks {
  /** What its secret contributes to a key; undefined where it has none. */
  readonly keyText: string | undefined;
  /** Undefined where it has no RSA key. */
  readonly isSignedByKey: SignatureCheck | undefined;
}

/** Makes what compares signatures. Where there is no secret or no key, one that nobody has is taken. */
function createSignatureCheck(random: OAuthParts['random']): (signature: Signature) => boolean {
  const nobodysKeyText = keyTextOf(Buffer.from(random(32)).toString('base64url'), '');
  const isSignedByNobody = createKeyCheck(keyOfNobody(random(nobodysKeyBits / 8)));
  const known = new WeakMap<Consumer, Checks>();
  const checksOf = (consumer: Consumer): Checks => {
    const checks = known.get(consumer) ?? checksFor(consumer);
    known.set(consumer, checks);
    return checks;
  };
  return ({ method, baseString, consumer, tokenSecret, signature }) => {
    const { keyText, isSignedByKey } = consumer === undefined ? nothing : checksOf(consumer);
    if (method === 'RSA-SHA1')
      return (isSignedByKey ?? isSignedByNobody)(baseString, signature) && isSignedByKey !== undefined;
    // A token secret is base64url, and so the same when it is encoded.
    const expected = signatureOf(method, baseString, (keyText ?? nobodysKeyText) + tokenSecret);
    return isSameSignature(expected, signature) && keyText !== undefined;
  };
}

const nothing: Checks = { keyText: undefined, isSignedByKey: undefined };

/** Made once for each consumer, so that it does not cost a known one more. */
function checksFor({ secret, rsaPublicKey }: Consumer): Checks {
  return {
    keyText: secret === undefined ? undefined : keyTextOf(secret, ''),
    isSignedByKey: rsaPublicKey === undefined ? undefined : createKeyCheck(createPublicKey(rsaPublicKey)),
  };
}

/** A number as long as a modulus: to verify with it takes as long, and nothing that it verifies counts. */
function keyOfNobody(octets: Uint8Array): KeyObject {
  const modulus = Buffer.from(octets);
  modulus[0] = 0x80 | (modulus[0] ?? 0);
  modulus[modulus.length - 1] = 1 | (modulus.at(-1) ?? 0);
  const key = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  return createPublicKey({ key, format: 'jwk' });
}

/** The state of a token, told to who has signed with its secret. */
async function judgeToken(
  found: Found | undefined,
  consumer: Consumer,
  now: number,
  { accounts }: OAuthParts,
): Promise<void> {
  if (found === undefined || found.token.client !== consumer.key)
    throw refusal('token_rejected', 'The token is not one of this consumer.');
  const { token, grant } = found;
  if (token.used) throw refusal('token_used', 'The token was used up.');
  if (grant?.revoked === true) throw refusal('token_revoked', 'The token was revoked.');
  if (!isLive(found, now)) throw refusal('token_expired', 'The token has expired.');
  if (token.user !== undefined && (await accounts.find(token.user)) === undefined)
    throw refusal('token_rejected', 'The user of the token is not there any more.');
}

/** The content's digest (OAuth Request Body Hash 1.0 §4), where one was sent; it is signed like every parameter. */
async function judgeBodyHash(
  { body }: Request,
  { protocol, signsForm }: OAuth1Parameters,
  method: OAuth1Method,
  limit: number,
): Promise<void> {
  const sent = protocol.get('oauth_body_hash');
  if (sent === undefined) return;
  // §4.1.1: a form is signed itself.
  if (signsForm) throw rejected('A form is signed without a hash of it.', ['oauth_body_hash']);
  const content = body.present ? await body.hold(limit) : new Uint8Array();
  const hashes = hashesOf(method).map((hash) => createHash(hash).update(content).digest('base64'));
  if (!hashes.includes(sent)) throw rejected('The content does not have this hash.', ['oauth_body_hash']);
}

/** The hash of the method; many clients take SHA-1 with every one. */
function hashesOf(method: OAuth1Method): readonly string[] {
  return method === 'HMAC-SHA256' ? ['sha256', 'sha1'] : ['sha1'];
}

/** Makes what claims nonces. Each is one of its consumer, token and timestamp (RFC 5849 §3.3). */
function createNonceClaims({ nonces, clock, nonceWindow, lifetimes }: OAuthParts) {
  return (
    value: (name: string) => string,
    timestamp: number | undefined,
    signedFor: SignedFor,
  ): HeldNonce | undefined => {
    if (timestamp === undefined) return undefined;
    const consumer = value('oauth_consumer_key');
    // As digests, so that nothing that was chosen by others comes into a file.
    const user = `oauth1:${digestOf([consumer])}`;
    const parts = [consumer, value('oauth_token'), value('oauth_timestamp'), value('oauth_nonce')];
    // The last moment at which the timestamp is inside the window that nonces are counted with, to the end of its second.
    const claimed = nonces.claim(user, digestOf(parts), timestamp + nonceWindow + 999, clock.now());
    if (claimed === 'seen') throw refusal('nonce_used', 'A request with this nonce was accepted before.');
    if (claimed === 'full') {
      throw new Problem('full', 'No more nonces can be remembered now.', {
        fields: [['Retry-After', String(Math.ceil(lifetimes.oauth1Window / 1000))]],
      });
    }
    return signedFor === 'resource' ? nonces.hold() : undefined;
  };
}

/** In JSON no two lists are the same text. */
function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
