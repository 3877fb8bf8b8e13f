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
import { fetchTargetOf } from './fetch-target.ts';

/** The request to sign, and what to sign it with. */
export interface SignOptions {
  /** `GET`, `PUT`, …; case-sensitive. */
  readonly method: string;
  /** An absolute URL. Its path and query are signed as this platform's `fetch` sends them. */
  readonly url: string | URL;
  /** The request target, byte for byte, if the client sends another one than `fetch`. */
  readonly target?: string;
  readonly user: string;
  readonly secret: string;
  /** `full` has a date and a nonce, so it can be used once; `simple` has neither and can be replayed. Default: `full`. */
  readonly form?: 'full' | 'simple';
  /** The value of the date field. Default: the time of `clock`. */
  readonly date?: string;
  /** The field for the date: `X-Date` if the client cannot set `Date`, as in a browser. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date';
  /** 1 to 128 characters out of `A-Z a-z 0-9 . _ ~ -`. Default: 128 random bits. */
  readonly nonce?: string;
  /** The content as sent. Its digest is signed and returned as Content-Digest (RFC 9530). A string is sent as UTF-8. */
  readonly content?: string | Uint8Array;
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
  readonly random?: (size: number) => Uint8Array;
  /** Another scheme; see `SchemeSignOptions`. Default: the scheme `hmac`. */
  readonly scheme?: undefined;
}

/** The fields of a request signed with the scheme `hmac`, and what they sign. */
export interface HmacSignature {
  readonly headers: Record<string, string>;
  readonly signed: Signed;
}

/** Signs a request with HMAC-SHA256. Throws RangeError like `signRequest` of the package. */
export function signRequest(options: SignOptions): Record<string, string> {
  return signHmac(options).headers;
}

/** Signs a request with HMAC-SHA256, and returns what is signed as well. */
export function signHmac(options: SignOptions): HmacSignature {
  const { user, content } = options;
  if (user === '' || /[:\x00-\x1f\x7f]/.test(user)) {
    throw new RangeError('a user has at least one character, no colon and no control characters');
  }
  const headers: Record<string, string> = {};
  const dated = options.form === 'simple' ? undefined : dateAndNonce(options);
  const contentDigest = content === undefined ? undefined : contentDigestOf(content);
  if (dated !== undefined) headers[options.dateField ?? 'Date'] = dated.date;
  if (contentDigest !== undefined) headers['Content-Digest'] = contentDigest;
  const target = options.target ?? fetchTargetOf(options.url);
  // An attacker could send such a signature as that of a full request for a shorter target.
  if (dated === undefined && endsLikeFullForm(target)) {
    throw new RangeError(
      'the simple form cannot sign a target that ends like a date and a nonce, or like a content digest',
    );
  }
  const signed: Signed = { method: options.method, target, ...dated, contentDigest };
  const digest = digestOnce(options.secret, messageOf(signed));
  headers['Authentication'] = `hmac ${formatHmacCredentials({ user, nonce: dated?.nonce, digest })}`;
  return { headers, signed };
}

function dateAndNonce(options: SignOptions): { date: string; nonce: string } {
  const nonce = options.nonce ?? Buffer.from((options.random ?? randomBytes)(16)).toString('base64url');
  if (!isNonce(nonce)) throw new RangeError('a nonce is 1 to 128 characters out of A-Z a-z 0-9 . _ ~ -');
  return { date: options.date ?? formatSignedDate((options.clock ?? systemClock).now()), nonce };
}

// RFC 9530 §2: a structured dictionary with a byte sequence.
function contentDigestOf(content: string | Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
}
