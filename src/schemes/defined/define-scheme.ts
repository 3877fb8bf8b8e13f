// Signature schemes in code: the declaration that `defineScheme` checks.

import { signatureAlgorithms } from '../../algorithms.ts';
import { isToken } from '../../http/syntax/token.ts';
import {
  anything,
  callback,
  either,
  flag,
  grammar,
  listOf,
  object,
  optional,
  read,
  type Shape,
  text,
  word,
} from '../../shape/shape.ts';
import { parsePointer } from '../declared/place.ts';
import { builtInFault, filledText, fractionalWindowShape } from '../scheme-shapes.ts';
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

function namesShape(isName: (name: string) => boolean): Shape<readonly string[]> {
  const name = grammar({}, 'a name', (value, where) => {
    const text = read(filledText, value, [where]);
    if (!isName(text)) throw new RangeError(`${where}: ${JSON.stringify(text)} is not a name`);
    return text;
  });
  return listOf(name, undefined, { expected: 'a list of names' });
}

/** Describes a definition. */
const definitionShape = object({
  headers: optional(namesShape(isToken)),
  query: optional(namesShape((name) => /^[\w.~-]+$/.test(name))),
  json: optional(namesShape((name) => parsePointer(name) !== undefined)),
  form: optional(namesShape(() => true)),
  authorization: optional(anything),
  needsBody: optional(flag()),
  window: optional(fractionalWindowShape),
  nonce: optional(word(['off', 'optional', 'required'])),
  replay: optional(word(['accept', 'refuse'])),
  parse: callback<Definition['parse']>(),
  message: callback<Definition['message']>(),
  join: optional(either(text(), callback<NonNullable<Definition['join']>>())),
  format: callback<Definition['format']>(),
  key: optional(either(word(['utf8', 'hex', 'base64']), callback<NonNullable<Definition['key']>>())),
  sign: callback<Definition['sign']>(),
  verify: optional(callback<NonNullable<Definition['verify']>>()),
  algorithms: optional(
    listOf(word(signatureAlgorithms), undefined, { min: 1, expected: 'a list of algorithms' }),
  ),
});

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
function copyDefinition(definition: object): Definition {
  const where = 'definition';
  const members = read(definitionShape, definition, [where]);
  const { headers = [], query = [], json = [], form = [], verify } = members;
  if (headers.length + query.length + json.length + form.length === 0)
    throw new RangeError(`${where}: headers, query, json or form must name where the credentials are`);
  const { authorization: named, ...others } = members;
  const authorization = readAuthorization(headers, named, where);
  return {
    ...others,
    ...(authorization !== undefined && { authorization }),
    nonce: members.nonce ?? 'required',
    algorithms: verify && (members.algorithms ?? signatureAlgorithms),
    parse: members.parse.bind(definition),
    message: members.message.bind(definition),
    sign: members.sign.bind(definition),
    verify: verify?.bind(definition),
    format: members.format.bind(definition),
  };
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
  const fault = builtInFault(value, ['basic', 'bearer']);
  if (fault !== undefined) throw new RangeError(`${where}.authorization: ${fault}`);
  return value;
}
