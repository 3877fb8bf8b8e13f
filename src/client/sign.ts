import { createHash, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import {
  digestOnce,
  endsLikeFullForm,
  formatHmacCredentials,
  formatSignedDate,
  isNonce,
  messageOf,
  type Signed,
} from '../signature/hmac.ts';

/** What a signature is made of. */
export interface SignOptions {
  /** `GET`, `PUT`, …; case counts. */
  readonly method: string;
  /** An absolute URL; its path and query are signed as `URL` writes them. */
  readonly url: string | URL;
  /** The request target, octet for octet, where the client sends another one than `URL` writes. */
  readonly target?: string;
  readonly user: string;
  readonly secret: string;
  /** `full` (the default) has a date and a nonce and counts once; `simple` has neither and can be replayed. */
  readonly form?: 'full' | 'simple';
  /** The value of the date field; the clock's time when left out. */
  readonly date?: string;
  /** The field that carries the date: `X-Date` where the client cannot set `Date`. */
  readonly dateField?: 'Date' | 'X-Date';
  /** 1 to 128 characters out of `A-Z a-z 0-9 . _ ~ -`; 128 random bits when left out. */
  readonly nonce?: string;
  /** The content as sent; its digest is sent and signed (RFC 9530). A string is UTF-8. */
  readonly content?: string | Uint8Array;
  readonly clock?: Pick<Clock, 'now'>;
  /** Gives that many random bytes. */
  readonly random?: (size: number) => Uint8Array;
}

/** The header fields that sign a request: `Authentication`, the date's, and `Content-Digest`. Throws RangeError
 * on an empty secret, a user or nonce that cannot be sent, or a target that the simple form must not sign. */
export function signRequest(options: SignOptions): Record<string, string> {
  const { user, content } = options;
  if (user === '' || /[:\x00-\x1f\x7f]/.test(user)) {
    throw new RangeError('a user has at least one character, and neither a colon nor control characters');
  }
  const headers: Record<string, string> = {};
  const dated = options.form === 'simple' ? undefined : dateAndNonce(options);
  const contentDigest = content === undefined ? undefined : contentDigestOf(content);
  if (dated !== undefined) headers[options.dateField ?? 'Date'] = dated.date;
  if (contentDigest !== undefined) headers['Content-Digest'] = contentDigest;
  const target = options.target ?? targetOf(options.url);
  // Whoever sees such a signature could send it as that of a full request for a shorter target.
  if (dated === undefined && endsLikeFullForm(target)) {
    throw new RangeError(
      'the simple form does not sign a target that ends like a date and a nonce, or a digest',
    );
  }
  const signed: Signed = { method: options.method, target, ...dated, contentDigest };
  const digest = digestOnce(options.secret, messageOf(signed));
  headers['Authentication'] = `hmac ${formatHmacCredentials({ user, nonce: dated?.nonce, digest })}`;
  return headers;
}

function dateAndNonce(options: SignOptions): { date: string; nonce: string } {
  const nonce = options.nonce ?? Buffer.from((options.random ?? randomBytes)(16)).toString('base64url');
  if (!isNonce(nonce)) throw new RangeError('a nonce is 1 to 128 characters out of A-Z a-z 0-9 . _ ~ -');
  return { date: options.date ?? formatSignedDate((options.clock ?? systemClock).now()), nonce };
}

function targetOf(url: string | URL): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

// RFC 9530 §2: a structured dictionary with a byte sequence.
function contentDigestOf(content: string | Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
}

/** What `fetch` takes, and who signs. Content is a string or bytes, so that its digest can be signed. */
export interface SignedFetchInit extends Omit<RequestInit, 'body'> {
  readonly user: string;
  readonly secret: string;
  readonly body?: string | Uint8Array;
  readonly form?: 'full' | 'simple';
  readonly clock?: Pick<Clock, 'now'>;
}

/** Sends a request signed by `signRequest` through the platform's `fetch`, and gives its Response. */
export async function signedFetch(url: string | URL, init: SignedFetchInit): Promise<Response> {
  const { user, secret, form = 'full', clock = systemClock, body, ...rest } = init;
  const method = (init.method ?? 'GET').toUpperCase();
  const signing = { method, url, user, secret, form, clock };
  const signature = signRequest(body === undefined ? signing : { ...signing, content: body });
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(signature)) headers.set(name, value);
  return fetch(url, { ...rest, method, headers, ...(body === undefined ? {} : { body: new Blob([body]) }) });
}
