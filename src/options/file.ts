import { readFileSync } from 'node:fs';
import {
  type ClientRegistration,
  type ConsumerRegistration,
  describeClients,
  describeConsumers,
} from '../accounts/registration.ts';
import { type ConfiguredUser, configuredUsersShape } from '../accounts/user-declaration.ts';
import { JsonError, parseJson } from '../http/json.ts';
import { type OAuth2Options, readOAuth2 } from '../oauth/oauth2-options.ts';
import { oauth2Shape } from '../oauth/oauth2-shape.ts';
import type { Scope } from '../principal.ts';
import { checkSchemes } from '../schemes/configured-schemes.ts';
import type { SchemeDeclarations } from '../schemes/scheme-declarations.ts';
import type { Shape } from '../shape/shape.ts';
import { hint, toPrintable } from './flags.ts';
import { explainFault, type Setting, toMembers } from './sources.ts';
import { optionSpecs } from './table.ts';

/** The users, schemes, clients and consumers of a configuration file. */
export interface ConfiguredParts {
  /** The users of the configuration file by name. */
  readonly users: ReadonlyMap<string, ConfiguredUser>;
  /** The schemes of the configuration file. */
  readonly schemes: SchemeDeclarations;
  /** The options of OAuth 2.0 in the configuration file; undefined if it has none. */
  readonly oauth2: OAuth2Options | undefined;
  /** The registered OAuth 2.0 clients by id. */
  readonly clients: ReadonlyMap<string, ClientRegistration>;
  /** The OAuth 1.0a consumers by key. */
  readonly consumers: ReadonlyMap<string, ConsumerRegistration>;
}

/** The content of a configuration file. */
export interface ConfigurationFile extends ConfiguredParts {
  readonly settings: readonly Setting[];
  /** The unchecked declarations; undefined if the file has none. */
  readonly collections: ReadonlyMap<string, unknown> | undefined;
  /** The unchecked seeds; undefined if the file has none. */
  readonly seed: ReadonlyMap<string, unknown> | undefined;
}

/** The maximum nesting of values in a configuration file. */
const maxDepth = 64;

/** The members of a configuration file that are not options. */
export const parts = ['users', 'schemes', 'clients', 'consumers', 'oauth2', 'collections', 'seed'] as const;

/** The member with the address of the JSON Schema, for editors. */
export const schemaMember = '$schema';

/** Options that can be in a group of the file, `{ "hmac": { "requireBodyDigest": … } }`: their keys by group and name. */
type Groups = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Returns the value of a group as an object. A list stands for the only list of the group. */
function groupValue(group: ReadonlyMap<string, string>, value: unknown): unknown {
  const list = [...group].find(([, key]) => optionSpecs.get(key)?.repeatable === true);
  return Array.isArray(value) && list !== undefined ? { [list[0]]: value } : value;
}

/** Returns the groups of options that a file can have. */
export function listGroups(): Groups {
  const found = new Map<string, Map<string, string>>();
  for (const [key, { within }] of optionSpecs) {
    if (within === undefined) continue;
    const [group, name] = within;
    found.set(group, (found.get(group) ?? new Map<string, string>()).set(name, key));
  }
  return found;
}

/** Returns all keys that a file can have, as candidates for a suggestion. */
function listKnownKeys(groups: Groups): string[] {
  return [...parts, ...groups.keys(), ...[...optionSpecs.keys()].filter((key) => key !== 'config')];
}

/**
 * Reads a configuration file. Adds errors in its content to `faults`. Throws the error of the file system if it cannot be read.
 * @param hasPartner whether another source names the document of a partner, whose scopes are not known here
 */
export function readConfigurationFile(
  path: string,
  faults: string[],
  hasPartner: boolean,
): ConfigurationFile {
  const members = toMembers(readDocument(path, faults)) ?? new Map<string, unknown>();
  const settings: Setting[] = [];
  const groups = listGroups();
  for (const [key, value] of members) readKey(path, key, value, groups, settings, faults);
  const part = (name: string): ReadonlyMap<string, unknown> | undefined => {
    const value = members.get(name);
    if (value === undefined) return undefined;
    const found = toMembers(value);
    if (found === undefined) faults.push(`${path}: ${name} must be an object`);
    return found;
  };
  // What reads a part is loaded only if the file has it.
  const shaped = <T>(name: string, shape: () => Shape<T>): T | undefined =>
    members.has(name) ? readShaped(name, shape(), members.get(name), path, faults) : undefined;
  const oauth2 = shaped('oauth2', () => oauth2Shape);
  const scopes = existingScopes(oauth2, hasPartner || members.has('partner'));
  return {
    settings,
    oauth2,
    users: new Map(Object.entries(shaped('users', () => configuredUsersShape) ?? {})),
    schemes: readFileSchemes(part('schemes'), path, faults),
    clients: new Map(
      Object.entries(shaped('clients', () => describeClients({ secretForms: ['text'], scopes })) ?? {}),
    ),
    consumers: new Map(Object.entries(shaped('consumers', () => describeConsumers()) ?? {})),
    collections: part('collections'),
    seed: part('seed'),
  };
}

/** Reads a part by its shape. Adds errors, which never contain a secret, to `faults`. */
function readShaped<T>(
  name: string,
  shape: Shape<T>,
  value: unknown,
  file: string,
  faults: string[],
): T | undefined {
  const read = shape.read(value, [name]);
  if ('value' in read) return read.value;
  faults.push(...read.faults.map((fault) => explainFault(fault, file)));
  return undefined;
}

/** Returns the scopes that exist; undefined if they are not known, because the document of a partner adds some. */
export function existingScopes(
  oauth2: OAuth2Options | undefined,
  hasPartner: boolean,
): readonly Scope[] | undefined {
  return hasPartner ? undefined : readOAuth2(oauth2).scopes;
}

/** Checks each scheme, so that the errors of all are reported. Returns those that are valid. */
function readFileSchemes(
  declared: ReadonlyMap<string, unknown> | undefined,
  path: string,
  faults: string[],
): SchemeDeclarations {
  const schemes: SchemeDeclarations[] = [];
  for (const [name, declaration] of declared ?? []) {
    try {
      const scheme: unknown = { [name]: declaration };
      checkSchemes(scheme, `${path}: schemes`);
      schemes.push(scheme);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      faults.push(error.message);
    }
  }
  return Object.assign({}, ...schemes);
}

function readDocument(path: string, faults: string[]): unknown {
  const bytes = readFileSync(path);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const document = parseJson(text, maxDepth);
    if (toMembers(document) === undefined) faults.push(`${path}: the file must contain a JSON object`);
    return document;
  } catch (error) {
    faults.push(`${path}: ${error instanceof JsonError ? error.message : 'the file is not valid UTF-8'}`);
    return undefined;
  }
}

function readKey(
  path: string,
  key: string,
  value: unknown,
  groups: Groups,
  settings: Setting[],
  faults: string[],
): void {
  const group = groups.get(key);
  if (group !== undefined) readGroup(path, key, group, value, settings, faults);
  else if (key === schemaMember) {
    if (typeof value !== 'string') faults.push(`${path}: ${key} must be a string`);
  } else if (key === 'config') faults.push(`${path}: config is not allowed in a configuration file`);
  else if (optionSpecs.has(key)) settings.push({ key, name: key, file: path, value });
  else if (!parts.some((part) => part === key)) {
    faults.push(`${path}: unknown key ${toPrintable(key)}${hint(key, listKnownKeys(groups))}`);
  }
}

function readGroup(
  path: string,
  groupName: string,
  group: ReadonlyMap<string, string>,
  value: unknown,
  settings: Setting[],
  faults: string[],
): void {
  const members = toMembers(groupValue(group, value));
  if (members === undefined) faults.push(`${path}: ${groupName} must be an object`);
  for (const [member, inner] of members ?? []) {
    const key = group.get(member);
    const name = `${groupName}.${toPrintable(member)}`;
    if (key !== undefined) settings.push({ key, name, file: path, value: inner });
    else faults.push(`${path}: unknown key ${name}${hint(member, [...group.keys()])}`);
  }
}
