// How a client signs with a declared scheme.

import { createHash } from 'node:crypto';
import { isKeyFor, signWith } from '../../algorithms.ts';
import { findQueryValues, removeParameters } from '../../http/form.ts';
import { isFormType } from '../../http/headers/media-type.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import type { AuthScheme } from '../auth-scheme.ts';
import { messageBytes, type Piece } from '../message.ts';
import {
  checkId,
  checkSecret,
  chooseId,
  findField,
  generateText,
  type SigningChoices,
  type SigningIdentity,
  toIncoming,
  type UnsignedRequest,
} from '../signing.ts';
import { type Declaration, findKeyAlgorithm } from './declaration.ts';
import { createDeclaredKey, keyBytes } from './key.ts';
import { buildSources, readParts } from './message-source.ts';
import { writePlaces } from './place.ts';
import { listRoles } from './roles.ts';
import { formatSignatures } from './signature-format.ts';
import { covers } from './template.ts';
import { formatTimestamp } from './timestamp.ts';

/** Returns what a client can choose. */
export function listChoices({ nonce, message }: Declaration): readonly (keyof SigningChoices)[] {
  return [
    ...(nonce === undefined ? [] : (['nonce'] as const)),
    ...(covers(message, 'id') ? (['id'] as const) : []),
  ];
}

/**
 * Creates the function that signs with a declared scheme. It throws RangeError if the secret is not in the declared encoding, or if
 * content cannot hold a value.
 */
export function createSignFunction(declared: Declaration): AuthScheme['sign'] {
  return (request, identity, overrides) => {
    const declaration = { ...declared, ...overrides.declaration };
    const { message, place, format, timestamp: timed } = declaration;
    const nonce = declaration.nonce === undefined ? '' : (overrides.nonce ?? generateText(overrides));
    const id = covers(message, 'id') ? (overrides.id ?? `msg_${generateText(overrides)}`) : '';
    const timestamp = timed === undefined ? '' : formatTimestamp(overrides.now, timed.unit);
    const user = toOctets(typeof declaration.user === 'string' ? declaration.user : chooseId(identity));
    const passphrase = toOctets(identity.passphrase ?? '');
    const values = { user, timestamp, nonce, id, passphrase };
    const { content: sent } = request;
    const target = addContentDigest(request, declaration.digestParameter);
    const placed = writePlaces(
      { target, fields: request.fields, content: sent },
      listRoles(declaration).map(([role, at]) => [at, values[role]]),
    );
    const { content = new Uint8Array(0) } = placed;
    const [source] = buildSources(
      toIncoming(request, placed),
      'query' in place ? removeParameters(placed.target, [place.query]) : placed.target,
      content,
      { user, keyId: user, timestamp, nonce, id },
      declaration,
    );
    const parts = readParts(declaration, source);
    const pieces = parts.map(({ value }) => value);
    const value = formatSignatures(
      format,
      computeSignatures(declaration, identity, pieces),
      { timestamp, nonce, user, 'key-id': user },
      listKeySignatures(declaration, identity, pieces),
    );
    const signed = writePlaces(placed, [[place, value]]);
    return {
      target: signed.target,
      fields: signed.added,
      parts: parts.map((part) => (part.kind === 'text' ? { ...part, name: '' } : part)),
      ...(signed.content !== sent && { content: signed.content }),
    };
  };
}

/** Returns the signatures in the declared encoding. */
function computeSignatures(
  declaration: Declaration,
  { secret, privateKey }: SigningIdentity,
  pieces: readonly Piece[],
): string[] {
  const { algorithm, encoding, hash } = declaration;
  const keyAlgorithm = findKeyAlgorithm(algorithm);
  if (keyAlgorithm !== undefined) {
    if (privateKey === undefined) throw new RangeError('the declaration requires a private key');
    return [signWith(keyAlgorithm, privateKey, messageBytes(pieces), declaration).toString(encoding)];
  }
  if (secret === undefined) return [];
  const bytes = keyBytes(Buffer.from(secret, 'utf8'), declaration);
  if (bytes === undefined) throw new RangeError(`the secret is empty or not in ${declaration.key}`);
  const digest = createDeclaredKey(bytes, hash, algorithm === 'digest' ? 'digest' : 'hmac').digest(pieces);
  return [Buffer.from(digest, 'base64').toString(encoding)];
}

/** Returns the signature by an Ed25519 key beside those by secrets (Standard Webhooks, `v1a`). */
function listKeySignatures(
  { algorithm }: Declaration,
  { privateKey }: SigningIdentity,
  pieces: readonly Piece[],
): string[] {
  if (privateKey === undefined || findKeyAlgorithm(algorithm) !== undefined) return [];
  return [signWith('ed25519', privateKey, messageBytes(pieces)).toString('base64')];
}

/** Throws RangeError unless an identity has what a declared scheme signs with. */
export function checkIdentity(name: string, options: Declaration, identity: SigningIdentity): void {
  const { user, algorithm, passphrase } = options;
  const { privateKey } = identity;
  if (typeof user !== 'string') checkId(identity, name);
  else if (identity.user !== undefined && identity.user !== user)
    throw new RangeError(`the scheme ${name} always signs as ${user}, not as ${identity.user}`);
  if (passphrase !== undefined && identity.passphrase === undefined)
    throw new RangeError(`the scheme ${name} requires a passphrase`);
  const keyAlgorithm = findKeyAlgorithm(algorithm);
  if (keyAlgorithm !== undefined) {
    if (privateKey === undefined || !isKeyFor(keyAlgorithm, privateKey))
      throw new RangeError(`the scheme ${name} requires a private key of ${algorithm}`);
  } else if (privateKey === undefined) checkSecret(identity, name);
  else if (privateKey.asymmetricKeyType !== 'ed25519')
    throw new RangeError(`the scheme ${name} requires an Ed25519 key`);
}

/** Returns the target with the parameter for the SHA-256 of content other than a form, if the scheme has such a parameter. */
function addContentDigest({ target, fields, content }: UnsignedRequest, name: string | undefined): string {
  if (name === undefined || content === undefined || content.length === 0) return target;
  if (isFormType(findField(fields, 'content-type')) || findQueryValues(target, name).length > 0)
    return target;
  const digest = createHash('sha256').update(content).digest('hex');
  return `${target}${target.includes('?') ? '&' : '?'}${name}=${digest}`;
}
