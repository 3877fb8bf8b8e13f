// Signs requests (RFC 9421 §3.1).

import { findAlgorithm, type MessageKey, signBase } from '../../algorithms.ts';
import { formatContentDigest } from '../../http/headers/content-digest.ts';
import { serializeDictionary } from '../../http/structured-fields/serialize.ts';
import { type BareItem, bytesItem, type Parameters, stringItem } from '../../http/structured-fields/value.ts';
import {
  chooseId,
  findField,
  type Signature,
  type SigningIdentity,
  type UnsignedRequest,
} from '../signing.ts';
import { createBase, formatBase, isBaseFault } from './base.ts';
import { coversContentDigest, parseIdentifier } from './identifiers.ts';
import { fieldSource, type StructuredFieldTypes } from './message.ts';
import { writeSignatureParameters } from './signature-fields.ts';

/** The parameters of the signature, and what it covers. Times are in seconds since 1970-01-01T00:00:00Z. */
export interface MessageSigning {
  readonly key: MessageKey;
  /**
   * The covered components, such as `@method` or `content-type;sf`. `content-digest` is added if there is content. Default:
   * method, authority, path and query.
   */
  readonly components?: readonly string[] | undefined;
  /** The covered components, without `content-digest` unless it is among them. Default: `components`. */
  readonly covered?: readonly string[] | undefined;
  /** Other values of the parameters, as an adversary signs them; undefined removes one. */
  readonly parameters?: Readonly<Record<string, BareItem | undefined>> | undefined;
  readonly created?: number | undefined;
  readonly expires?: number | undefined;
  readonly nonce?: string | undefined;
  readonly tag?: string | undefined;
  /** Whether the parameter `alg` names the algorithm. Default: false, because the key determines it. */
  readonly alg?: boolean | undefined;
  /** Default: `sig1`. */
  readonly label?: string | undefined;
  /** The types of structured fields beside the registered ones, for `sf` and `key`. */
  readonly types?: StructuredFieldTypes | undefined;
}

/** The components that are covered by default. */
export const defaultComponents: readonly string[] = ['@method', '@authority', '@path', '@query'];

/** Returns the key of an identity. Throws RangeError if an RSA key has no algorithm. */
export function toMessageKey(identity: SigningIdentity): MessageKey {
  const id = chooseId(identity);
  const { privateKey, secret = '' } = identity;
  if (privateKey === undefined) return { id, algorithm: 'hmac-sha256', secret };
  const algorithm = identity.algorithm ?? findAlgorithm(privateKey);
  if (algorithm !== undefined) return { id, algorithm, privateKey };
  throw new RangeError(
    'the key requires an algorithm: rsa-pss-sha512 or rsa-v1_5-sha256 for an RSA key; others are not supported',
  );
}

/**
 * Signs a request. The fields have Content-Digest if there is content, unless the request has that field already.
 *
 * @throws RangeError if a component is invalid or absent, a value cannot be sent, or the key does not fit its algorithm
 */
export function signMessage(request: UnsignedRequest, signing: MessageSigning): Signature {
  const { method, url, target, fields, content } = request;
  const { covered: exactly, components: chosen = defaultComponents, label = 'sig1', types } = signing;
  const digests: (readonly [string, string])[] =
    content === undefined || findField(fields, 'content-digest') !== undefined
      ? []
      : [['Content-Digest', formatContentDigest(content)]];
  const host = findField(fields, 'host') === undefined ? [['Host', url.host] as const] : [];
  const items = (exactly ?? chosen).map(parseIdentifier);
  if (exactly === undefined && content !== undefined && !items.some(coversContentDigest))
    items.push(stringItem('content-digest'));
  const covered = { items, parameters: buildParameters(signing) };
  const secure = url.protocol === 'https:';
  const source = fieldSource([...fields, ...host, ...digests]);
  const base = createBase(covered, { method, target, secure, fields: source }, types);
  if (isBaseFault(base)) throw new RangeError(base.fault);
  const signature = bytesItem(Buffer.from(signBase(signing.key, formatBase(base)), 'base64'));
  return {
    fields: [
      ...digests,
      ['Signature-Input', serializeDictionary(new Map([[label, covered]]))],
      ['Signature', serializeDictionary(new Map([[label, signature]]))],
    ],
    target,
    parts: base,
  };
}

function buildParameters({
  created,
  expires,
  nonce,
  alg = false,
  key,
  tag,
  ...others
}: MessageSigning): Parameters {
  const named = alg ? key.algorithm : undefined;
  const parameters = writeSignatureParameters({ created, expires, nonce, alg: named, keyid: key.id, tag });
  for (const [name, value] of Object.entries(others.parameters ?? {})) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, value);
  }
  return parameters;
}
