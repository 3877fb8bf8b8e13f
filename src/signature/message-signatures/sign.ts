// Signs requests (RFC 9421 §3.1).
import { formatContentDigest } from '../../http/headers/content-digest.ts';
import { serializeDictionary } from '../../http/structured-fields/serialize.ts';
import {
  type BareItem,
  bytesItem,
  type InnerList,
  type Parameters,
  stringItem,
} from '../../http/structured-fields/value.ts';
import { findAlgorithm, type MessageKey, signBase } from '../algorithms.ts';
import { chooseId, type SigningIdentity } from '../signing.ts';
import { type BaseLine, createBase, formatBase, isBaseFault } from './base.ts';
import { coversContentDigest, parseIdentifier } from './identifiers.ts';
import type { StructuredFieldTypes } from './message.ts';
import { fieldSource, type Message } from './message.ts';

/** The request to sign. */
export interface RequestToSign {
  /** Case-sensitive. */
  readonly method: string;
  /** An absolute URL. */
  readonly url: string | URL;
  /** The request target, byte for byte, if the client sends another one than `URL` serializes. */
  readonly target?: string | undefined;
  /** The field lines that are sent. `Host` is that of the URL unless it is given. */
  readonly fields?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The content as sent. A string is sent as UTF-8. */
  readonly content?: string | Uint8Array | undefined;
}

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

/** The fields of a signature. */
export interface SignatureFields {
  readonly 'Signature-Input': string;
  readonly Signature: string;
}

/** The fields of a signed request. */
interface SignedMessage extends SignatureFields {
  /** Present if there is content, unless the request has the field already. */
  readonly 'Content-Digest'?: string;
}

/**
 * Signs a request.
 *
 * @returns the fields to add to the request
 * @throws RangeError if a component is invalid or absent, a value cannot be sent, or the key does not fit its algorithm
 * @example
 * const fields = signMessage({ method: 'GET', url }, { key: { id: 'ann', algorithm: 'hmac-sha256', secret }, created });
 */
export function signMessage(request: RequestToSign, signing: MessageSigning): SignedMessage {
  return signMessageWithBase(request, signing).fields;
}

/** The fields of a signed request, and the lines that the signature covers. */
interface SignedMessageBase {
  readonly fields: SignedMessage;
  readonly base: readonly BaseLine[];
}

/** Signs a request like `signMessage`, and returns the signature base as well. */
export function signMessageWithBase(request: RequestToSign, signing: MessageSigning): SignedMessageBase {
  const { fields = [], content } = request;
  const url = new URL(request.url);
  const isGiven = (sought: string): boolean => fields.some(([name]) => name.toLowerCase() === sought);
  const digest =
    content === undefined || isGiven('content-digest')
      ? undefined
      : formatContentDigest(Buffer.from(content));
  const lines = [...fields];
  if (!isGiven('host')) lines.push(['Host', url.host]);
  if (digest !== undefined) lines.push(['Content-Digest', digest]);
  const message: Message = {
    method: request.method,
    target: request.target ?? url.pathname + url.search,
    secure: url.protocol === 'https:',
    fields: fieldSource(lines),
  };
  const { covered: exactly, components: chosen = defaultComponents } = signing;
  const components = (exactly ?? chosen).map(parseIdentifier);
  if (exactly === undefined && content !== undefined && !components.some(coversContentDigest))
    components.push(stringItem('content-digest'));
  const covered = { items: components, parameters: buildParameters(signing) };
  const { label = 'sig1', types } = signing;
  const { fields: signed, base } = signCovered(label, covered, message, signing.key, types);
  return { fields: digest === undefined ? signed : { 'Content-Digest': digest, ...signed }, base };
}

function buildParameters(signing: MessageSigning): Parameters {
  const { created, expires, nonce, alg = false, key, tag } = signing;
  const parameters = new Map<string, BareItem>();
  if (created !== undefined) parameters.set('created', { type: 'integer', value: created });
  if (expires !== undefined) parameters.set('expires', { type: 'integer', value: expires });
  if (nonce !== undefined) parameters.set('nonce', { type: 'string', value: nonce });
  if (alg) parameters.set('alg', { type: 'string', value: key.algorithm });
  parameters.set('keyid', { type: 'string', value: key.id });
  if (tag !== undefined) parameters.set('tag', { type: 'string', value: tag });
  for (const [name, value] of Object.entries(signing.parameters ?? {})) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, value);
  }
  return parameters;
}

/** The fields of a signature, and the lines that it covers. */
interface SignedBase {
  readonly fields: SignatureFields;
  readonly base: readonly BaseLine[];
}

/** Signs the covered components of any message. Throws RangeError like `signMessage`. */
function signCovered(
  label: string,
  covered: InnerList,
  message: Message,
  key: MessageKey,
  types?: StructuredFieldTypes,
): SignedBase {
  const base = createBase(covered, message, types);
  if (isBaseFault(base)) throw new RangeError(base.fault);
  const signature = bytesItem(Buffer.from(signBase(key, formatBase(base)), 'base64'));
  const fields = {
    'Signature-Input': serializeDictionary(new Map([[label, covered]])),
    Signature: serializeDictionary(new Map([[label, signature]])),
  };
  return { fields, base };
}
