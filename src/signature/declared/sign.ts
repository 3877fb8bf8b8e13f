import { type KeyObject, sign } from 'node:crypto';
import { isFormType } from '../../http/headers/media-type.ts';
import type { Declaration } from './declaration.ts';
import { createDeclaredKey, encodeSignature, keyBytes } from './key.ts';
import {
  hostForms,
  type MessageSource,
  messageBytes,
  type NamedPiece,
  namedPieces,
  type Piece,
  takeParameter,
} from './message.ts';
import { formatSignatures } from './signature-format.ts';
import { octets } from './template.ts';
import { formatTimestamp } from './timestamp.ts';

/** A request to sign. Each character of a string is one octet. */
export interface UnsignedRequest {
  readonly method: string;
  /** Path and query as they will be sent. */
  readonly target: string;
  readonly secure: boolean;
  /** The value of Host. */
  readonly host: string;
  /** The field lines that are already set. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
  readonly content?: Uint8Array;
}

/** The secrets and values with which a request is signed. */
export interface SigningParts {
  /** The user, or the id of one of its keys. It is sent if the declaration has a field for it. */
  readonly user: string;
  /** Secrets of the user; several for a list of signatures during a rotation. */
  readonly secrets: readonly string[];
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly now: number;
  /** Required if the declaration has a field for it. */
  readonly nonce?: string;
  /** Required if the declaration has a field for it. */
  readonly id?: string;
  /** An Ed25519 key, for a list that may contain such a signature (Standard Webhooks, `v1a`). */
  readonly privateKey?: KeyObject;
}

/** A signed request. */
export interface SignedRequest {
  /** The target to send: with the signature, if its place is the query. */
  readonly target: string;
  /** The field lines to add. */
  readonly fields: readonly [name: string, value: string][];
  /** The message that is signed. */
  readonly message: Buffer;
  /** The parts of the message. The name of literal text is ''. */
  readonly parts: readonly NamedPiece[];
}

/**
 * Signs a request as declared.
 *
 * @throws RangeError if a secret is not in the declared encoding, or a nonce or an id is missing
 */
export function signDeclared(
  request: UnsignedRequest,
  declaration: Declaration,
  parts: SigningParts,
): SignedRequest {
  const fields = fieldsOf(declaration, parts);
  const timestamp =
    declaration.timestamp === undefined ? '' : formatTimestamp(parts.now, declaration.timestamp.unit);
  const source = sourceOf(request, declaration, parts, timestamp, fields);
  const named = namedPieces(declaration.message, source);
  const pieces = named.map(({ piece }) => piece);
  const signatures = parts.secrets.map((secret) => signatureOf(declaration, secret, pieces));
  const message = messageBytes(pieces);
  const byKey =
    parts.privateKey === undefined ? [] : [sign(null, message, parts.privateKey).toString('base64')];
  const value = formatSignatures(declaration.format, signatures, timestamp, byKey);
  const { place } = declaration;
  const signed = { message, parts: named };
  if ('field' in place)
    return { target: request.target, fields: [...fields, [place.field, value]], ...signed };
  const pair = `${place.query}=${encodeURIComponent(value)}`;
  return { target: request.target + (request.target.includes('?') ? '&' : '?') + pair, fields, ...signed };
}

function fieldsOf({ user, timestamp, nonce, id }: Declaration, parts: SigningParts): [string, string][] {
  const fields: [string, string][] = [];
  if (typeof user === 'object') fields.push([user.field, octets(parts.user)]);
  if (timestamp?.field !== undefined)
    fields.push([timestamp.field, formatTimestamp(parts.now, timestamp.unit)]);
  if (nonce !== undefined) fields.push([nonce.field, required(parts.nonce, 'a nonce')]);
  if (id !== undefined) fields.push([id.field, required(parts.id, 'an id')]);
  return fields;
}

function required(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new RangeError(`the declaration requires ${what}`);
  return value;
}

function sourceOf(
  request: UnsignedRequest,
  declaration: Declaration,
  parts: SigningParts,
  timestamp: string,
  added: readonly (readonly [string, string])[],
): MessageSource {
  const lines = [...(request.fields ?? []), ...added];
  const field = (name: string): string | undefined => {
    const values = lines.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value);
    return values.length === 0 ? undefined : values.join(', ');
  };
  const { place, anyPort = false, digestParameter } = declaration;
  const target = 'query' in place ? takeParameter(request.target, place.query).target : request.target;
  const hasDigest = digestParameter !== undefined && takeParameter(target, digestParameter).values.length > 0;
  return {
    method: request.method,
    target,
    secure: request.secure,
    host: anyPort ? hostForms(request.host, request.secure)[0] : request.host,
    field: (name) => (name === 'host' ? (field(name) ?? request.host) : field(name)),
    content: request.content ?? new Uint8Array(0),
    hasForm: !hasDigest && isFormType(field('content-type')),
    user: octets(parts.user),
    timestamp,
    nonce: parts.nonce ?? '',
    id: parts.id ?? '',
  };
}

function signatureOf(declaration: Declaration, secret: string, pieces: readonly Piece[]): string {
  const bytes = keyBytes(Buffer.from(secret, 'utf8'), declaration);
  if (bytes === undefined) throw new RangeError(`the secret is empty or not in ${declaration.key}`);
  return encodeSignature(createDeclaredKey(bytes, declaration.hash).digest(pieces), declaration.encoding);
}
