import type { KeyObject } from 'node:crypto';
import { findQueryValues, removeParameters } from '../../http/form.ts';
import { isFormType } from '../../http/headers/media-type.ts';
import { hostForms } from '../../http/host.ts';
import { replaceInvalidUtf8, toOctets } from '../../http/syntax/octets.ts';
import { messageBytes, type Piece } from '../message.ts';
import { readHost, type Signature, type UnsignedRequest } from '../signing.ts';
import { hasPrivateKey, signByKey } from './asymmetric.ts';
import type { Declaration } from './declaration.ts';
import { createDeclaredKey, encodeSignature, keyBytes } from './key.ts';
import { createJsonReader, listNamedParts, type MessageSource } from './message.ts';
import { type RolePlace, writeTextAt } from './places.ts';
import { formatSignatures } from './signature-format.ts';
import { formatTimestamp } from './timestamp.ts';

/** The secrets and values with which a request is signed. */
export interface SigningParts {
  /** The user, or the id of one of its keys. It is sent if the declaration has a place for it. */
  readonly user: string;
  /** Secrets of the user; several for a list of signatures during a rotation. */
  readonly secrets: readonly string[];
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly now: number;
  /** Required if the declaration has a place for it. */
  readonly nonce?: string | undefined;
  /** Required if the declaration has a field for it. */
  readonly id?: string | undefined;
  /** Required if the declaration has a field for it. */
  readonly passphrase?: string | undefined;
  /** The private key, or the Ed25519 key for a list that may contain such a signature (Standard Webhooks, `v1a`). */
  readonly privateKey?: KeyObject | undefined;
}

/**
 * Signs a request as declared.
 *
 * @throws RangeError if a secret is not in the declared encoding, a nonce or an id is missing, or content cannot hold a value
 */
export function signDeclared(
  request: UnsignedRequest,
  declaration: Declaration,
  parts: SigningParts,
): Signature {
  const timestamp =
    declaration.timestamp === undefined ? '' : formatTimestamp(parts.now, declaration.timestamp.unit);
  const { target: own, content: sent } = request;
  const placed = placeAll(
    { target: own, fields: [], content: sent },
    listValues(declaration, parts, timestamp),
  );
  const source = buildSource(placed, request, declaration, parts, timestamp);
  const named = listNamedParts(declaration.message, source);
  const pieces = named.map(({ value }) => value);
  const value = formatSignatures(
    declaration.format,
    computeSignatures(declaration, parts, pieces),
    { timestamp, nonce: parts.nonce, user: toOctets(parts.user), 'key-id': toOctets(parts.user) },
    parts.privateKey === undefined || hasPrivateKey(declaration.algorithm)
      ? []
      : [signByKey(ed25519, parts.privateKey, messageBytes(pieces)).toString('base64')],
  );
  const { target, fields, content } = placeAll(placed, [[declaration.place, value]]);
  return { target, fields, parts: named, ...(content !== sent && { content }) };
}

const ed25519 = { algorithm: 'ed25519', hash: 'sha512', dsaEncoding: 'der' } as const;

/** Returns the signatures in the declared encoding. */
function computeSignatures(
  declaration: Declaration,
  { secrets, privateKey }: SigningParts,
  pieces: readonly Piece[],
): string[] {
  const { algorithm, encoding, hash, dsaEncoding } = declaration;
  if (!hasPrivateKey(algorithm))
    return secrets.map((secret) => computeSignature(declaration, algorithm, secret, pieces));
  if (privateKey === undefined) throw new RangeError('the declaration requires a private key');
  return [signByKey({ algorithm, hash, dsaEncoding }, privateKey, messageBytes(pieces)).toString(encoding)];
}

type PlacedValue = readonly [place: RolePlace, value: string];

/** Returns the values beside the signature, with their places. */
function listValues(
  { user, timestamp, nonce, id, passphrase }: Declaration,
  parts: SigningParts,
  time: string,
): PlacedValue[] {
  const values: PlacedValue[] = [];
  if (typeof user === 'object') values.push([user, toOctets(parts.user)]);
  if (timestamp !== undefined) values.push([timestamp.place, time]);
  if (nonce !== undefined) values.push([nonce, requireValue(parts.nonce, 'a nonce')]);
  if (id !== undefined) values.push([id, requireValue(parts.id, 'an id')]);
  if (passphrase !== undefined)
    values.push([passphrase, toOctets(requireValue(parts.passphrase, 'a passphrase'))]);
  return values;
}

function requireValue(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new RangeError(`the declaration requires ${what}`);
  return value;
}

/** Where values are written. */
interface Placed {
  readonly target: string;
  readonly fields: readonly [name: string, value: string][];
  readonly content: Uint8Array | undefined;
}

/** Writes values to their places. Those within the value of the signature are written with it. */
function placeAll(placed: Placed, values: readonly PlacedValue[]): Placed {
  let { target, content } = placed;
  const fields = [...placed.fields];
  for (const [place, value] of values) {
    if ('field' in place) fields.push([place.field, value]);
    else if ('query' in place)
      target = appendPair(target, target.includes('?') ? '&' : '?', place.query, value);
    else if ('json' in place)
      content = Buffer.from(writeTextAt(decodeText(content), place.json, replaceInvalidUtf8(value)));
    else if ('form' in place) {
      const form = decodeText(content);
      content = Buffer.from(appendPair(form, form === '' ? '' : '&', place.form, value));
    }
  }
  return { target, fields, content };
}

function appendPair(text: string, separator: string, name: string, value: string): string {
  return `${text}${separator}${encodeURIComponent(name)}=${encodeURIComponent(replaceInvalidUtf8(value))}`;
}

function decodeText(content: Uint8Array | undefined): string {
  return content === undefined ? '' : Buffer.from(content).toString('utf8');
}

function buildSource(
  placed: Placed,
  request: UnsignedRequest,
  declaration: Declaration,
  parts: SigningParts,
  timestamp: string,
): MessageSource {
  const host = readHost(request);
  const secure = request.url.protocol === 'https:';
  const lines = [...request.fields, ...placed.fields];
  const field = (name: string): string | undefined => {
    const values = lines.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value);
    return values.length === 0 ? undefined : values.join(', ');
  };
  const { place, anyPort = false, decodedInUrl, digestParameter } = declaration;
  const { content = new Uint8Array(0) } = placed;
  const target = 'query' in place ? removeParameters(placed.target, [place.query]) : placed.target;
  const hasDigest = digestParameter !== undefined && findQueryValues(target, digestParameter).length > 0;
  return {
    method: request.method,
    target,
    secure,
    host: anyPort ? hostForms(host, secure)[0] : host,
    decodedInUrl,
    field: (name) => (name === 'host' ? (field(name) ?? host) : field(name)),
    content,
    json: createJsonReader(content),
    hasForm: !hasDigest && isFormType(field('content-type')),
    user: toOctets(parts.user),
    keyId: toOctets(parts.user),
    timestamp,
    nonce: parts.nonce ?? '',
    id: parts.id ?? '',
  };
}

function computeSignature(
  declaration: Declaration,
  algorithm: 'hmac' | 'digest',
  secret: string,
  pieces: readonly Piece[],
): string {
  const bytes = keyBytes(Buffer.from(secret, 'utf8'), declaration);
  if (bytes === undefined) throw new RangeError(`the secret is empty or not in ${declaration.key}`);
  const { hash, encoding } = declaration;
  return encodeSignature(createDeclaredKey(bytes, hash, algorithm).digest(pieces), encoding);
}
