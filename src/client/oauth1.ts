import { baseStringOf, keyTextOf, signatureOf } from '../signature/oauth1.ts';
import { encodeOctets, octetsOf, type Parameter, parseFormOctets } from '../signature/oauth1-parameters.ts';

/** What a request of OAuth 1.0a is signed with. */
export interface OAuth1Signing {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** The content where it is a form, which is signed too; undefined otherwise. */
  readonly form: string | undefined;
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly token: string; readonly tokenSecret: string };
  /** ms since 1970-01-01T00:00:00Z. */
  readonly now: number;
  readonly nonce: string;
}

/** The value of Authorization, signed with HMAC-SHA256 (RFC 5849 §3.5.1). Throws RangeError on a query or form that does not decode. */
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
  const shown = [...own, ['oauth_signature', signature] as const];
  return `OAuth ${shown.map(([name, value]) => `${name}="${encodeOctets(value)}"`).join(', ')}`;
}

function parametersIn(octets: string): readonly Parameter[] {
  if (octets === '') return [];
  const parameters = parseFormOctets(octets);
  if (parameters === undefined) throw new RangeError('the query or the form has an escape that is none');
  return parameters;
}
