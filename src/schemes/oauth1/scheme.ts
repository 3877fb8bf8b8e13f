import { createHash, type KeyObject } from 'node:crypto';
import { isRsaMethod, type OAuth1Method, rsaMethods, secretMethods } from '../../accounts/oauth1-methods.ts';
import { type Parameter, parseFormOctets } from '../../http/form.ts';
import { isFormType } from '../../http/headers/media-type.ts';
import { octetsOf, toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import type { AuthScheme } from '../auth-scheme.ts';
import { findField, generateText, type SigningIdentity } from '../signing.ts';
import { computeRsaSignature, computeSignature, formatBaseString, formatKeyText } from './base-string.ts';

/** How a client signs with OAuth 1.0a. */
interface OAuth1Options {
  /** The signature method. Default: HMAC-SHA256, with a private key RSA-SHA256. */
  readonly signatureMethod?: OAuth1Method | undefined;
  /** Whether requests whose content is not a form have `oauth_body_hash`. Default: false. */
  readonly bodyHash?: boolean | undefined;
  /** How far (ms) a timestamp may be from the clock of a server. Default: 0, because a client does not know. */
  readonly window?: number | undefined;
}

/** A request to sign with OAuth 1.0a, and the credentials. */
interface OAuth1Signing {
  readonly method: string;
  readonly url: URL;
  /** Path and query as sent. */
  readonly target: string;
  /** The content if it is a form, which the signature covers; otherwise undefined. Each character is one octet. */
  readonly form?: string | undefined;
  /** The key of the consumer, and the secret unless it signs with a private key. */
  readonly consumer: { readonly key: string; readonly secret?: string | undefined };
  readonly privateKey?: KeyObject | undefined;
  /** The token, or a request token. Default: none, as in the request for a request token. */
  readonly token?: { readonly token: string; readonly tokenSecret: string } | undefined;
  /** Default: HMAC-SHA256, with a private key RSA-SHA256. */
  readonly signatureMethod?: OAuth1Method | undefined;
  /** Further parameters of the protocol, such as `oauth_callback`. */
  readonly parameters?: readonly Parameter[];
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly now: number;
  readonly nonce: string;
}

/** The Authorization value of a signed request (RFC 5849 §3.5.1), and the base string that is signed; undefined with PLAINTEXT. */
interface OAuth1Signature {
  readonly authorization: string;
  readonly baseString: string | undefined;
}

/**
 * Signs a request.
 * @throws RangeError if the query or the form has a malformed percent-encoding, or if there is no key of the method
 */
export function signOAuth1(signing: OAuth1Signing): OAuth1Signature {
  const {
    method,
    url,
    target,
    form = '',
    consumer,
    privateKey,
    token,
    now,
    nonce,
    parameters = [],
  } = signing;
  const { signatureMethod = defaultMethod(privateKey) } = signing;
  const own: Parameter[] = [
    ['oauth_consumer_key', toOctets(consumer.key)],
    ...(token === undefined ? [] : [['oauth_token', toOctets(token.token)] as const]),
    ['oauth_signature_method', signatureMethod],
    ['oauth_timestamp', String(Math.floor(now / 1000))],
    ['oauth_nonce', toOctets(nonce)],
    ['oauth_version', '1.0'],
    ...parameters,
  ];
  const { path, query } = splitTarget(target);
  const signed = [...own, ...parametersIn(query), ...parametersIn(form)];
  const baseString = formatBaseString({ method, origin: url.origin, path, parameters: signed });
  const signature = computeAny(signatureMethod, baseString, signing);
  const header = [...own, ['oauth_signature', signature] as const];
  const authorization = `OAuth ${header.map(([name, value]) => `${name}="${encodeOctets(value)}"`).join(', ')}`;
  return { authorization, baseString: signatureMethod === 'PLAINTEXT' ? undefined : baseString };
}

function defaultMethod(privateKey: KeyObject | undefined): OAuth1Method {
  return privateKey === undefined ? 'HMAC-SHA256' : 'RSA-SHA256';
}

function computeAny(
  method: OAuth1Method,
  baseString: string,
  { consumer, token, privateKey }: OAuth1Signing,
): string {
  if (!isRsaMethod(method))
    return computeSignature(
      method,
      baseString,
      formatKeyText(consumer.secret ?? '', token?.tokenSecret ?? ''),
    );
  if (privateKey === undefined) throw new RangeError(`${method} requires a private key`);
  return computeRsaSignature(method, baseString, privateKey);
}

function parametersIn(octets: string): readonly Parameter[] {
  const parameters = octets === '' ? [] : parseFormOctets(octets);
  if (parameters === undefined)
    throw new RangeError('the query or the form has a malformed percent-encoding');
  return parameters;
}

/** Creates the scheme OAuth 1.0a. */
export function createOAuth1Scheme({
  signatureMethod,
  bodyHash = false,
  window = 0,
}: OAuth1Options = {}): AuthScheme<'oauth1', OAuth1Options> {
  return {
    kind: 'oauth1',
    name: 'oauth1',
    label: 'OAuth 1.0a',
    options: { signatureMethod, bodyHash },
    dateWindow: window,
    window,
    places: [{ role: '', in: 'authorization', name: 'OAuth' }],
    // RFC 5849 §3.1 reserves this prefix.
    ownsParameter: (parameter) => parameter.startsWith('oauth_'),
    problems: [
      ...(['oauth1-parameter-absent', 'oauth1-parameter-rejected', 'oauth1-version-rejected'] as const),
      ...(['oauth1-signature-method-rejected', 'oauth1-signature-invalid', 'oauth1-token-rejected'] as const),
      ...(['oauth1-timestamp-refused', 'oauth1-nonce-used', 'nonces-lost', 'too-many-nonces'] as const),
      ...(['insufficient-scope', 'unsupported-content-coding'] as const),
    ],
    choices: ['nonce'],
    key: 'consumer',
    privateKeys: 'accepted',
    tlsOnly: true,
    sentSecret: signatureMethod === 'PLAINTEXT' ? 'the secret of a consumer' : undefined,
    check: ({ consumer, privateKey }) =>
      checkKeys(consumer, privateKey, signatureMethod ?? defaultMethod(privateKey), bodyHash),
    sign({ method, url, target, fields, content }, { consumer = noConsumer, privateKey, token }, options) {
      // Other content than a form is not signed (RFC 5849 §3.4.1.3.1), except by its hash.
      const isForm = content !== undefined && isFormType(findField(fields, 'content-type'));
      const hash = selectBodyHash(signatureMethod ?? defaultMethod(privateKey));
      const isHashed = bodyHash && !isForm && hash !== undefined;
      const { baseString, authorization } = signOAuth1({
        method,
        url,
        target,
        form: isForm ? octetsOf(content) : undefined,
        now: options.now,
        nonce: options.nonce ?? generateText(options),
        parameters: isHashed ? [['oauth_body_hash', computeHash(hash, content)]] : [],
        consumer,
        privateKey,
        token,
        signatureMethod,
      });
      return {
        fields: [['Authorization', authorization]],
        target,
        parts: baseString === undefined ? [] : [{ name: 'base string', value: baseString }],
      };
    },
  };
}

function computeHash(hash: string, content: Uint8Array = new Uint8Array(0)): string {
  return createHash(hash).update(content).digest('base64');
}

/** Returns the hash function of `oauth_body_hash`: that of the method (OAuth Request Body Hash 1.0 §3.2). */
function selectBodyHash(method: OAuth1Method): string | undefined {
  return isRsaMethod(method) ? rsaMethods[method] : secretMethods[method];
}

function checkKeys(
  consumer: SigningIdentity['consumer'],
  privateKey: KeyObject | undefined,
  method: OAuth1Method,
  bodyHash: boolean,
): void {
  if (consumer === undefined) throw new RangeError('the scheme oauth1 requires a consumer');
  const isRsa = isRsaMethod(method);
  if (isRsa && privateKey?.asymmetricKeyType !== 'rsa')
    throw new RangeError(`the signature method ${method} requires the private key of an RSA key pair`);
  if (!isRsa && privateKey !== undefined)
    throw new RangeError(`the signature method ${method} uses no private key`);
  if (!isRsa && consumer.secret === undefined)
    throw new RangeError(`the signature method ${method} requires the secret of the consumer`);
  if (bodyHash && method === 'PLAINTEXT')
    throw new RangeError('PLAINTEXT signs no oauth_body_hash (bodyHash)');
}

const noConsumer = { key: '' };
