import { createHash } from 'node:crypto';
import {
  decodeFormText,
  findQueryValues,
  hasForm,
  isCoded,
  removeParameters,
  takeParameter,
} from '../../http/form.ts';
import { hostForms } from '../../http/host.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { bytesOf, decodeName, octetsOf, toOctets } from '../../http/syntax/octets.ts';
import { addressedAuthority } from '../../http/target.ts';
import {
  decodeKeySignature,
  hasPrivateKey,
  type PrivateKeyAlgorithm,
  signatureLengths,
} from '../../signature/declared/asymmetric.ts';
import { decodeSignature, signatureFault } from '../../signature/declared/key.ts';
import { createJsonReader, type MessageSource } from '../../signature/declared/message.ts';
import { describePlace, type RolePlace } from '../../signature/declared/places.ts';
import { type ReadSignatures, readSignatures } from '../../signature/declared/signature-format.ts';
import { maxNonceLength } from '../../signature/message.ts';
import { describeForm } from '../../signature/signature-form.ts';
import { describeParameters } from '../explain/related-names.ts';
import { describeTimeForm, unitNames } from '../freshness.ts';
import type { KeyKind } from '../keyring.ts';
import type { Fault, Presented } from '../scheme.ts';
import { readUser } from '../user-name.ts';
import type { CompiledDeclaration } from './compiled.ts';
import type { DeclaredOptions } from './options.ts';
import {
  type ContentReader,
  isPending,
  type PlaceReader,
  readContent,
  readPlace,
  sentence,
} from './places.ts';

/** The parsed credentials of a request. */
export interface DeclaredPresented extends Presented {
  /** The well-formed digests, in base64. */
  readonly digests: readonly string[];
  /** The well-formed signatures by private keys, in base64. */
  readonly asymmetric: readonly string[];
  readonly timestamp: string;
  readonly id: string;
  readonly target: string;
  /** The user, if the request names it beside the id of its key. */
  readonly owner: string | undefined;
  /** The SHA-256 of the passphrase; undefined if the scheme has none. */
  readonly passphrase: Buffer | undefined;
  /** Whether the signature is in the form, which is signed without it. */
  readonly isInForm: boolean;
  /** Authorization after the name of the scheme. */
  readonly rest: string;
  /** The name of the field with the signature in lower case; '' if it is elsewhere. */
  readonly signatureField: string;
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
  const { signatureField, otherFields } = declaration;
  if (otherFields.length === 0) return present(request, rest, declaration);
  const fields = [signatureField, ...otherFields.map((field) => field.toLowerCase())];
  const read = fields
    .filter((field) => request.headers.has(field))
    .map((field) => present(request, rest, { ...declaration, signatureField: field }));
  const presented = read.flatMap((each) => ('detail' in each ? [] : [each]));
  return presented.length > 0 ? presented : (read[0] ?? present(request, rest, declaration));
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
  const signatures = placed.value === undefined ? noSignatures : decodeAll(read, options);
  if ('detail' in signatures) return signatures;
  const reader = {
    request,
    values: read.values,
    content: inContent,
    queryOrForm: options.queryOrForm === true,
  };
  const user = userIn(reader, options);
  if (typeof user === 'object') return user;
  const timed = readTimestamp(reader, options);
  if ('detail' in timed) return timed;
  const nonce = readToken('nonce', reader, options);
  if (typeof nonce !== 'string') return nonce;
  const id = readToken('id', reader, options);
  if (typeof id !== 'string') return id;
  const passphrase = readPassphraseDigest(request, options);
  if (passphrase !== undefined && 'detail' in passphrase) return passphrase;
  const expires = readExpiry(reader, timed.time, options);
  if (typeof expires === 'object') return expires;
  // Written out, because copying members of other objects takes longer.
  const { digests, asymmetric } = signatures;
  const { timestamp, time } = timed;
  return {
    request,
    user,
    signatures: digests.length > 0 ? digests : asymmetric,
    kinds: selectKinds(signatures, options),
    needs: neededContent(request, placed.target, options),
    digests,
    asymmetric,
    timestamp,
    time,
    sentTime: timestamp,
    expires,
    nonce: nonce === '' ? undefined : nonce,
    id,
    target: placed.target,
    owner: read.values['key-id'] === undefined ? undefined : read.values.user,
    passphrase,
    isInForm: placed.isInForm,
    rest,
    signatureField: options.signatureField,
  };
}

const onlySecret: readonly KeyKind[] = ['secret'];
const onlyEd25519: readonly KeyKind[] = ['ed25519'];
const bothKinds: readonly KeyKind[] = ['secret', 'ed25519'];

/** Returns the kinds of keys that may have made the signatures. Those of Standard Webhooks are of secrets and of private keys. */
function selectKinds(
  { digests, asymmetric }: Pick<DeclaredPresented, 'digests' | 'asymmetric'>,
  { keyKinds }: CompiledDeclaration,
): readonly KeyKind[] {
  if (keyKinds !== undefined) return keyKinds;
  if (asymmetric.length === 0) return onlySecret;
  return digests.length === 0 ? onlyEd25519 : bothKinds;
}

/** Returns what the message, or the places of the credentials, need of the content. */
function neededContent(
  request: IncomingRequest,
  target: string,
  options: CompiledDeclaration,
): Presented['needs'] {
  const { readsContent, needs } = options;
  if (readsContent || (needs.form && hasSignedForm(request, target, options))) return 'form';
  return needs.content ? 'content' : undefined;
}

const pendingSignatures: ReadSignatures = { signatures: [], asymmetric: [], values: {} };
const noSignatures: Pick<DeclaredPresented, 'digests' | 'asymmetric'> = { digests: [], asymmetric: [] };

interface Placed {
  /** Undefined if the content, which has it, was not read. */
  readonly value: string | undefined;
  readonly target: string;
  readonly isInForm: boolean;
}

function readPlacedValue(
  request: IncomingRequest,
  rest: string,
  options: CompiledDeclaration,
  content: ContentReader | undefined,
): Placed | Fault {
  const { signatureField, place, otherFields, authorizationName, format, queryOrForm = false } = options;
  const { headers: fields, target } = request;
  if ('query' in place) {
    const values = findQueryValues(target, place.query);
    const isInForm = values.length === 0 && queryOrForm && hasForm(request);
    if (isInForm) return contentValue({ form: place.query }, request, content);
    if (values.length === 0)
      return {
        detail: `The query parameter ${place.query} is missing; it contains the signature.`,
        hint: describeParameters(request, [place.query]),
      };
    return readQueryValue(place.query, values, removeParameters(target, [place.query]));
  }
  if ('json' in place || 'form' in place) return contentValue(place, request, content);
  // Schemes are case-insensitive (RFC 9110 §11.1).
  if (authorizationName !== undefined)
    return { value: `${authorizationName} ${rest}`, target, isInForm: false };
  const isRepeated = fields.repeated && fields.getAll(signatureField).length > 1;
  if (isRepeated && format.separator?.trim() !== ',')
    return {
      detail: `The field ${findDeclaredName(signatureField, [place.field, ...otherFields])} was sent twice.`,
    };
  return { value: fields.get(signatureField) ?? '', target, isInForm: false };
}

function contentValue(
  place: { readonly json: string } | { readonly form: string },
  request: IncomingRequest,
  content: ContentReader | undefined,
): Placed | Fault {
  const reader: PlaceReader = { request, values: {}, content, queryOrForm: false };
  const { target } = request;
  const isInForm = 'form' in place;
  if (isPending(place, reader)) return { value: undefined, target, isInForm };
  const value = readPlace(place, 'nonce', reader);
  if (typeof value === 'object') return value;
  return { value: value ?? '', target, isInForm };
}

/** Returns a field as it was declared. */
function findDeclaredName(lower: string, declared: readonly string[]): string {
  return declared.find((name) => name.toLowerCase() === lower) ?? lower;
}

function readQueryValue(name: string, values: readonly string[], target: string): Placed | Fault {
  const [encoded = ''] = values;
  if (values.length > 1) return { detail: `The query parameter ${name} was sent twice.` };
  const value = decodeFormText(encoded);
  if (value === undefined) return { detail: `The query parameter ${name} cannot be decoded.` };
  return value.includes(' ') && !encoded.includes('%20')
    ? { detail: `The query parameter ${name} is malformed.`, hint: 'a "+" was not encoded as %2B' }
    : { value, target, isInForm: false };
}

/** Names the usual mistakes in the form of the value. */
function malformedValue(fault: string, value: string, options: DeclaredOptions): Fault {
  const { format } = options;
  const detail = `${sentence(fault)}.`;
  if (decode(value.trim(), options) !== undefined)
    return { detail, hint: `the signature was sent alone, without the text around it in ${format.text}` };
  if (value === '') return { detail, hint: 'the value is empty' };
  const [, before = '', rest = ''] = /^([^=]*=)(.+)$/s.exec(value) ?? [];
  if (decode(rest, options) !== undefined)
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

/** Returns a signature in canonical base64; undefined if it is malformed. */
function decode(text: string, options: DeclaredOptions): string | undefined {
  const { algorithm, encoding, hash, anyCase = false } = options;
  if (hasPrivateKey(algorithm)) return decodeKeySignature(text, encoding, options);
  return decodeSignature(anyCase ? text.toLowerCase() : text, encoding, hash);
}

function decodeAll(
  { signatures, asymmetric }: ReadSignatures,
  options: DeclaredOptions,
): Pick<DeclaredPresented, 'digests' | 'asymmetric'> | Fault {
  const { algorithm, encoding, hash } = options;
  const decoded: string[] = [];
  for (const signature of signatures) {
    const digest = decode(signature, options);
    if (digest !== undefined) decoded.push(digest);
  }
  const known = asymmetric.length === 0 ? asymmetric : asymmetric.filter(isEd25519Signature);
  if (hasPrivateKey(algorithm) && decoded.length > 0) return { digests: none, asymmetric: decoded };
  if (decoded.length + known.length > 0) return { digests: decoded, asymmetric: known };
  const [first] = signatures;
  if (first === undefined) return { detail: 'The signature is not the canonical base64 of 64 bytes.' };
  if (hasPrivateKey(algorithm)) return keySignatureFault(first, options);
  return { detail: `${sentence(signatureFault(first, encoding, hash))}.` };
}

const none: readonly string[] = [];

/** Names the other form of a signature by a private key, if it has one. */
function keySignatureFault(text: string, options: DeclaredOptions): Fault {
  const { algorithm, encoding, dsaEncoding } = options;
  const form = algorithm === 'ecdsa-p256' ? ` (${dsaEncoding})` : '';
  const detail = `The signature is not one of ${algorithm}${form} in ${encoding}.`;
  const readAs = (each: typeof encoding): string | undefined =>
    decodeKeySignature(each === 'hex' ? text.toLowerCase() : text, each, options);
  const other = (['hex', 'base64', 'base64url'] as const).find((each) => readAs(each) !== undefined);
  const otherName = other === encoding ? 'upper case' : other;
  const cause = describeForm(text) ?? (otherName && `it is in ${otherName}`);
  if (cause !== undefined) return { detail, hint: cause };
  const bytes = Buffer.from(text, encoding);
  if (algorithm === 'ecdsa-p256' && hasOtherForm(bytes, dsaEncoding))
    return { detail, hint: `it has the form ${dsaEncoding === 'der' ? 'ieee-p1363' : 'der'}` };
  const wrongLength = hasPrivateKey(algorithm) && describeLength(bytes, algorithm, dsaEncoding);
  return isWritten(text, encoding) && wrongLength ? { detail, hint: wrongLength } : { detail };
}

/** Returns whether a signature of ECDSA has 64 bytes in place of ASN.1, or is in ASN.1 (RFC 3279 §2.2.3): a sequence of two integers. */
function hasOtherForm(bytes: Buffer, expected: DeclaredOptions['dsaEncoding']): boolean {
  if (expected === 'der') return bytes.length === 64;
  return bytes[0] === 0x30 && bytes[1] === bytes.length - 2 && bytes[2] === 0x02;
}

function isWritten(text: string, encoding: DeclaredOptions['encoding']): boolean {
  return encoding === 'hex' ? /^[0-9a-f]+$/i.test(text) : /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}

function describeLength(
  { length }: Buffer,
  algorithm: PrivateKeyAlgorithm,
  dsaEncoding: DeclaredOptions['dsaEncoding'],
): string | undefined {
  const [min, max] = signatureLengths(algorithm, dsaEncoding);
  if (length >= min && length <= max) return undefined;
  return `it has ${length} bytes; ${min === max ? min : `${min} to ${max}`} are expected`;
}

function isEd25519Signature(text: string): boolean {
  return text.length === 88 && Buffer.from(text, 'base64').toString('base64') === text && text.endsWith('==');
}

/** Returns the user, or the id of the key, that a request names. */
function userIn(reader: PlaceReader, options: DeclaredOptions): string | Fault {
  const { user } = options;
  const { request } = reader;
  if (typeof user === 'string' || 'field' in user)
    return readUser(user, request.headers) ?? unreadable(request, user);
  if (isPending(user, reader)) return '';
  const isById = 'format' in user && options.format.has.has('key-id');
  const value = readPlace(user, isById ? 'key-id' : 'user', reader);
  if (typeof value === 'object') return value;
  if (value === undefined) return describeMissing(user, 'names the user', request);
  const name = decodeName(value);
  return name ?? { detail: `${sentence(describePlace(user))} is not a user name: 1 to 128 bytes of UTF-8.` };
}

/** Returns the user that a request names outside its content; undefined if it names none. */
export function claimedUser(
  request: IncomingRequest,
  rest: string,
  options: DeclaredOptions,
): string | undefined {
  const { user, authorizationName, place, otherFields, format } = options;
  if (typeof user === 'string' || 'field' in user) return readUser(user, request.headers);
  const text =
    authorizationName === undefined
      ? 'field' in place
        ? [place.field, ...otherFields]
            .map((field) => request.headers.get(field.toLowerCase()))
            .find((value) => value !== undefined)
        : undefined
      : `${authorizationName} ${rest}`;
  const read = text === undefined || !('format' in user) ? undefined : readSignatures(format, text);
  const values = read === undefined || typeof read === 'string' ? {} : read.values;
  const reader: PlaceReader = { request, values, content: undefined, queryOrForm: false };
  const named = userIn(reader, options);
  return typeof named === 'string' && named !== '' ? named : undefined;
}

function unreadable(request: IncomingRequest, user: RolePlace | string): Fault {
  const { headers: fields } = request;
  const field = typeof user === 'object' && 'field' in user ? user.field : '';
  return fields.has(field.toLowerCase())
    ? { detail: `The field ${field} is not a user name: one value of 1 to 128 bytes of UTF-8.` }
    : describeMissing({ field }, 'names the user', request);
}

/** Returns the fault of a request that lacks a value. */
function describeMissing(place: RolePlace, purpose: string, request: IncomingRequest): Fault {
  const detail = `${sentence(describePlace(place))} is missing; it ${purpose}.`;
  return 'field' in place ? { detail, missing: { field: place.field, request } } : { detail };
}

const noTimestamp = { timestamp: '', time: undefined };

function readTimestamp(
  reader: PlaceReader,
  { timestamp: declared, parseTime }: CompiledDeclaration,
): Pick<DeclaredPresented, 'timestamp' | 'time'> | Fault {
  if (declared === undefined) return noTimestamp;
  const { place, unit } = declared;
  const timestamp = readPlace(place, 'timestamp', reader);
  if (typeof timestamp === 'object') return timestamp;
  if (timestamp === undefined && isPending(place, reader)) return noTimestamp;
  if (timestamp === undefined && 'format' in place) return { detail: 'The value contains no timestamp.' };
  if (timestamp === undefined) return describeMissing(place, 'contains the timestamp', reader.request);
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
  const value = readPlace(place, 'nonce', reader);
  if (typeof value === 'object') return value;
  if (value === undefined && isPending(place, reader)) return '';
  const where = sentence(describePlace(place));
  if (value === undefined) return describeMissing(place, `contains the ${role}`, reader.request);
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
function readPassphraseDigest(
  { headers: fields }: IncomingRequest,
  { passphrase }: DeclaredOptions,
): Buffer | Fault | undefined {
  if (passphrase === undefined) return undefined;
  const [value, another] = fields.getAll(passphrase.field.toLowerCase());
  if (value === undefined)
    return { detail: `The field ${passphrase.field} is missing; it contains the passphrase.` };
  if (another !== undefined) return { detail: `The field ${passphrase.field} was sent twice.` };
  return createHash('sha256').update(bytesOf(value)).digest();
}

/** Returns when the lifetime that the client chose ends (ms); undefined if the scheme has none. */
function readExpiry(
  reader: PlaceReader,
  time: number | undefined,
  { lifetime }: DeclaredOptions,
): number | Fault | undefined {
  if (lifetime === undefined || time === undefined) return undefined;
  const { parameter, usual, longest } = lifetime;
  const chosen = readPlace({ query: parameter }, 'nonce', reader);
  if (typeof chosen === 'object') return chosen;
  const text = chosen ?? String(usual);
  // Microseconds may follow a point.
  if (!/^\d{1,6}(?:\.\d{1,3})?$/.test(text) || Number(text) > longest)
    return { detail: `The parameter ${parameter} is not a number of milliseconds up to ${longest}.` };
  return time + Number(text);
}

/** Returns the data of the request that messages contain; several if the authority may be signed in several forms. */
export function buildSources(
  presented: DeclaredPresented,
  content: Uint8Array,
  options: CompiledDeclaration,
  publicOrigin?: string,
): readonly [MessageSource, ...MessageSource[]] {
  const { needs } = options;
  const { request, user, owner, timestamp, nonce = '', id, target, isInForm } = presented;
  const { method, headers: fields, connection } = request;
  const signed = isInForm ? removeParameter(content, options) : content;
  const source: MessageSource = {
    method,
    target,
    secure: connection.secure,
    host: needs.host ? addressedAuthority(target, fields) : '',
    decodedInUrl: options.decodedInUrl,
    field: (name) => fields.get(name),
    content: signed,
    json: createJsonReader(signed),
    hasForm: needs.form && hasSignedForm(request, target, options),
    user: needs.user ? toOctets(owner ?? user) : '',
    keyId: needs.user ? toOctets(user) : '',
    timestamp,
    nonce,
    id,
  };
  const first = publicOrigin === undefined || !needs.url ? source : { ...source, origin: publicOrigin };
  const addressed: ReturnType<typeof buildSources> = first === source ? [source] : [first, source];
  if (options.anyPort !== true) return addressed;
  const [head, ...more] = addressed.flatMap((each) => addPortVariant(each));
  return head === undefined ? addressed : [head, ...more];
}

/** Returns the data with the authority without its port, and with it. */
function addPortVariant(source: MessageSource): MessageSource[] {
  const { origin, host, secure } = source;
  const [, scheme = '', authority = host] = /^(https?:\/\/)(.*)$/.exec(origin ?? '') ?? [];
  return hostForms(authority, origin === undefined ? secure : scheme === 'https://').map((form) =>
    origin === undefined ? { ...source, host: form } : { ...source, origin: scheme + form },
  );
}

/** Returns a form without the parameter that contains the signature. */
function removeParameter(content: Uint8Array, { place }: DeclaredOptions): Uint8Array {
  const name = 'form' in place ? place.form : 'query' in place ? place.query : '';
  return bytesOf(takeParameter(octetsOf(content), name).rest ?? '');
}

/** Returns whether the content is a form whose parameters are signed. */
export function hasSignedForm(
  request: IncomingRequest,
  target: string,
  { digestParameter }: DeclaredOptions,
): boolean {
  const hasDigest = digestParameter !== undefined && findQueryValues(target, digestParameter).length > 0;
  return !hasDigest && hasForm(request) && !isCoded(request);
}
