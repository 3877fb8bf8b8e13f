import { isFormType } from '../../http/headers/media-type.ts';
import { computeSignature, formatBaseString, formatKeyText } from '../../signature/oauth1.ts';
import {
  encodeOctets,
  type Parameter,
  parseFormOctets,
  toOctets,
} from '../../signature/oauth1-parameters.ts';
import { findField, generateText, type SchemeSigner } from '../../signature/signing.ts';

/** A request to sign with OAuth 1.0a, and the credentials. */
export interface OAuth1Signing {
  readonly method: string;
  readonly url: URL;
  /** Path and query as sent. */
  readonly target: string;
  /** The content if it is a form, which the signature covers; otherwise undefined. Each character is one octet. */
  readonly form?: string | undefined;
  readonly consumer: { readonly key: string; readonly secret: string };
  /** The token, or a request token. Default: none, as in the request for a request token. */
  readonly token?: { readonly token: string; readonly tokenSecret: string } | undefined;
  /** Further parameters of the protocol, such as `oauth_callback`. */
  readonly parameters?: readonly Parameter[];
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly now: number;
  readonly nonce: string;
}

/** The Authorization value of a request signed with HMAC-SHA256 (RFC 5849 §3.5.1), and the base string that is signed. */
export interface OAuth1Signature {
  readonly authorization: string;
  readonly baseString: string;
}

/**
 * Signs a request with HMAC-SHA256.
 * @throws RangeError if the query or the form has a malformed percent-encoding
 */
export function signOAuth1(signing: OAuth1Signing): OAuth1Signature {
  const { method, url, target, form = '', consumer, token, now, nonce, parameters = [] } = signing;
  const own: Parameter[] = [
    ['oauth_consumer_key', toOctets(consumer.key)],
    ...(token === undefined ? [] : [['oauth_token', toOctets(token.token)] as const]),
    ['oauth_signature_method', 'HMAC-SHA256'],
    ['oauth_timestamp', String(Math.floor(now / 1000))],
    ['oauth_nonce', toOctets(nonce)],
    ['oauth_version', '1.0'],
    ...parameters,
  ];
  const [path = '', ...query] = target.split('?');
  const signed = [...own, ...parametersIn(query.join('?')), ...parametersIn(form)];
  const baseString = formatBaseString({ method, origin: url.origin, path, parameters: signed });
  const keyText = formatKeyText(consumer.secret, token?.tokenSecret ?? '');
  const header = [...own, ['oauth_signature', computeSignature('HMAC-SHA256', baseString, keyText)] as const];
  const authorization = `OAuth ${header.map(([name, value]) => `${name}="${encodeOctets(value)}"`).join(', ')}`;
  return { authorization, baseString };
}

function parametersIn(octets: string): readonly Parameter[] {
  const parameters = octets === '' ? [] : parseFormOctets(octets);
  if (parameters === undefined)
    throw new RangeError('the query or the form has a malformed percent-encoding');
  return parameters;
}

/** The signer of OAuth 1.0a with HMAC-SHA256. */
export const oauth1Signer: SchemeSigner = {
  check({ consumer, token }) {
    if (consumer === undefined || token === undefined)
      throw new RangeError('the scheme oauth1 requires a consumer and a token');
  },
  sign({ method, url, target, fields, content }, { consumer = noToken, token }, options) {
    // Other content than a form is not signed (RFC 5849 §3.4.1.3.1).
    const isForm = content !== undefined && isFormType(findField(fields, 'content-type'));
    const form = isForm ? Buffer.from(content).toString('latin1') : undefined;
    const { now, nonce = generateText(options) } = options;
    const signed = signOAuth1({ method, url, target, form, consumer, token, now, nonce });
    return {
      fields: [['Authorization', signed.authorization]],
      target,
      parts: [{ name: 'base string', value: signed.baseString }],
    };
  },
};

const noToken = { key: '', secret: '' };
