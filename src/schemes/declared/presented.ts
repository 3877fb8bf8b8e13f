import { createHash } from 'node:crypto';
import type { KeyKind } from '../../accounts/keyring.ts';
import { signatureLengths } from '../../algorithms.ts';
import { findQueryValues, hasForm, removeParameters } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { bytesOf, decodeName, toOctets } from '../../http/syntax/octets.ts';
import { keepLast } from '../../once.ts';
import { describeParameters } from '../explain/related-names.ts';
import { describeTimeForm, unitNames } from '../freshness.ts';
import { maxNonceLength } from '../message.ts';
import { type Fault, keepReadable, type Presented, sentence } from '../scheme.ts';
import {
  decodeSignature,
  describeMalformed,
  digestForm,
  type SignatureForm,
  signatureFault,
} from '../signature-form.ts';
import { type Declaration, findKeyAlgorithm } from './declaration.ts';
import type { SignedValues } from './message.ts';
import { hasSignedForm, listGuards } from './message-source.ts';
import { describePlace, isInContent, type RolePlace } from './place.ts';
import { type ContentReader, isPending, type PlaceReader, readContent, readPlace } from './places.ts';
import { listRoles, type Role, roles } from './roles.ts';
import { type ReadSignatures, readSignatures } from './signature-format.ts';
import { isOfContent } from './template.ts';
import { parseTimestamp } from './timestamp.ts';

/** A declaration with what a verification uses of it, computed once. */
export interface CompiledDeclaration extends Declaration {
  /** The literals beside parts of the message that a client chooses freely, which their values must not contain. */
  readonly guards: Readonly<Record<'nonce' | 'id', readonly string[]>>;
  /** Whether the message contains something that is computed from the content; from a form. */
  readonly coversContent: boolean;
  readonly coversForm: boolean;
  /** Whether the content contains credentials, or may contain some. */
  readonly readsContent: boolean;
  /** The form of a signature. */
  readonly form: SignatureForm;
  /** The kinds of the keys that sign, but for those beside secrets (Standard Webhooks, `v1a`). */
  readonly kinds: readonly KeyKind[];
  /** Parses a timestamp of the declared unit. */
  readonly parseTime: (timestamp: string) => number | undefined;
}

/** Computes what a verification uses of a declaration. */
export function compileDeclaration(declaration: Declaration): CompiledDeclaration {
  const { algorithm, message, hash, encoding, anyCase } = declaration;
  const keyAlgorithm = findKeyAlgorithm(algorithm);
  const dsaEncoding = algorithm === 'ecdsa-p256' ? declaration.dsaEncoding : undefined;
  const coversForm = message.some(({ kind }) => kind === 'form');
  return {
    ...declaration,
    guards: { nonce: listGuards(declaration, 'nonce'), id: listGuards(declaration, 'id') },
    coversContent: coversForm || message.some(isOfContent),
    coversForm,
    readsContent: readsContent(declaration),
    form:
      keyAlgorithm === undefined
        ? digestForm(hash, encoding, anyCase)
        : { encoding, dsaEncoding, lengths: signatureLengths(keyAlgorithm, { dsaEncoding }) },
    kinds: keyAlgorithm === undefined ? onlySecret : [keyAlgorithm],
    parseTime: keepLast((text) => parseTimestamp(text, declaration.timestamp?.unit ?? 's')),
  };
}

/** Returns whether the content contains credentials, or may contain some. */
export function readsContent(declaration: Declaration): boolean {
  const { place, queryOrForm } = declaration;
  return queryOrForm === true || [place, ...listRoles(declaration).map(([, each]) => each)].some(isInContent);
}

/** The parsed credentials of a request. */
export interface DeclaredPresented extends Presented {
  readonly target: string;
  /** The user, if the request names it beside the id of its key. */
  readonly owner: string | undefined;
  /** The SHA-256 of the passphrase; undefined if the scheme has none. */
  readonly passphrase: Buffer | undefined;
  /** Whether the signature is in the form, which is signed without it. */
  readonly isInForm: boolean;
  /** What the message contains of the credentials. */
  readonly signed: SignedValues;
  /** Authorization after the name of the scheme. */
  readonly rest: string;
  /** The place of the signature. */
  readonly place: Declaration['place'];
}

/**
 * Parses the credentials of a request: one for each field that has a signature, if several may. Malformed ones are left out, unless
 * all are.
 */
export function presentAll(
  request: IncomingRequest,
  rest: string,
  declaration: CompiledDeclaration,
): DeclaredPresented | readonly DeclaredPresented[] | Fault {
  const { place, otherFields } = declaration;
  if (otherFields.length === 0 || !('field' in place)) return present(request, rest, declaration);
  const read = [place.field, ...otherFields]
    .filter((field) => request.headers.has(field.toLowerCase()))
    .map((field) => present(request, rest, { ...declaration, place: { field } }));
  return read.length === 0 ? present(request, rest, declaration) : keepReadable(read);
}

/**
 * Parses the credentials of a request. Without the content, what is in it is not examined: the result shows only whether the request
 * has a fault elsewhere.
 */
export function present(
  request: IncomingRequest,
  rest: string,
  options: CompiledDeclaration,
  content?: Uint8Array,
): DeclaredPresented | Fault {
  const inContent = options.readsContent && content !== undefined ? readContent(request, content) : undefined;
  if (inContent !== undefined && 'detail' in inContent) return inContent;
  const placed = readPlacedValue(request, rest, options, inContent);
  if ('detail' in placed) return placed;
  const read = placed.value === undefined ? pendingSignatures : readSignatures(options.format, placed.value);
  if (typeof read === 'string') return malformedValue(read, placed.value ?? '', options);
  const decoded =
    placed.value === undefined ? { signatures: [], kinds: options.kinds } : decodeAll(read, options);
  if ('detail' in decoded) return decoded;
  const reader = {
    request,
    values: read.values,
    content: inContent,
    queryOrForm: options.queryOrForm === true,
  };
  const user = readUser(reader, options);
  if (typeof user === 'object') return user;
  const timed = readTimestamp(reader, options);
  if ('detail' in timed) return timed;
  const nonce = readToken('nonce', reader, options);
  if (typeof nonce !== 'string') return nonce;
  const id = readToken('id', reader, options);
  if (typeof id !== 'string') return id;
  const passphrase = readPassphraseDigest(reader, options);
  if (passphrase !== undefined && 'detail' in passphrase) return passphrase;
  const expires = readExpiry(reader, timed.time, options);
  if (typeof expires === 'object') return expires;
  // Written out, because copying members of other objects takes longer.
  const { timestamp, time } = timed;
  const owner = read.values['key-id'] === undefined ? undefined : read.values.user;
  const keyId = toOctets(user);
  return {
    request,
    user,
    signatures: decoded.signatures,
    kinds: decoded.kinds,
    needs: neededContent(request, placed.target, options),
    time,
    sentTime: timestamp,
    expires,
    nonce: nonce === '' ? undefined : nonce,
    target: placed.target,
    owner,
    passphrase,
    isInForm: placed.isInForm,
    signed: { user: owner === undefined ? keyId : toOctets(owner), keyId, timestamp, nonce, id },
    rest,
    place: options.place,
  };
}

const onlySecret: readonly KeyKind[] = ['secret'];
const onlyEd25519: readonly KeyKind[] = ['ed25519'];
const bothKinds: readonly KeyKind[] = ['secret', 'ed25519'];

/** Returns what the message, or the places of the credentials, need of the content. */
function neededContent(
  request: IncomingRequest,
  target: string,
  options: CompiledDeclaration,
): Presented['needs'] {
  const { readsContent, coversForm, coversContent } = options;
  if (readsContent || (coversForm && hasSignedForm(request, target, options))) return 'form';
  return coversContent ? 'content' : undefined;
}

const pendingSignatures: ReadSignatures = { signatures: [], asymmetric: [], values: {} };

interface Placed {
  /** Undefined if the content, which has it, was not read. */
  readonly value: string | undefined;
  /** The target without the signature. */
  readonly target: string;
  readonly isInForm: boolean;
}

function readPlacedValue(
  request: IncomingRequest,
  rest: string,
  options: CompiledDeclaration,
  content: ContentReader | undefined,
): Placed | Fault {
  const { place, authorizationName, format, queryOrForm = false } = options;
  const { headers, target } = request;
  if ('field' in place) {
    // Schemes are case-insensitive (RFC 9110 §11.1).
    if (authorizationName !== undefined)
      return { value: `${authorizationName} ${rest}`, target, isInForm: false };
    const isList = format.separator?.trim() === ',';
    const value = isList
      ? headers.get(place.field.toLowerCase())
      : readPlace(place, { request, values: {}, content, queryOrForm });
    return typeof value === 'object' ? value : { value: value ?? '', target, isInForm: false };
  }
  const sent = 'query' in place ? findQueryValues(target, place.query) : [];
  const isInForm =
    'form' in place || ('query' in place && queryOrForm && sent.length === 0 && hasForm(request));
  const reader: PlaceReader = { request, values: {}, content, queryOrForm };
  if (isPending(place, reader)) return { value: undefined, target, isInForm };
  const value = readPlace(place, reader);
  if (typeof value === 'object') return value;
  if (!('query' in place) || isInForm) return { value: value ?? '', target, isInForm };
  if (value === undefined)
    return {
      detail: `The query parameter ${place.query} is missing; it contains the signature.`,
      hint: describeParameters(request, [place.query]),
    };
  if (value.includes(' ') && sent[0]?.includes('%20') === false)
    return {
      detail: `The query parameter ${place.query} is malformed.`,
      hint: 'a "+" was not encoded as %2B',
    };
  return { value, target: removeParameters(target, [place.query]), isInForm };
}

/** Names the usual mistakes in the form of the value. */
function malformedValue(fault: string, value: string, options: CompiledDeclaration): Fault {
  const { format, form } = options;
  const detail = `${sentence(fault)}.`;
  if (decodeSignature(value.trim(), form) !== undefined)
    return { detail, hint: `the signature was sent alone, without the text around it in ${format.text}` };
  if (value === '') return { detail, hint: 'the value is empty' };
  if (/^[\w-]+: /.test(value)) return { detail, hint: 'the name of a field is in the value, with a colon' };
  const [, before = '', rest = ''] = /^([^=]*=)(.+)$/s.exec(value) ?? [];
  if (decodeSignature(rest, form) !== undefined)
    return { detail, hint: `the signature follows ${JSON.stringify(before)}; ${format.text} is expected` };
  // A signature of another algorithm: sha1={signature}.
  if (/^[\w-]{1,16}=$/.test(before) && /^[\w+/-]{16,}={0,2}$/.test(rest) && !format.text.startsWith(before))
    return { detail, hint: `the value begins with ${JSON.stringify(before)}; ${format.text} is expected` };
  if (format.separator !== undefined && /[,; ]/.test(value))
    return {
      detail,
      hint: `the elements are separated by ${JSON.stringify(format.separator)}, and named as in ${format.text}`,
    };
  return { detail };
}

/** The form of signatures by private keys among those of HMAC (Standard Webhooks, `v1a`). */
const listedForm: SignatureForm = { encoding: 'base64', lengths: signatureLengths('ed25519', {}) };

/** Returns the well-formed signatures, and the kinds of keys that may have made them; their lengths differ by kind. */
function decodeAll(
  { signatures, asymmetric }: ReadSignatures,
  { algorithm, encoding, dsaEncoding, form, kinds }: CompiledDeclaration,
): Pick<Presented, 'signatures' | 'kinds'> | Fault {
  const decoded = decodeEach(signatures, form);
  const listed = asymmetric.length === 0 ? asymmetric : decodeEach(asymmetric, listedForm);
  if (listed.length > 0)
    return { signatures: [...decoded, ...listed], kinds: decoded.length === 0 ? onlyEd25519 : bothKinds };
  if (decoded.length > 0) return { signatures: decoded, kinds };
  const [first] = signatures;
  if (first === undefined)
    return {
      detail: 'The signature is not the canonical base64 of 64 bytes.',
      hint: describeMalformed(asymmetric[0] ?? '', listedForm),
    };
  if (kinds === onlySecret) return { detail: `${sentence(signatureFault(first, form))}.` };
  const variant = form.dsaEncoding === undefined ? '' : ` (${dsaEncoding})`;
  return {
    detail: `The signature is not one of ${algorithm}${variant} in ${encoding}.`,
    hint: describeMalformed(first, form),
  };
}

function decodeEach(signatures: readonly string[], form: SignatureForm): readonly string[] {
  const decoded: string[] = [];
  for (const signature of signatures) {
    const canonical = decodeSignature(signature, form);
    if (canonical !== undefined) decoded.push(canonical);
  }
  return decoded;
}

/** Returns the user, or the id of the key, that a request names; '' if the content names it, which was not read. */
function readUser(reader: PlaceReader, { user }: Declaration): string | Fault {
  if (typeof user === 'string') return user;
  const value = requireValue(user, 'user', reader);
  if (typeof value === 'object') return value;
  if (value === undefined) return '';
  const name = decodeName(value);
  return (
    name ?? {
      detail: `${sentence(describePlace(user))} is not a user name: one value of 1 to 128 bytes of UTF-8.`,
    }
  );
}

/** Returns the user that a request names outside its content; undefined if it names none. */
export function claimedUser(
  request: IncomingRequest,
  rest: string,
  declaration: Declaration,
): string | undefined {
  const { authorizationName, place, otherFields, format } = declaration;
  const fields = 'field' in place ? [place.field, ...otherFields] : [];
  const text =
    authorizationName === undefined
      ? fields.map((field) => request.headers.get(field.toLowerCase())).find((value) => value !== undefined)
      : `${authorizationName} ${rest}`;
  const read = text === undefined ? '' : readSignatures(format, text);
  const values = typeof read === 'string' ? {} : read.values;
  const named = readUser({ request, values, content: undefined, queryOrForm: false }, declaration);
  return typeof named === 'string' && named !== '' ? named : undefined;
}

/** Returns the value at a place, or a fault if it is missing; undefined if it is in the content, which was not read. */
function requireValue(place: RolePlace, role: Role, reader: PlaceReader): string | Fault | undefined {
  const value = readPlace(place, reader);
  if (value !== undefined || isPending(place, reader)) return value;
  const detail = `${sentence(describePlace(place))} is missing; it ${roles[role].purpose}.`;
  return 'field' in place ? { detail, missing: { field: place.field, request: reader.request } } : { detail };
}

const noTimestamp = { timestamp: '', time: undefined };

function readTimestamp(
  reader: PlaceReader,
  { timestamp: declared, parseTime }: CompiledDeclaration,
): { readonly timestamp: string; readonly time: number | undefined } | Fault {
  if (declared === undefined) return noTimestamp;
  const { place, unit } = declared;
  if ('format' in place && reader.values.timestamp === undefined)
    return { detail: 'The value contains no timestamp.' };
  const timestamp = requireValue(place, 'timestamp', reader);
  if (typeof timestamp === 'object') return timestamp;
  if (timestamp === undefined) return noTimestamp;
  const time = parseTime(timestamp);
  if (time !== undefined) return { timestamp, time };
  const hint = describeTimeForm(timestamp);
  const detail = `The timestamp is not ${unitNames[unit]}.`;
  return hint === undefined ? { detail } : { detail, hint: `it is ${hint}` };
}

/** Returns a nonce or an id: 1 to 128 visible ASCII characters without the literals beside it. */
function readToken(role: 'nonce' | 'id', reader: PlaceReader, options: CompiledDeclaration): string | Fault {
  const place = options[role];
  if (place === undefined) return '';
  const value = requireValue(place, role, reader);
  if (value === undefined) return '';
  if (typeof value === 'object') return value;
  const where = sentence(describePlace(place));
  if (value.length > maxNonceLength || !/^[!-~]+$/.test(value))
    return { detail: `${where} is not 1 to 128 visible ASCII characters.` };
  for (const guard of options.guards[role])
    if (value.includes(guard)) {
      const quoted = JSON.stringify(guard);
      return { detail: `${where} contains ${quoted}, which separates the parts of the message.` };
    }
  return value;
}

/** Returns the SHA-256 of the passphrase, of which every length takes the same time to compare. */
function readPassphraseDigest(reader: PlaceReader, { passphrase }: Declaration): Buffer | Fault | undefined {
  if (passphrase === undefined) return undefined;
  const value = requireValue(passphrase, 'passphrase', reader);
  return typeof value === 'string' ? createHash('sha256').update(bytesOf(value)).digest() : value;
}

/** Returns when the lifetime that the client chose ends (ms); undefined if the scheme has none. */
function readExpiry(
  reader: PlaceReader,
  time: number | undefined,
  { lifetime }: Declaration,
): number | Fault | undefined {
  if (lifetime === undefined || time === undefined) return undefined;
  const { parameter, usual, longest } = lifetime;
  const chosen = readPlace({ query: parameter }, reader);
  if (typeof chosen === 'object') return chosen;
  const text = chosen ?? String(usual);
  // Microseconds may follow a point.
  if (!/^\d{1,6}(?:\.\d{1,3})?$/.test(text) || Number(text) > longest)
    return { detail: `The parameter ${parameter} is not a number of milliseconds up to ${longest}.` };
  return time + Number(text);
}
