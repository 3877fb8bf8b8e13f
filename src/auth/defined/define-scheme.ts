// Signature schemes in code: the declaration that `defineScheme` checks.

import { didYouMean } from '../../did-you-mean.ts';
import { readDuration } from '../../duration.ts';
import { isToken } from '../../http/syntax/token.ts';
import { defaulted, flag, membersOf, read, word } from '../../shape/shape.ts';
import { type SignatureAlgorithm, signatureAlgorithms } from '../../signature/algorithms.ts';
import { parsePointer } from '../../signature/declared/places.ts';
import { filledText, maxWindow } from '../scheme-shapes.ts';
import { longestWindow } from './defaults.ts';
import {
  type Definition,
  type ParsedCredentials,
  type PublicKeySchemeDefinition,
  type Scheme,
  type SchemeDefinition,
  type SecretSchemeDefinition,
  schemeBrand,
} from './definition.ts';
import { findPlaces } from './places.ts';

const definitions = new WeakMap<object, Definition>();

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
  const copy = copyDefinition(definition);
  findPlaces(copy);
  const scheme: Scheme = Object.freeze({ [schemeBrand]: true } as const);
  definitions.set(scheme, copy);
  return scheme;
}

/** Returns the definition of a scheme; undefined if the value is none that `defineScheme` returned. */
export function findDefinition(value: unknown): Definition | undefined {
  return typeof value === 'object' && value !== null ? definitions.get(value) : undefined;
}

/** Returns a copy of a definition, which later changes do not reach. Throws RangeError if a member is invalid. */
function copyDefinition<Parsed extends ParsedCredentials>(definition: SchemeDefinition<Parsed>): Definition {
  const where = 'definition';
  const members = read(membersOf(keys), definition, [where]);
  for (const name of ['parse', 'message', 'sign', 'format'])
    if (typeof members[name] !== 'function') throw new RangeError(`${where}.${name} must be a function`);
  if (members['verify'] !== undefined && typeof members['verify'] !== 'function')
    throw new RangeError(`${where}.verify must be a function`);
  const { join } = members;
  if (join !== undefined && typeof join !== 'string' && typeof join !== 'function')
    throw new RangeError(`${where}.join must be a text or a function`);
  const headers = readNames(members['headers'], `${where}.headers`, isToken);
  const query = readNames(members['query'], `${where}.query`, (name) => /^[\w.~-]+$/.test(name));
  const json = readNames(members['json'], `${where}.json`, (name) => parsePointer(name) !== undefined);
  const form = readNames(members['form'], `${where}.form`, (name) => name !== '');
  if (headers.length + query.length + json.length + form.length === 0)
    throw new RangeError(`${where}: headers, query, json or form must name where the credentials are`);
  const authorization = readAuthorization(headers, members['authorization'], where);
  checkWindow(members['window'], `${where}.window`);
  checkKey(members['key'], `${where}.key`);
  const { verify } = definition;
  return {
    ...definition,
    headers,
    query,
    json,
    form,
    ...(authorization !== undefined && { authorization }),
    needsBody: read(defaulted(flag(), false), members['needsBody'], [`${where}.needsBody`]),
    nonce: read(defaulted(word(['off', 'optional', 'required']), 'required'), members['nonce'], [
      `${where}.nonce`,
    ]),
    replay: read(defaulted(word(['accept', 'refuse']), 'accept'), members['replay'], [`${where}.replay`]),
    algorithms: verify && readAlgorithms(members['algorithms'], `${where}.algorithms`),
    parse: definition.parse.bind(definition),
    message: definition.message.bind(definition),
    sign: definition.sign.bind(definition),
    verify: verify?.bind(definition),
    format: definition.format.bind(definition),
  };
}

function readNames(value: unknown, where: string, isName: (name: string) => boolean): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new RangeError(`${where} must be a list of names`);
  const names: readonly unknown[] = value;
  return names.map((name, at) => {
    const text = read(filledText, name, [`${where}[${at}]`]);
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
    throw new RangeError(`${where}.authorization must be the name of the scheme in Authorization`);
  if (builtIn.includes(value.toLowerCase()))
    throw new RangeError(`${where}.authorization: the scheme ${value} is built in`);
  return value;
}

function checkWindow(value: unknown, where: string): void {
  if (value === undefined) return;
  const ms = readDuration(value, 1000);
  if (ms !== undefined && ms > 0 && ms <= longestWindow) return;
  throw new RangeError(`${where} must be a number of seconds up to ${maxWindow}, or text such as "5m"`);
}

function checkKey(value: unknown, where: string): void {
  if (typeof value !== 'function') read(defaulted(word(['utf8', 'hex', 'base64']), 'utf8'), value, [where]);
}

function readAlgorithms(value: unknown, where: string): readonly SignatureAlgorithm[] {
  if (value === undefined) return signatureAlgorithms;
  if (!Array.isArray(value) || value.length === 0)
    throw new RangeError(`${where} must be a list of algorithms`);
  const names: readonly unknown[] = value;
  return names.map((name) => {
    const algorithm = signatureAlgorithms.find((each) => each === name);
    if (algorithm !== undefined) return algorithm;
    throw new RangeError(
      `${where}: ${JSON.stringify(name)} is not an algorithm${didYouMean(String(name), signatureAlgorithms)}`,
    );
  });
}
