import {
  type MessageAlgorithm,
  type MessageKey,
  signBase,
} from '../../signature/message-signatures/algorithms.ts';
import { createBase, formatBase, isBaseFault } from '../../signature/message-signatures/base.ts';
import { coversContentDigest, parseIdentifier } from '../../signature/message-signatures/identifiers.ts';
import { fieldSource } from '../../signature/message-signatures/message.ts';
import { contentDigestOf, defaultComponents } from '../../signature/message-signatures/sign.ts';
import { serializeDictionary } from '../../signature/structured-fields/serialize.ts';
import { type BareItem, stringItem } from '../../signature/structured-fields/value.ts';
import { lineOf, type OutgoingRequest } from '../attempt.ts';
import { checkSignerOptions } from './check-options.ts';
import { type MessageSignaturesSignerOptions, type MessageSignaturesSigning, withScheme } from './schemes.ts';
import type { RequestSigner } from './signer.ts';
import { bytesOf, splitUrl } from './target.ts';

export type { MessageAlgorithm, MessageKey };

/**
 * Creates a signer for HTTP Message Signatures (RFC 9421). `user` of a change is the id of another key. If `@authority` is
 * covered, the good request's URL must be that of the server under attack.
 * @example messageSignaturesSigner({ key: { id: 'key-1', algorithm: 'ed25519', privateKey } })
 */
export function messageSignaturesSigner(options: MessageSignaturesSignerOptions): RequestSigner {
  checkSignerOptions(options, 'messageSignaturesSigner', []);
  checkSignerOptions(options.key, 'messageSignaturesSigner.key', ['id', 'algorithm']);
  const scheme = createSigning(options);
  const sign: RequestSigner = (request, changes) => {
    const spec = scheme.spec(request, changes);
    return spec && scheme.sign(request, spec);
  };
  const place = {
    in: { field: 'Signature' },
    otherFields: ['Signature-Input'],
    form: /^([^=]+=:)([^:]*)(:)$/,
    isPaddingOptional: true,
  };
  return Object.assign(sign, { user: options.key.id, tlsOnly: false, traits: withScheme({ place }, scheme) });
}

function createSigning(options: MessageSignaturesSignerOptions): MessageSignaturesSigning {
  const { key, components = defaultComponents, nonce: policy, tag, alg = false } = options;
  const covered = components.map(parseIdentifier);
  const signatureOf = rememberedSignatures();
  return {
    kind: 'message-signatures',
    options,
    spec(request, { date, nonce, user = key.id, secret }) {
      const own = withSecret({ ...key, id: user }, secret);
      if (typeof date === 'string' || own === undefined) return undefined;
      const parameters: [string, BareItem][] = [];
      if (date !== undefined) parameters.push(['created', integer(Math.floor(date / 1000))]);
      if (nonce !== undefined && policy !== 'off') parameters.push(['nonce', text(nonce)]);
      if (alg) parameters.push(['alg', text(key.algorithm)]);
      parameters.push(['keyid', text(user)]);
      if (tag !== undefined) parameters.push(['tag', text(tag)]);
      const isAdded = request.body !== undefined && !covered.some(coversContentDigest);
      const all = isAdded ? [...covered, stringItem('content-digest')] : covered;
      return { components: all, parameters, key: own };
    },
    sign(request, { label = 'sig1', components: items, parameters, key: own }) {
      const digest = digestOf(request);
      const inner = { items, parameters: new Map(parameters) };
      const lines = createBase(inner, messageOf(request, digest), options.structuredFields);
      if (isBaseFault(lines)) return undefined;
      const value = signatureOf(own, formatBase(lines));
      const bytes = { bare: { type: 'bytes', value } as const, parameters: new Map() };
      return {
        'Signature-Input': serializeDictionary(new Map([[label, inner]])),
        Signature: serializeDictionary(new Map([[label, bytes]])),
        ...(digest === undefined ? {} : { 'Content-Digest': digest }),
      };
    },
  };
}

/** Creates an integer of a structured field. */
export function integer(value: number): BareItem {
  return { type: 'integer', value };
}

/** Creates a string of a structured field. */
export function text(value: string): BareItem {
  return { type: 'string', value };
}

/** Returns the key with another secret. A private key has none. */
function withSecret(key: MessageKey, secret: string | undefined): MessageKey | undefined {
  if (secret === undefined) return key;
  // An empty key is rejected. Keys are padded with zeros (RFC 2104 §2), so this one is equivalent.
  return key.algorithm === 'hmac-sha256' ? { ...key, secret: secret === '' ? '\0' : secret } : undefined;
}

function digestOf(request: OutgoingRequest): string | undefined {
  const content = bytesOf(request);
  return content === undefined || lineOf(request.headers, 'Content-Digest') !== undefined
    ? undefined
    : contentDigestOf(content);
}

function messageOf({ method, url, headers }: OutgoingRequest, digest: string | undefined) {
  const { host, secure, target } = splitUrl(url);
  const lines = [...headers];
  if (lineOf(lines, 'Host') === undefined) lines.push(['Host', host]);
  if (digest !== undefined) lines.push(['Content-Digest', digest]);
  return { method, target, secure, fields: fieldSource(lines) };
}

/** Returns the function that signs. Equal bases get equal signatures, although those of some algorithms are random. */
function rememberedSignatures(): (key: MessageKey, base: string) => string {
  const known = new Map<string, string>();
  return (key, base) => {
    // An HMAC is not random, and depends on a secret that may differ.
    if (key.algorithm === 'hmac-sha256') return signBase(key, base);
    const name = JSON.stringify([key.algorithm, key.privateKey.export({ format: 'jwk' }), base]);
    const signature = known.get(name) ?? signBase(key, base);
    known.set(name, signature);
    return signature;
  };
}
