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
import { isProtocol } from './parameters.ts';

/** How a client signs with OAuth 1.0a. */
interface OAuth1Options {
  /** The signature method. Default: HMAC-SHA256, with a private key RSA-SHA256. */
  readonly signatureMethod?: OAuth1Method | undefined;
  /** Whether requests whose content is not a form have `oauth_body_hash`. Default: false. */
  readonly bodyHash?: boolean | undefined;
  /** Further parameters of the protocol, such as `oauth_callback`. Default: none. */
  readonly parameters?: readonly Parameter[] | undefined;
  /** How far (ms) a timestamp may be from the clock of a server. Default: 0, because a client does not know. */
  readonly window?: number | undefined;
}

function defaultMethod(privateKey: KeyObject | undefined): OAuth1Method {
  return privateKey === undefined ? 'HMAC-SHA256' : 'RSA-SHA256';
}

function computeAny(
  method: OAuth1Method,
  baseString: string,
  { consumer, token, privateKey }: SigningIdentity,
): string {
  if (!isRsaMethod(method))
    return computeSignature(
      method,
      baseString,
      formatKeyText(consumer?.secret ?? '', token?.tokenSecret ?? ''),
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
  parameters = [],
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
    ownsParameter: (parameter) => isProtocol([parameter, '']),
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
    sign({ method, url, target, fields, content }, identity, options) {
      const { consumer = { key: '' }, privateKey, token } = identity;
      const chosen = signatureMethod ?? defaultMethod(privateKey);
      // Other content than a form is not signed (RFC 5849 §3.4.1.3.1), except by its hash.
      const isForm = content !== undefined && isFormType(findField(fields, 'content-type'));
      const hash = bodyHash && !isForm ? selectBodyHash(chosen) : undefined;
      const own: Parameter[] = [
        ['oauth_consumer_key', toOctets(consumer.key)],
        ...(token === undefined ? [] : [['oauth_token', toOctets(token.token)] as const]),
        ['oauth_signature_method', chosen],
        ['oauth_timestamp', String(Math.floor(options.now / 1000))],
        ['oauth_nonce', toOctets(options.nonce ?? generateText(options))],
        ['oauth_version', '1.0'],
        ...parameters,
        ...(hash === undefined ? [] : [['oauth_body_hash', computeHash(hash, content)] as const]),
      ];
      const { path, query } = splitTarget(target);
      const baseString = formatBaseString({
        method,
        origin: url.origin,
        path,
        parameters: [...own, ...parametersIn(query)],
        form: parametersIn(isForm ? octetsOf(content) : ''),
      });
      const sent = [...own, ['oauth_signature', computeAny(chosen, baseString, identity)] as const];
      const pairs = sent.map(([name, value]) => `${name}="${encodeOctets(value)}"`);
      return {
        fields: [['Authorization', `OAuth ${pairs.join(', ')}`]],
        target,
        parts: chosen === 'PLAINTEXT' ? [] : [{ name: 'base string', value: baseString }],
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
