import { baseStringOf, keyTextOf, signatureOf } from '../signature/oauth1.ts';
import { encodeOctets, octetsOf, type Parameter, parseFormOctets } from '../signature/oauth1-parameters.ts';

/** The parameters of an OAuth 1.0a signature. */
export interface OAuth1Signing {
  readonly method: string;
  /** An absolute URL. */
  readonly url: string;
  /** The content if it is a form, which the signature covers; otherwise undefined. */
  readonly form: string | undefined;
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly token: string; readonly tokenSecret: string };
  /** The time in ms since 1970-01-01T00:00:00Z. */
  readonly now: number;
  readonly nonce: string;
}

/**
 * Returns the Authorization value of a request signed with HMAC-SHA256 (RFC 5849 §3.5.1).
 * @throws RangeError if the query or the form has a malformed percent-encoding
 */
export function signOAuth1(signing: OAuth1Signing): string {
  const { consumer, token, method } = signing;
  const { origin, pathname, search } = new URL(signing.url);
  const own: Parameter[] = [
    ['oauth_consumer_key', octetsOf(consumer.key)],
    ['oauth_token', octetsOf(token.token)],
    ['oauth_signature_method', 'HMAC-SHA256'],
    ['oauth_timestamp', String(Math.floor(signing.now / 1000))],
    ['oauth_nonce', octetsOf(signing.nonce)],
    ['oauth_version', '1.0'],
  ];
  const parameters = [
    ...own,
    ...parametersIn(search.slice(1)),
    ...parametersIn(octetsOf(signing.form ?? '')),
  ];
  const base = baseStringOf({ method, origin, path: pathname, parameters });
  const signature = signatureOf('HMAC-SHA256', base, keyTextOf(consumer.secret, token.tokenSecret));
  const header = [...own, ['oauth_signature', signature] as const];
  return `OAuth ${header.map(([name, value]) => `${name}="${encodeOctets(value)}"`).join(', ')}`;
}

function parametersIn(octets: string): readonly Parameter[] {
  if (octets === '') return [];
  const parameters = parseFormOctets(octets);
  if (parameters === undefined)
    throw new RangeError('the query or the form has a malformed percent-encoding');
  return parameters;
}
