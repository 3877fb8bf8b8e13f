import { basicHeader } from '../client/basic.ts';
import { type OAuth1Signing, signOAuth1 } from '../client/oauth1.ts';
import { type SignOptions, signRequest } from '../client/sign.ts';
import { formatSignedDate } from '../signature/hmac.ts';
import { lineOf, type OutgoingRequest } from './attempt.ts';

/** What is to be different from what the signer would do by itself. */
export interface SigningChanges {
  /** The time that is signed, in ms since 1970-01-01T00:00:00Z; or the text of the date field, to the letter. */
  readonly date?: number | string;
  readonly nonce?: string;
  /** Another user's name, while secret, password or token stay. */
  readonly user?: string;
  /** Another secret, password or token, while the user stays. */
  readonly secret?: string;
}

/**
 * Gives the header fields that sign a request. What its scheme does not have (a Bearer token has no nonce), it passes
 * over; to a change that its scheme has but cannot sign (a date as text, say) it answers undefined. With the same
 * request, date and nonce it gives the same fields.
 */
export interface RequestSigner {
  (request: OutgoingRequest, changes: SigningChanges): Readonly<Record<string, string>> | undefined;
  /** The user as whom it signs, if there is one. */
  readonly user?: string;
  /** Whether what it gives is good over TLS only, like a password. */
  readonly tlsOnly?: boolean;
}

/** What `hmacSigner` goes by. */
export interface HmacSignerOptions extends Pick<SignOptions, 'user' | 'secret' | 'form' | 'dateField'> {
  /** Whether the digest of the content is sent and signed. */
  readonly bodyDigest?: boolean;
}

/** Signs as this project's HMAC scheme has it: in the full form unless told otherwise. Throws RangeError as `signRequest` does. */
export function hmacSigner({ bodyDigest = false, ...options }: HmacSignerOptions): RequestSigner {
  const sign: RequestSigner = (
    { method, url, body },
    { date, nonce, user = options.user, secret = options.secret },
  ) =>
    signRequest({
      ...options,
      user,
      // Keys are filled up with zeros (RFC 2104 §2), so this is the empty one, which the client does not sign with.
      secret: secret === '' ? '\0' : secret,
      method,
      url,
      ...(date === undefined ? {} : { date: typeof date === 'string' ? date : formatSignedDate(date) }),
      ...(nonce === undefined ? {} : { nonce }),
      ...(bodyDigest && body !== undefined ? { content: body } : {}),
    });
  return Object.assign(sign, { user: options.user, tlsOnly: false });
}

/** User and password as Basic has them (RFC 7617). */
export function basicSigner({ user, password }: { user: string; password: string }): RequestSigner {
  const sign: RequestSigner = (_request, changes) => {
    return { Authorization: basicHeader(changes.user ?? user, changes.secret ?? password) };
  };
  return Object.assign(sign, { user, tlsOnly: true });
}

/** A token as Bearer has it (RFC 6750 §2.1). */
export function bearerSigner({ token }: { token: string }): RequestSigner {
  const sign: RequestSigner = (_request, { secret = token }) => ({ Authorization: `Bearer ${secret}` });
  return Object.assign(sign, { tlsOnly: true });
}

/**
 * Signs as OAuth 1.0a has it, with HMAC-SHA256. The origin is signed, so the good request's URL is that of the server
 * that is attacked. The user here is the consumer, and the secret the token's. Timestamps are numbers: no other date is tried.
 */
export function oauth1Signer({ consumer, token }: Pick<OAuth1Signing, 'consumer' | 'token'>): RequestSigner {
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

/** RFC 5849 §3.4.1.3.1: of content only a form is signed. */
function formOf({ headers, body }: OutgoingRequest): string | undefined {
  const type = lineOf(headers, 'Content-Type')?.[1] ?? '';
  if (body === undefined || !/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
}
