// Signing HTTP Messages (draft-cavage-http-signatures-12), as the fediverse and Oracle Cloud use it.

import { createHash, createHmac, type KeyObject } from 'node:crypto';
import type { KeyKind } from '../../accounts/keyring.ts';
import { findAlgorithm, type PublicKeyKind, signWith, verifyWith } from '../../algorithms.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import { formatDate, parseDate } from '../../http/headers/date.ts';
import { valueBetween, valueEnd } from '../../http/syntax/parameters.ts';
import { isToken, skipWhitespace, tokenEnd } from '../../http/syntax/token.ts';
import { grammar, object, optional, read, type ShapesOf, word } from '../../shape/shape.ts';
import {
  CredentialsFault,
  type Definition,
  type ParsedCredentials,
  type SchemeCredentials,
  type SchemeHeaders,
  type SchemeMessagePart,
  type SchemeRequest,
  type SigningContext,
} from '../defined/definition.ts';
import { explainDigest } from '../explain/content.ts';
import { describeTimeForm } from '../freshness.ts';
import type { DigestFault } from '../scheme.ts';
import type { DraftCavageDeclaration } from '../scheme-declarations.ts';
import { filledText, windowShape } from '../scheme-shapes.ts';
import { describeBase64 } from '../signature-form.ts';
import {
  describeCoveredNames,
  describeDigestForm,
  describeMalformedParameters,
  describeMisnamedParameter,
  describeMissingField,
  joinLines,
  signingStringMistakes,
} from './mistakes.ts';

/** Describes the declaration of the scheme. */
export const draftCavageShape = object({
  headers: optional(
    grammar(
      {
        description: 'fields that a signature must cover',
        type: 'array',
        items: { type: 'string', minLength: 1 },
      },
      'a list of fields',
      readHeaders,
    ),
  ),
  window: optional(windowShape),
  replay: optional(word(['accept', 'refuse'], 'whether a signature is accepted more than once')),
} satisfies ShapesOf<DraftCavageDeclaration>);

/** The fields that a signature must cover by default, beside a time, and a digest of the content. */
const defaultHeaders: readonly string[] = ['(request-target)', 'host'];

/** The kinds of keys that may have made a signature, by its parameter `algorithm`. The key determines the algorithm. */
const kindsOf: Readonly<Record<string, readonly KeyKind[]>> = {
  hs2019: ['secret', 'ed25519', 'ecdsa-p256-sha256', 'rsa-v1_5-sha256', 'rsa-pss-sha512'],
  'rsa-sha256': ['rsa-v1_5-sha256'],
  'rsa-sha512': ['rsa-v1_5-sha256'],
  'hmac-sha256': ['secret'],
  'ecdsa-sha256': ['ecdsa-p256-sha256'],
  ed25519: ['ed25519'],
  'ed25519-sha512': ['ed25519'],
};

/**
 * Reads the scheme from a configuration.
 * @param where The path of the value, with which every message begins: `schemes.draft-cavage`.
 * @throws RangeError if a key is unknown, or a value invalid
 */
export function readDraftCavage(value: unknown, where: string): Definition {
  const declared = read(draftCavageShape, value, [where]);
  const { headers: required = defaultHeaders, window = 300, replay = 'accept' } = declared;
  return {
    headers: ['Authorization', 'Signature', 'Date', 'X-Date', 'Digest', 'X-Content-SHA256'],
    credentialHeaders: ['Signature'],
    authorization: 'Signature',
    // With it, the field belongs to RFC 9421.
    unless: 'signature-input',
    window,
    nonce: 'off',
    replay,
    kinds: kindsOf['hs2019'] ?? [],
    parse: (request) => parse(request, required),
    message: (request, credentials) =>
      parsedParameters(credentials).covered.flatMap((name, at) => buildLine(name, at, request, credentials)),
    sign: signMessage,
    verify: verifyMessage,
    format: (credentials, request) => format(credentials, request, required),
    challenge: [['headers', [...required, 'date'].join(' ')]],
    accept: (credentials, { kind }) => {
      const { algorithm: named } = parsedParameters(credentials);
      const fits = named === undefined || kindsOf[named]?.includes(kind) === true;
      return fits
        ? undefined
        : `the signature names ${named}, but the key is for ${kind === 'secret' ? 'hmac-sha256' : kind}`;
    },
    mistakes: signingStringMistakes,
    digestFault: (request, credentials, read) => checkDigests(request, parsedParameters(credentials), read),
  };
}

function readHeaders(value: unknown, where: string): readonly string[] {
  if (value === undefined) return defaultHeaders;
  if (!Array.isArray(value)) throw new RangeError(`${where} must be a list of header fields`);
  const names: readonly unknown[] = value;
  return names.map((each, at) => {
    const name = read(filledText, each, [`${where}[${at}]`]).toLowerCase();
    if (isToken(name) || pseudoFields.includes(name)) return name;
    throw new RangeError(`${where}[${at}]: ${JSON.stringify(each)} is not a field`);
  });
}

const pseudoFields = ['(request-target)', '(created)', '(expires)'];

/** The parameters of a signature that its message needs. */
class SignatureParameters {
  readonly covered: readonly string[];
  readonly created: string | undefined;
  readonly expires: string | undefined;
  readonly algorithm: string | undefined;

  constructor(covered: readonly string[], parameters: ReadonlyMap<string, string>) {
    this.covered = covered;
    this.created = parameters.get('created');
    this.expires = parameters.get('expires');
    this.algorithm = parameters.get('algorithm');
  }
}

/** Returns the parameters among the credentials that `parse` returned. */
function parsedParameters(credentials: object): SignatureParameters {
  const parameters: unknown = Reflect.get(credentials, 'parameters');
  if (parameters instanceof SignatureParameters) return parameters;
  throw new TypeError('the credentials have no parameters');
}

/** Reads the parameters of a signature (§2.1), and checks that it covers what is required. */
function parse(request: SchemeRequest, required: readonly string[]): ParsedCredentials {
  const { headers } = request;
  // With Signature-Input, the field belongs to RFC 9421.
  const own = headers.has('Signature-Input') ? undefined : headers.get('Signature');
  const text = own ?? headers.get('Authorization')?.replace(/^signature +/i, '') ?? '';
  const parameters = parseParameters(text);
  if (parameters === undefined)
    throw malformed(
      'The signature is not a list of parameters such as keyId="…".',
      describeMalformedParameters(text),
    );
  for (const name of ['keyId', 'signature'])
    if (!parameters.has(name))
      throw malformed(
        `The parameter ${name} is missing.`,
        describeMisnamedParameter(name, parameters.keys()),
      );
  const { algorithm, created, expires, signature = '' } = Object.fromEntries(parameters);
  const kinds = algorithm === undefined ? undefined : kindsOf[algorithm];
  if (algorithm !== undefined && kinds === undefined)
    throw malformed(
      `The algorithm ${JSON.stringify(algorithm)} is not one of ${Object.keys(kindsOf).join(', ')}.`,
    );
  for (const [name, value] of Object.entries({ created, expires }))
    if (value !== undefined && !/^\d{1,12}(?:\.\d{1,9})?$/.test(value))
      throw malformed(`The parameter ${name} is not a number of seconds since 1970.`);
  if (created?.includes('.') === true) throw malformed('The parameter created is not a whole number.');
  if (signature !== '' && (decodeCanonicalBase64(signature)?.length ?? 0) === 0)
    throw malformed('The signature is not canonical base64.', describeBase64(signature));
  // As many digits of base64 would have to be hexadecimal by chance.
  if (/^(?:[0-9a-f]{2}){20,}$/i.test(signature))
    throw malformed('The signature is not in base64.', 'it is hexadecimal');
  // §2.1.6; older clients sign the date instead.
  const covered = (parameters.get('headers') ?? (created === undefined ? 'date' : '(created)')).split(' ');
  const misnamed = describeCoveredNames(covered);
  if (misnamed !== undefined) throw malformed('The parameter headers names no fields.', misnamed);
  if (new Set(covered).size < covered.length) throw malformed('The parameter headers names a field twice.');
  for (const [name, value] of [
    ['(created)', created],
    ['(expires)', expires],
  ] as const) {
    if (!covered.includes(name)) continue;
    if (value === undefined) throw malformed(`The signature covers ${name}, but has no such parameter.`);
    // §2.3: they exist since hs2019 only.
    if (/^(?:rsa|hmac|ecdsa)/.test(algorithm ?? ''))
      throw malformed(`The signature covers ${name}, which the algorithm ${algorithm} does not permit.`);
  }
  checkCovered(covered, required, request);
  const dateField = covered.includes('x-date') ? 'X-Date' : 'Date';
  const date = covered.includes('(created)') ? Number(created) * 1000 : readDate(dateField, headers);
  const isLimited = covered.includes('(expires)');
  const parsed = {
    user: parameters.get('keyId'),
    signature,
    date,
    ...(isLimited && { expires: Number(expires) * 1000 }),
    parameters: new SignatureParameters(covered, parameters),
  };
  return parsed;
}

/** Returns the parameters by name; undefined if they are malformed, or one occurs twice. */
function parseParameters(text: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const nameEnd = tokenEnd(text, at);
    const end = text[nameEnd] === '=' ? valueEnd(text, nameEnd + 1) : -1;
    const name = text.slice(at, nameEnd);
    if (end < 0 || name === '' || parameters.has(name)) return undefined;
    parameters.set(name, valueBetween(text, nameEnd + 1, end));
    at = skipWhitespace(text, end);
    if (at === text.length) break;
    if (text[at] !== ',') return undefined;
    at = skipWhitespace(text, at + 1);
    if (at === text.length) return undefined;
  }
  return parameters.size === 0 ? undefined : parameters;
}

function malformed(detail: string, hint?: string): CredentialsFault {
  return new CredentialsFault({ detail, hint });
}

function readDate(name: 'Date' | 'X-Date', headers: SchemeHeaders): number {
  const value = headers.get(name);
  if (value === undefined)
    throw malformed(`The signature covers ${name.toLowerCase()}, but the field ${name} is missing.`);
  const date = parseDate(value, 0);
  if (date === undefined) {
    const form = describeTimeForm(value);
    const hint = form === undefined ? undefined : `it is ${form}; an IMF-fixdate is expected`;
    throw malformed(`The value of ${name} is not an HTTP date.`, hint);
  }
  return date;
}

/** The fields that can be covered in place of another. Those with X- are what browsers can set, and Oracle Cloud's digest. */
const substitutes: Readonly<Record<string, readonly string[]>> = {
  date: ['x-date'],
  digest: ['content-digest', 'x-content-sha256'],
};

/** Returns whether a signature covers a field, or one that can be covered in place of it. */
function isCovered(name: string, covered: readonly string[]): boolean {
  return [name, ...(substitutes[name] ?? [])].some((each) => covered.includes(each));
}

/** Throws a fault unless the signature covers what is required, a time, and a digest of the content. */
function checkCovered(
  covered: readonly string[],
  required: readonly string[],
  { hasBody }: SchemeRequest,
): void {
  const needed = [...required];
  if (!covered.includes('(created)')) needed.push('date');
  if (hasBody) needed.push('digest');
  const missing = [...new Set(needed)].filter((name) => !isCovered(name, covered));
  if (missing.length === 0) return;
  const isDigest = missing.length === 1 && missing[0] === 'digest';
  const detail = `The signature does not cover ${missing.join(', ')}.`;
  const hint = `add ${missing.map((name) => JSON.stringify(name)).join(', ')} to the parameter headers, and to the message`;
  const type = isDigest ? 'digest-required' : 'signature-insufficient';
  throw new CredentialsFault({ detail, hint, check: 'requirements', type });
}

/** Returns the parts of a line of the signing string (§2.3). Between lines is a line feed. */
function buildLine(
  name: string,
  at: number,
  { method, target, headers }: SchemeRequest,
  credentials: object,
): readonly SchemeMessagePart[] {
  const start: SchemeMessagePart = ['', `${at === 0 ? '' : '\n'}${name}: `];
  if (name === '(request-target)')
    return [start, ['method', method.toLowerCase()], ['', ' '], ['target', target]];
  if (name === '(created)' || name === '(expires)') {
    const { created = '', expires = '' } = parsedParameters(credentials);
    return [start, [name, name === '(created)' ? created : expires, 'time']];
  }
  if (!headers.has(name))
    throw malformed(
      `The signature covers ${name}, but this field is missing.`,
      describeMissingField(name, headers),
    );
  const value = joinLines(headers.getAll(name));
  if (name === 'host') return [start, ['host', value]];
  if (name === 'date' || name === 'x-date') return [start, [name, value, 'time']];
  return [start, [name, value, name === 'digest' || name === 'x-content-sha256' ? 'digest' : 'header']];
}

function signMessage(
  message: Buffer,
  key: Buffer | KeyObject,
  { kind, credentials }: SigningContext = {},
): string {
  if (Buffer.isBuffer(key)) {
    // Appendix E.2: with hs2019, HMAC uses SHA-512.
    const isNew = credentials !== undefined && parsedParameters(credentials).algorithm === 'hs2019';
    return createHmac(isNew ? 'sha512' : 'sha256', key)
      .update(message)
      .digest('base64');
  }
  const variant = { dsaEncoding: 'der', hash: selectHash(credentials) } as const;
  return signWith(chooseAlgorithm(key, kind), key, message, variant).toString('base64');
}

/** Returns the hash function that the algorithm names; undefined for that of the key. */
function selectHash(credentials: object | undefined): string | undefined {
  if (credentials === undefined) return undefined;
  return parsedParameters(credentials).algorithm === 'rsa-sha512' ? 'sha512' : undefined;
}

function verifyMessage(
  message: Buffer,
  key: KeyObject,
  signature: string,
  { kind, credentials }: SigningContext,
): boolean {
  const bytes = Buffer.from(signature, 'base64');
  // r and s of fixed length, or ASN.1 DER: the draft does not say which.
  const dsaEncoding = bytes.length === 64 ? 'ieee-p1363' : 'der';
  const variant = { dsaEncoding, anySalt: true, hash: selectHash(credentials) } as const;
  return verifyWith(chooseAlgorithm(key, kind), key, message, bytes, variant);
}

/** Returns the algorithm of a key. One of RSA has several; older clients use that of PKCS #1. */
function chooseAlgorithm(key: KeyObject, kind: KeyKind = 'secret'): PublicKeyKind {
  return kind === 'secret' ? (findAlgorithm(key) ?? 'rsa-v1_5-sha256') : kind;
}

/** Writes a signature that covers what is required, and the fields of it that the request lacks. */
function format(
  { user, date, signature }: SchemeCredentials,
  { headers, body, hasBody }: SchemeRequest,
  required: readonly string[],
) {
  const isCreated = required.includes('(created)');
  const covered = new Set(required);
  if (!isCreated && !isCovered('date', required)) covered.add('date');
  if (hasBody && !isCovered('digest', required)) covered.add('digest');
  const created = isCreated ? `,created=${Math.floor(date / 1000)}` : '';
  const value = `keyId="${user}"${created},headers="${[...covered].join(' ')}",signature="${signature}"`;
  const sha256 = createHash('sha256').update(body).digest('base64');
  return {
    headers: {
      Authorization: `Signature ${value}`,
      ...(covered.has('date') && { Date: formatDate(date) }),
      ...(covered.has('x-date') && { 'X-Date': formatDate(date) }),
      ...(covered.has('digest') && !headers.has('Digest') && { Digest: `SHA-256=${sha256}` }),
      ...(covered.has('x-content-sha256') && { 'X-Content-SHA256': sha256 }),
    },
  };
}

/**
 * Compares the content with Digest (RFC 3230), and with X-Content-SHA256 of Oracle Cloud if the signature covers it. Content-Digest
 * is compared with that of every request.
 */
async function checkDigests(
  { headers, hasBody }: SchemeRequest,
  { covered }: SignatureParameters,
  read: () => Promise<Uint8Array>,
): Promise<DigestFault | undefined> {
  const sent = headers.get('Digest');
  const sha256 = covered.includes('x-content-sha256') ? headers.get('X-Content-SHA256') : undefined;
  if (sent === undefined && sha256 === undefined) return undefined;
  const content = hasBody ? await read() : new Uint8Array(0);
  if (sha256 !== undefined && createHash('sha256').update(content).digest('base64') !== sha256) {
    const detail = 'The content does not have the digest in X-Content-SHA256.';
    const form = { hash: 'sha256', format: (digest: Buffer) => digest.toString('base64') };
    return { detail, explain: () => ({ hint: explainDigest(form, content, sha256, true) }) };
  }
  return sent === undefined ? undefined : checkDigest(sent, content);
}

function checkDigest(sent: string, content: Uint8Array): DigestFault | undefined {
  const known = sent.split(',').flatMap((member) => {
    const [, name = '', value = ''] = /^(SHA-256|SHA-512)=(.*)$/is.exec(member.trim()) ?? [];
    return name === '' ? [] : [{ hash: name.replace('-', '').toLowerCase(), value }];
  });
  const detail = 'The content does not have the digest in Digest.';
  if (known.length === 0)
    return {
      detail: 'Digest contains neither SHA-256 nor SHA-512.',
      explain: () => ({ hint: 'send SHA-256=BASE64' }),
    };
  const wrong = known.find(({ hash, value }) => createHash(hash).update(content).digest('base64') !== value);
  if (wrong === undefined) return undefined;
  const { hash, value } = wrong;
  const form = { hash, format: (digest: Buffer) => digest.toString('base64') };
  return {
    detail,
    explain: () => ({ hint: describeDigestForm(value) ?? explainDigest(form, content, value, true) }),
  };
}
