import { didYouMean } from '../../did-you-mean.ts';
import {
  type Declaration,
  type DeclaredTimestamp,
  encodings,
  type FieldPlace,
  hashNames,
  keyEncodings,
  type SignaturePlace,
} from '../../signature/declared/declaration.ts';
import { parseSignatureFormat, type SignatureFormat } from '../../signature/declared/signature-format.ts';
import { covers, parseTemplate, placeholders, type Template } from '../../signature/declared/template.ts';
import { timestampUnits } from '../../signature/declared/timestamp.ts';
import {
  type Members,
  readFieldName,
  readFieldPlace,
  readMembers,
  readText,
  readWord,
} from '../option-values.ts';
import { userNameFault } from '../user-name.ts';
import { type PresetExtras, presets } from './presets.ts';

/** Options of a declared scheme. */
export interface DeclaredOptions extends Declaration {
  /**
   * Whether a signature may be used again within the window. `refuse` stores signatures as `nonce` stores nonces. Default:
   * `accept`.
   */
  readonly replay: 'accept' | 'refuse';
  /** The scheme in Authorization, as written; undefined if the signature is elsewhere. */
  readonly authorizationName?: string;
}

const customKeys = [
  ...[
    'message',
    'hash',
    'encoding',
    'key',
    'keyPrefix',
    'signature',
    'separator',
    'user',
    'timestamp',
    'nonce',
  ],
  ...['id', 'replay'],
];
/** The values of `replay`. */
export const replayRules = ['accept', 'refuse'] as const;
const presetKeys = ['preset', 'user', 'timestamp', 'replay'];

/** The default of `timestamp.window`, in seconds. */
const defaultWindow = 300;
/** The longest window, in seconds: a day. */
export const longestDeclaredWindow = 86_400;

/** Schemes of Authorization that are built in. */
const builtIn = ['aws4-hmac-sha256', 'basic', 'bearer', 'digest', 'hmac', 'oauth'];

/**
 * Reads a declared scheme from a configuration.
 *
 * @param where The path of the value, with which every message begins: `schemes.partner`.
 * @throws RangeError if something is unknown, missing, contradictory, or not protected by the signature
 */
export function readDeclaredOptions(value: unknown, where: string): DeclaredOptions {
  const isPreset = typeof value === 'object' && value !== null && 'preset' in value;
  if (!isPreset) return readDeclaration(readMembers(value, where, customKeys), where, {});
  const own = readMembers(value, where, presetKeys);
  const name = readText(own['preset'], `${where}.preset`);
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (preset === undefined)
    throw new RangeError(
      `${where}.preset: ${JSON.stringify(name)} is not a preset${didYouMean(name, Object.keys(presets))}`,
    );
  const { declaration, extras = {} } = preset;
  const timestamp = presetTimestamp(declaration['timestamp'], own['timestamp'], `${where}.timestamp`);
  return readDeclaration(
    { ...declaration, ...timestamp, user: own['user'], replay: own['replay'] },
    where,
    extras,
  );
}

/** Returns the timestamp of a preset with another window, if one is set. */
function presetTimestamp(declared: unknown, own: unknown, where: string): Members {
  if (own === undefined) return {};
  if (typeof declared !== 'object' || declared === null)
    throw new RangeError(`${where}: this preset has no timestamp`);
  return { timestamp: { ...declared, ...readMembers(own, where, ['window']) } };
}

function readDeclaration(members: Members, where: string, extras: PresetExtras): DeclaredOptions {
  const message = readMessage(members['message'], `${where}.message`);
  const { place, format } = readSignature(members, where, extras);
  const user = readUser(members['user'], `${where}.user`);
  const timestamp = readTimestamp(members['timestamp'], `${where}.timestamp`, format);
  const nonce = readOptional(members['nonce'], (value) => readFieldPlace(value, `${where}.nonce`));
  const id = readOptional(members['id'], (value) => readFieldPlace(value, `${where}.id`));
  const keyPrefix = readOptional(members['keyPrefix'], (value) => readText(value, `${where}.keyPrefix`));
  const authorizationName = readAuthorizationName(place, format, `${where}.signature`);
  const options: DeclaredOptions = {
    message,
    hash: readWord(members['hash'], `${where}.hash`, hashNames, 'sha256'),
    encoding: readWord(members['encoding'], `${where}.encoding`, encodings, 'hex'),
    key: readWord(members['key'], `${where}.key`, keyEncodings, 'utf8'),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    place,
    format,
    user,
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(nonce === undefined ? {} : { nonce }),
    ...(id === undefined ? {} : { id }),
    ...(extras.anyPort === undefined ? {} : { anyPort: extras.anyPort }),
    ...(extras.digestParameter === undefined ? {} : { digestParameter: extras.digestParameter }),
    replay: readWord(members['replay'], `${where}.replay`, replayRules, 'accept'),
    ...(authorizationName === undefined ? {} : { authorizationName }),
  };
  checkFields(options, where);
  checkCovered(options, where);
  checkReplay(options, members['replay'], where);
  return options;
}

function readOptional<Read>(value: unknown, read: (value: unknown) => Read): Read | undefined {
  return value === undefined ? undefined : read(value);
}

function readMessage(value: unknown, where: string): Template {
  const template = parseTemplate(readText(value, where));
  if (!('fault' in template)) return template;
  const { fault, unknown } = template;
  const nearest = unknown === undefined ? '' : didYouMean(unknown, [...placeholders, 'field:NAME']);
  throw new RangeError(`${where}: ${fault}${nearest}`);
}

function readSignature(
  members: Members,
  where: string,
  extras: PresetExtras,
): { readonly place: SignaturePlace; readonly format: SignatureFormat } {
  const at = `${where}.signature`;
  const signature = readMembers(members['signature'], at, ['field', 'query', 'format']);
  const { field, query } = signature;
  if ((field === undefined) === (query === undefined))
    throw new RangeError(`${at}: either field or query is expected`);
  const text = readOptional(signature['format'], (value) => readText(value, `${at}.format`)) ?? '{signature}';
  const separator = readOptional(members['separator'], (value) => readText(value, `${where}.separator`));
  const format = parseSignatureFormat(text, separator, extras.asymmetric);
  if (typeof format === 'string') throw new RangeError(`${at}.format: ${format}`);
  if (query === undefined) return { place: { field: readFieldName(field, `${at}.field`) }, format };
  const name = readText(query, `${at}.query`);
  if (!/^[\w.~-]+$/.test(name))
    throw new RangeError(`${at}.query: the name of the parameter must not need percent-encoding`);
  return { place: { query: name }, format };
}

/** Returns the scheme that the format begins with, if the signature is in Authorization (RFC 9110 §11.4). */
function readAuthorizationName(
  place: SignaturePlace,
  { text }: SignatureFormat,
  where: string,
): string | undefined {
  if (!('field' in place)) return undefined;
  if (place.field.toLowerCase() === 'authentication')
    throw new RangeError(`${where}.field: Authentication is the field of the scheme hmac`);
  if (place.field.toLowerCase() !== 'authorization') return undefined;
  const name = /^([A-Za-z0-9][A-Za-z0-9._-]*) +./.exec(text)?.[1];
  if (name === undefined)
    throw new RangeError(
      `${where}.format: in Authorization, a scheme and a space must precede the signature`,
    );
  if (builtIn.includes(name.toLowerCase()))
    throw new RangeError(`${where}.format: the scheme ${name} is built in`);
  return name;
}

function readUser(value: unknown, where: string): FieldPlace | string {
  if (value === undefined)
    throw new RangeError(`${where}: the name of a user, or { "field": NAME } is expected`);
  if (typeof value !== 'string') return readFieldPlace(value, where);
  const fault = userNameFault(value);
  if (fault !== undefined) throw new RangeError(`${where}: ${fault}`);
  return value;
}

function readTimestamp(
  value: unknown,
  where: string,
  { hasTimestamp }: SignatureFormat,
): DeclaredTimestamp | undefined {
  if (value === undefined && !hasTimestamp) return undefined;
  const members = readMembers(value === undefined ? {} : value, where, ['field', 'unit', 'window']);
  const field = readOptional(members['field'], (name) => readFieldName(name, `${where}.field`));
  if (hasTimestamp && field !== undefined)
    throw new RangeError(`${where}.field: the timestamp is already in signature.format`);
  if (!hasTimestamp && field === undefined)
    throw new RangeError(`${where}.field: a field is expected, or {timestamp} in signature.format`);
  const { window = defaultWindow } = members;
  if (typeof window !== 'number' || !(window > 0 && window <= longestDeclaredWindow))
    throw new RangeError(`${where}.window: a number of seconds up to ${longestDeclaredWindow} is expected`);
  const unit = readWord(members['unit'], `${where}.unit`, timestampUnits, 's');
  return { field, unit, window: window * 1000 };
}

/** Throws RangeError if two roles have the same field, or the message names the field of a role. */
function checkFields(options: DeclaredOptions, where: string): void {
  const { place, user, timestamp, nonce, id } = options;
  const roles: readonly (readonly [role: string, field: string | undefined])[] = [
    ['signature', 'field' in place ? place.field : undefined],
    ['user', typeof user === 'string' ? undefined : user.field],
    ['timestamp', timestamp?.field],
    ['nonce', nonce?.field],
    ['id', id?.field],
  ];
  const seen = new Map<string, string>();
  for (const [role, field] of roles) {
    if (field === undefined) continue;
    const other = seen.get(field.toLowerCase());
    if (other !== undefined)
      throw new RangeError(
        `${where}.${role}.field: ${field} is named twice; it is also the field of ${other}`,
      );
    seen.set(field.toLowerCase(), role);
  }
  for (const part of options.message) {
    const role = part.kind === 'field' ? seen.get(part.field.toLowerCase()) : undefined;
    if (role === 'signature')
      throw new RangeError(`${where}.message: the message cannot contain its own signature`);
    if (role !== undefined && part.kind === 'field')
      throw new RangeError(`${where}.message: ${part.field} is named twice; use {${role}}`);
  }
}

/** Throws RangeError if the message does not cover what is declared, or covers what is not. */
function checkCovered(options: DeclaredOptions, where: string): void {
  for (const role of ['timestamp', 'nonce', 'id'] as const) {
    const isDeclared = options[role] !== undefined;
    if (covers(options.message, role) === isDeclared) continue;
    throw new RangeError(
      isDeclared
        ? `${where}.message: the message does not contain {${role}}, so anyone could change it and send the request again`
        : `${where}.message: {${role}} is in the message, but ${role} is not declared`,
    );
  }
}

/** Throws RangeError if nonces or signatures would have to be stored forever. */
function checkReplay({ timestamp, nonce, replay }: DeclaredOptions, declared: unknown, where: string): void {
  if (nonce !== undefined && timestamp === undefined)
    throw new RangeError(
      `${where}.nonce: a nonce requires a timestamp; otherwise it would be stored forever`,
    );
  if (replay === 'refuse' && timestamp === undefined)
    throw new RangeError(
      `${where}.replay: refuse requires a timestamp; otherwise signatures would be stored forever`,
    );
  if (nonce !== undefined && declared !== undefined)
    throw new RangeError(`${where}.replay: the nonce already determines it`);
}
