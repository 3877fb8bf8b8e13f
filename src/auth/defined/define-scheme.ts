// Signature schemes in code: the declaration that `defineScheme` checks and seals.

import { isDeepStrictEqual } from 'node:util';
import { didYouMean } from '../../did-you-mean.ts';
import { readDuration } from '../../duration.ts';
import { HttpHeaders } from '../../http/fields.ts';
import { escapeLiteral } from '../../http/syntax/character-class.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { isToken } from '../../http/syntax/token.ts';
import { type SignatureAlgorithm, signatureAlgorithms } from '../../signature/algorithms.ts';
import { decodeKey } from '../../signature/declared/key.ts';
import { type Place, parsePointer } from '../../signature/declared/places.ts';
import { maxWindow, readFlag, readMembers, readText, readWord } from '../option-values.ts';
import {
  type ParsedCredentials,
  type PublicKeySchemeDefinition,
  type Scheme,
  type SchemeCredentials,
  type SchemeDefinition,
  type SecretSchemeDefinition,
  schemeBrand,
} from './definition.ts';
import { createSchemeRequest } from './request.ts';
import type { DefinitionPlaces, SealedDefinition, UnplacedDefinition } from './sealed.ts';

const definitions = new WeakMap<object, SealedDefinition>();

const keys: readonly string[] = [
  'headers',
  'query',
  'json',
  'form',
  'authorization',
  'needsBody',
  'window',
  'nonce',
  'replay',
  'parse',
  'message',
  'join',
  'format',
  'key',
  'sign',
  'verify',
  'algorithms',
];

/** Schemes of `Authorization` that are built in, and cannot be replaced. */
const builtIn: readonly string[] = ['aws4-hmac-sha256', 'digest', 'hmac', 'oauth'];

const defaultWindow = 300_000;
const longestWindow = maxWindow * 1000;

/**
 * Defines a signature scheme in code. It is verified, signed, explained and attacked like a built-in one: comparison in constant
 * time, the same work for unknown users, window, nonces and rate limits belong to the service.
 *
 * @returns a value of the option `schemes` of a service, a double or a module of the server
 * @throws RangeError if a member is unknown, with the nearest known name, or invalid
 * @example
 * const scheme = defineScheme({
 *   headers: ['X-Key', 'X-Time', 'X-Signature'],
 *   parse: ({ headers }) => ({
 *     user: headers.get('X-Key'),
 *     date: Number(headers.get('X-Time')),
 *     signature: headers.get('X-Signature'),
 *   }),
 *   message: ({ method, target }, { date }) => [['time', `${date}`], ['method', method], ['target', target]],
 *   sign: (message, key) => createHmac('sha256', key).update(message).digest('hex'),
 *   format: ({ user, date, signature }) => ({
 *     headers: { 'X-Key': user, 'X-Time': `${date}`, 'X-Signature': signature },
 *   }),
 * });
 */
export function defineScheme<Parsed extends ParsedCredentials>(
  definition: SecretSchemeDefinition<Parsed>,
): Scheme;
export function defineScheme<Parsed extends ParsedCredentials>(
  definition: PublicKeySchemeDefinition<Parsed>,
): Scheme;
export function defineScheme<Parsed extends ParsedCredentials>(definition: SchemeDefinition<Parsed>): Scheme {
  return publish(seal(definition));
}

/** Returns a sealed definition as a value of the option `schemes`. */
function publish(definition: SealedDefinition): Scheme {
  const scheme: Scheme = Object.freeze({ [schemeBrand]: true } as const);
  definitions.set(scheme, definition);
  return scheme;
}

/** Returns the definition of a scheme; undefined if the value is none that `defineScheme` returned. */
export function findDefinition(value: unknown): SealedDefinition | undefined {
  return typeof value === 'object' && value !== null ? definitions.get(value) : undefined;
}

function seal<Parsed extends ParsedCredentials>(definition: SchemeDefinition<Parsed>): SealedDefinition {
  const where = 'definition';
  const members = readMembers(definition, where, keys);
  for (const name of ['parse', 'message', 'sign', 'format'])
    if (typeof members[name] !== 'function') throw new RangeError(`${where}.${name}: a function is expected`);
  if (members['verify'] !== undefined && typeof members['verify'] !== 'function')
    throw new RangeError(`${where}.verify: a function is expected`);
  const { join } = members;
  if (join !== undefined && typeof join !== 'string' && typeof join !== 'function')
    throw new RangeError(`${where}.join: a text or a function is expected`);
  const headers = readNames(members['headers'], `${where}.headers`, isToken);
  const query = readNames(members['query'], `${where}.query`, (name) => /^[\w.~-]+$/.test(name));
  const json = readNames(members['json'], `${where}.json`, (name) => parsePointer(name) !== undefined);
  const form = readNames(members['form'], `${where}.form`, (name) => name !== '');
  const isInContent = json.length + form.length > 0;
  if (headers.length + query.length === 0 && !isInContent)
    throw new RangeError(`${where}: headers, query, json or form must name where the credentials are`);
  const { verify } = definition;
  const sign: UnplacedDefinition['sign'] = definition.sign.bind(definition);
  return place({
    headers,
    query,
    json,
    form,
    authorization: readAuthorization(headers, members['authorization'], where),
    needsBody: readFlag(members['needsBody'], `${where}.needsBody`, isInContent) || isInContent,
    window: readWindow(members['window'], `${where}.window`),
    nonce: readWord(members['nonce'], `${where}.nonce`, ['off', 'optional', 'required'], 'required'),
    replay: readWord(members['replay'], `${where}.replay`, ['accept', 'refuse'], 'accept'),
    kinds: verify === undefined ? secretsOnly : readAlgorithms(members['algorithms'], `${where}.algorithms`),
    ...keyReader(members['key'], `${where}.key`),
    parse: definition.parse.bind(definition),
    message: definition.message.bind(definition),
    join: definition.join,
    sign: (message, key) => sign(message, key),
    verify: verify && ((message, key, signature) => verify.call(definition, message, key, signature)),
    format: definition.format.bind(definition),
  });
}

/** Completes a definition with what its `format` shows. Throws RangeError as `findPlaces`. */
export function place(definition: UnplacedDefinition): SealedDefinition {
  const { window } = definition;
  return {
    ...definition,
    ...findPlaces(definition),
    window: window ?? defaultWindow,
    undatedWindow: window ?? longestWindow,
  };
}

const secretsOnly = ['secret'] as const;

function readNames(value: unknown, where: string, isName: (name: string) => boolean): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new RangeError(`${where}: a list of names is expected`);
  const names: readonly unknown[] = value;
  return names.map((name, at) => {
    const text = readText(name, `${where}[${at}]`);
    if (!isName(text)) throw new RangeError(`${where}[${at}]: ${JSON.stringify(text)} is not a name`);
    return text;
  });
}

function readAuthorization(headers: readonly string[], value: unknown, where: string): string | undefined {
  for (const name of headers)
    if (['authentication', 'cookie', 'host'].includes(name.toLowerCase()))
      throw new RangeError(`${where}.headers: ${name} cannot contain credentials of a scheme of your own`);
  const hasField = headers.some((name) => name.toLowerCase() === 'authorization');
  if (value === undefined && !hasField) return undefined;
  if (!hasField) throw new RangeError(`${where}.authorization: headers does not contain Authorization`);
  if (typeof value !== 'string' || !isToken(value))
    throw new RangeError(`${where}.authorization: the name of the scheme in Authorization is expected`);
  if (builtIn.includes(value.toLowerCase()))
    throw new RangeError(`${where}.authorization: the scheme ${value} is built in`);
  return value;
}

/** Returns a window in ms; undefined if none is set. */
function readWindow(value: unknown, where: string): number | undefined {
  if (value === undefined) return undefined;
  const ms = readDuration(value, 1000);
  if (ms !== undefined && ms > 0 && ms <= longestWindow) return ms;
  throw new RangeError(`${where}: a number of seconds up to ${maxWindow}, or text such as "5m", is expected`);
}

function readAlgorithms(value: unknown, where: string): readonly SignatureAlgorithm[] {
  if (value === undefined) return signatureAlgorithms;
  if (!Array.isArray(value) || value.length === 0)
    throw new RangeError(`${where}: a list of algorithms is expected`);
  const names: readonly unknown[] = value;
  return names.map((name) => {
    const algorithm = signatureAlgorithms.find((each) => each === name);
    if (algorithm !== undefined) return algorithm;
    throw new RangeError(
      `${where}: ${JSON.stringify(name)} is not an algorithm${didYouMean(String(name), signatureAlgorithms)}`,
    );
  });
}

type KeyReader = Pick<UnplacedDefinition, 'keyEncoding' | 'key'>;

/** Reads how a secret contains the key. Throws RangeError if the value is neither an encoding nor a function. */
function keyReader(value: unknown, where: string): KeyReader {
  if (typeof value === 'function')
    return {
      keyEncoding: 'utf8',
      key(secret) {
        const key: unknown = value(secret.toString('utf8'));
        if (typeof key === 'string') return Buffer.from(key, 'utf8');
        if (key instanceof Uint8Array) return Buffer.from(key);
        throw new TypeError(`${where} returned neither text nor bytes`);
      },
    };
  const keyEncoding = readWord(value, where, ['utf8', 'hex', 'base64'], 'utf8');
  if (keyEncoding === 'utf8') return { keyEncoding, key: (secret) => secret };
  return { keyEncoding, key: (secret) => decodeKey(octetsOf(secret), keyEncoding) };
}

// Finds out where a definition sends its credentials, by what `format` returns for examples of them.

const example: SchemeCredentials = {
  user: 'user',
  date: Date.UTC(2026, 0, 2, 3, 4, 5),
  nonce: 'nonce',
  signature: 'SIGNATURE',
};

/**
 * Finds the place of the signature and of the date.
 * @throws RangeError if `format` throws, or writes a field or parameter that `headers` and `query` do not name
 */
function findPlaces(definition: UnplacedDefinition): DefinitionPlaces {
  const signed = formatExample(definition, example);
  checkNames(definition, signed);
  const later = formatExample(definition, { ...example, date: example.date + 86_400_000 });
  const dateField = Object.entries(signed.headers ?? {}).find(
    ([name, value]) => later.headers?.[name] !== value,
  )?.[0];
  const { place, value } = findSignature(definition, signed);
  return { place, valueForm: buildForm(value), dateField, isDated: !isDeepStrictEqual(signed, later) };
}

type Written = ReturnType<UnplacedDefinition['format']>;

function formatExample(definition: UnplacedDefinition, credentials: SchemeCredentials): Written {
  const fields = new HttpHeaders(['Host', 'host.example']);
  const source = { method: 'GET', target: '/', fields, secure: true, hasBody: false };
  const request = createSchemeRequest(source, () => Buffer.alloc(0));
  try {
    return definition.format(credentials, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RangeError(`format throws for ${JSON.stringify(credentials)}: ${reason}`);
  }
}

function checkNames({ headers, query, json = [], form = [] }: UnplacedDefinition, signed: Written): void {
  const known = headers.map((name) => name.toLowerCase());
  for (const name of Object.keys(signed.headers ?? {}))
    if (!known.includes(name.toLowerCase()))
      throw new RangeError(`format sends the field ${name}, which headers does not name`);
  const others = [
    ['parameter', 'query', query, signed.query],
    ['member', 'json', json, signed.json],
    ['parameter', 'form', form, signed.form],
  ] as const;
  for (const [what, option, names, values = {}] of others)
    for (const name of Object.keys(values))
      if (!names.includes(name))
        throw new RangeError(`format sends the ${what} ${name}, which ${option} does not name`);
}

/** Returns the place whose value contains the signature; the first place if the signature is written in another form. */
function findSignature(
  { headers, query, json = [], form = [] }: UnplacedDefinition,
  signed: Written,
): { readonly place: Place; readonly value: string } {
  const written: (readonly [Place, string])[] = [
    ...Object.entries(signed.headers ?? {}).map(([field, value]) => [{ field }, value] as const),
    ...Object.entries(signed.query ?? {}).map(([name, value]) => [{ query: name }, value] as const),
    ...Object.entries(signed.json ?? {}).map(([pointer, value]) => [{ json: pointer }, value] as const),
    ...Object.entries(signed.form ?? {}).map(([name, value]) => [{ form: name }, value] as const),
  ];
  const [place, value] = written.find(([, each]) => each.includes(example.signature)) ?? [];
  if (place !== undefined && value !== undefined) return { place, value };
  const [first = { query: '' }] = [
    ...headers.map((field): Place => ({ field })),
    ...query.map((name): Place => ({ query: name })),
    ...json.map((pointer): Place => ({ json: pointer })),
    ...form.map((name): Place => ({ form: name })),
  ];
  return { place: first, value: example.signature };
}

/** Returns what matches values such as this one: up to the separators beside the signature, they may be any text. */
function buildForm(value: string): RegExp {
  const at = value.indexOf(example.signature);
  const [before, after] = [value.slice(0, at), value.slice(at + example.signature.length)];
  const lead = /(?:^|[\s,;:&])[^\s,;:&]*$/.exec(before)?.[0] ?? '';
  const tail = /^[^\s,;:&]*[\s,;:&]?/.exec(after)?.[0] ?? '';
  const preceding = before === '' ? '()' : `(.*${escapeLiteral(lead)})`;
  const following = after === '' ? '()' : `(${escapeLiteral(tail)}.*)`;
  return new RegExp(`^${preceding}(.+?)${following}$`, 's');
}
