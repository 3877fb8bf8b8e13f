import { type SignOptions, signRequest as signByHmac } from './sign.ts';
import { type SchemeSignOptions, signatureHeaders } from './sign-with-scheme.ts';

/**
 * Signs a request: with HMAC-SHA256, or with the scheme of another service if `scheme` is present.
 *
 * @returns the header fields to send; for HMAC-SHA256 `Authentication`, `Date` or `X-Date`, and `Content-Digest` if there is
 *   content
 * @throws RangeError on an empty secret, a user or nonce that cannot be sent, or a target that the simple form cannot sign; with
 *   `scheme` like `signUrl`, and if the scheme changes the query
 * @example
 * const headers = signRequest({ method: 'GET', url: 'http://127.0.0.1:8080/articles/1', user: 'johndoe', secret });
 * const response = await fetch('http://127.0.0.1:8080/articles/1', { headers });
 * @example
 * const headers = signRequest({ method: 'POST', url, content, secret, scheme: { preset: 'stripe' } });
 */
export function signRequest(options: SignOptions | SchemeSignOptions): Record<string, string> {
  return options.scheme === undefined ? signByHmac(options) : signatureHeaders(options);
}
