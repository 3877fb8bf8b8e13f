import { basicHeader } from '../../client/basic.ts';
import { type OAuth1Signing, signOAuth1 } from '../../client/oauth1.ts';
import { type SignOptions, signRequest } from '../../client/sign.ts';
import {
  digestOnce,
  formatHmacCredentials,
  formatSignedDate,
  isNonce,
  messageOf,
} from '../../signature/hmac.ts';
import { lineOf, type OutgoingRequest } from '../attempt.ts';
import { checkSignerOptions } from './check-options.ts';
import type { RequestSigner } from './signer.ts';

/** The options of `hmacSigner`. */
export interface HmacSignerOptions extends Pick<SignOptions, 'user' | 'secret' | 'form' | 'dateField'> {
  /** Whether the digest of the content is sent and signed. Default: false. */
  readonly bodyDigest?: boolean;
}

/**
 * Creates a signer for Countersign's HMAC scheme, by default in the full form. The signer throws RangeError as `signRequest`
 * does.
 * @throws RangeError without a user and a secret
 * @example const attempts = adversary({ url }, hmacSigner({ user: 'johndoe', secret: 's3cret' }));
 */
export function hmacSigner(given: HmacSignerOptions): RequestSigner {
  checkSignerOptions(given, 'hmacSigner', ['user', 'secret']);
  const { bodyDigest = false, ...options } = given;
  const sign: RequestSigner = (request, { date, nonce, user = options.user, secret = options.secret }) => {
    const { method, url, body } = request;
    const signing: SignOptions = {
      ...options,
      user,
      // `signRequest` rejects an empty key. Keys are padded with zeros (RFC 2104 §2), so this one is equivalent.
      secret: secret === '' ? '\0' : secret,
      method,
      url,
      ...(date === undefined ? {} : { date: typeof date === 'string' ? date : formatSignedDate(date) }),
      ...(bodyDigest && body !== undefined ? { content: body } : {}),
    };
    if (nonce === undefined || isNonce(nonce))
      return signRequest(nonce === undefined ? signing : { ...signing, nonce });
    return signing.form === 'simple' ? signRequest(signing) : signedWithNonce(signing, nonce);
  };
  return Object.assign(sign, { user: options.user, tlsOnly: false });
}

/** Signs with a nonce that the scheme does not have, which `signRequest` rejects. */
function signedWithNonce(signing: SignOptions, nonce: string): Record<string, string> {
  const { method, url, user, secret, dateField = 'Date' } = signing;
  const fields = signRequest(signing);
  const { pathname, search } = new URL(url);
  const contentDigest = fields['Content-Digest'];
  const message = messageOf({
    method,
    target: pathname + search,
    date: fields[dateField],
    nonce,
    contentDigest,
  });
  const credentials = formatHmacCredentials({ user, nonce, digest: digestOnce(secret, message) });
  return { ...fields, Authentication: `hmac ${credentials}` };
}

/** Creates a signer for Basic credentials (RFC 7617). */
export function basicSigner(options: { user: string; password: string }): RequestSigner {
  checkSignerOptions(options, 'basicSigner', ['user', 'password']);
  const { user, password } = options;
  const sign: RequestSigner = (_request, changes) => {
    return { Authorization: basicHeader(changes.user ?? user, changes.secret ?? password) };
  };
  return Object.assign(sign, { user, tlsOnly: true });
}

/** Creates a signer for a bearer token (RFC 6750 §2.1). */
export function bearerSigner(options: { token: string }): RequestSigner {
  checkSignerOptions(options, 'bearerSigner', ['token']);
  const { token } = options;
  const sign: RequestSigner = (_request, { secret = token }) => ({ Authorization: `Bearer ${secret}` });
  return Object.assign(sign, { tlsOnly: true });
}

/**
 * Creates a signer for OAuth 1.0a with HMAC-SHA256. The origin is signed, so the good request's URL must be that of the
 * server under attack. `user` of a change is the consumer's key, and `secret` is the token's secret. Timestamps are
 * numbers, so other date formats are not tried.
 */
export function oauth1Signer(options: Pick<OAuth1Signing, 'consumer' | 'token'>): RequestSigner {
  checkSignerOptions(options, 'oauth1Signer', []);
  const { consumer, token } = options;
  checkSignerOptions(consumer, 'oauth1Signer.consumer', ['key', 'secret']);
  checkSignerOptions(token, 'oauth1Signer.token', ['token', 'tokenSecret']);
  const sign: RequestSigner = (request, changes) => {
    const { date, nonce, user = consumer.key, secret = token.tokenSecret } = changes;
    if (typeof date !== 'number' || nonce === undefined) return undefined;
    const { method, url } = request;
    const signing = { method, url, form: formOf(request), now: date, nonce };
    const parties = { consumer: { ...consumer, key: user }, token: { ...token, tokenSecret: secret } };
    return { Authorization: signOAuth1({ ...signing, ...parties }) };
  };
  return Object.assign(sign, { user: consumer.key, tlsOnly: true });
}

/** Returns the content if it is a form: other content is not signed (RFC 5849 §3.4.1.3.1). */
function formOf({ headers, body }: OutgoingRequest): string | undefined {
  const type = lineOf(headers, 'Content-Type')?.[1] ?? '';
  if (body === undefined || !/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
}
