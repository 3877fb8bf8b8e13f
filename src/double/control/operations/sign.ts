import { isUtf8 } from 'node:buffer';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { oauth1Methods } from '../../../accounts/oauth1-methods.ts';
import { signatureAlgorithms } from '../../../algorithms.ts';
import { bytesOf } from '../../../http/syntax/octets.ts';
import type { NamedPart } from '../../../schemes/message.ts';
import { flag, listOf, mapOf, object, optional, text, word } from '../../../shape/shape.ts';
import { listSignedParts } from '../../fetch/signing.ts';
import { type Controlled, type Operation, operation, requireMemory } from '../operation.ts';

const accepted = object({
  user: text(),
  scheme: optional(text('hmac, basic, bearer, oauth1, or a scheme of the configuration; default: hmac')),
  method: text(),
  url: text('a path with its query, or an absolute URL'),
  headers: optional(mapOf(text('the fields that the request has already, some of which a scheme may sign'))),
  body: optional(text()),
  form: optional(word(['full', 'simple'], 'for hmac; default: full')),
  keyId: optional(text('for schemes of the configuration: the id of the user’s key')),
  secret: optional(text('for hmac and schemes of the configuration; default: that of the user')),
  password: optional(text('for basic; default: that of the user')),
  token: optional(text('for bearer; default: a new one')),
  privateKey: optional(
    text('for oauth1 and schemes of the configuration: a private key in PEM, or as a JWK'),
  ),
  algorithm: optional(
    word(signatureAlgorithms, 'the algorithm of the private key; default: that of its type'),
  ),
  nonce: optional(text('for schemes with a nonce; default: a new one')),
  date: optional(text('for schemes with a date: an ISO 8601 date; default: the time of the server’s clock')),
  client: optional(text('for bearer and oauth1: the client’s id or the consumer’s key; default: the first')),
  signatureMethod: optional(word(oauth1Methods, 'for oauth1; default: the first one of the consumer')),
  bodyHash: optional(flag('for oauth1: whether oauth_body_hash is sent; default: false')),
  twoLegged: optional(flag('for oauth1: whether the user is a consumer that signs without a token')),
});

/** The operation that signs a request as a user. */
export function signOperations(target: Controlled): readonly Operation[] {
  return [
    operation('POST', '/sign', 'sign', {
      memoryOnly: true,
      summary: 'Returns the header fields that sign a request as a user, and the URL to send it to',
      description:
        'The URL contains the signature if the scheme has it in the query, and the body is returned if the scheme has it there. With bearer and oauth1, a token is issued. With a secret, password, token or private key of the request, a data directory is no obstacle.',
      returns: object({
        headers: mapOf(text()),
        url: text(),
        body: optional(text('the body to send, if it contains the signature')),
        message: listOf(
          object({
            name: text('such as method; empty for a separator or other fixed text'),
            value: text('octets that are not UTF-8 are in hexadecimal'),
          }),
          'the parts of the signed message, in order; none if the scheme signs no message',
        ),
      }),
      accepts: accepted,
      async run({ user, method, url, body, headers, scheme = 'hmac', privateKey, ...options }) {
        const { secret, password, token } = options;
        if ([secret, password, token, privateKey].every((given) => given === undefined))
          requireMemory(target);
        const key = privateKey === undefined ? {} : { privateKey: readPrivateKey(privateKey) };
        const signed = await target.as(user, { ...options, ...key, scheme }).signUrl({
          method,
          url,
          headers,
          body,
        });
        return {
          headers: signed.headers,
          url: signed.url,
          body: signed.body && Buffer.from(signed.body).toString('utf8'),
          message: listSignedParts(signed).map(({ name, value }) => ({ name, value: formatPart(value) })),
        };
      },
    }),
  ];
}

function formatPart(value: NamedPart['value']): string {
  const bytes = typeof value === 'string' ? bytesOf(value) : Buffer.from(value);
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'hex');
}

/** Reads a private key as a JWK. Text in PEM is left to the signer. Throws RangeError, whose message contains nothing of the key. */
function readPrivateKey(source: string): string | KeyObject {
  if (!source.trim().startsWith('{')) return source;
  try {
    return createPrivateKey({ key: JSON.parse(source), format: 'jwk' });
  } catch {
    throw new RangeError('privateKey is not a private key as a JWK (RFC 7517)');
  }
}
