import { readFileSync } from 'node:fs';
import { JsonError, readJson } from '../formats/json/reader.ts';
import { hint, printable } from './flags.ts';
import { membersOf } from './members.ts';
import { type Registrations, readRegistrations } from './registrations.ts';
import { type OptionSpec, optionSpecs } from './table.ts';
import { type ConfiguredUser, readUsers } from './users.ts';

/** An option as one source has it. */
export interface Setting {
  readonly key: string;
  /** What the source calls it: `--port`, `COUNTERSIGN_PORT`, `config.json: port`. */
  readonly name: string;
  readonly value: unknown;
  /** Whether it is text that stands for a value, and not JSON. */
  readonly textual: boolean;
}

/** What a configuration file says. */
export interface ConfigurationFile extends Registrations {
  readonly settings: readonly Setting[];
  readonly users: ReadonlyMap<string, ConfiguredUser>;
  /** As it stands there; undefined when it does not. */
  readonly collections: ReadonlyMap<string, unknown> | undefined;
  readonly seed: ReadonlyMap<string, unknown> | undefined;
}

/** How deeply values may be nested. */
const deepest = 64;

const parts = ['users', 'clients', 'consumers', 'collections', 'seed'] as const;

/** Options that a file may have in groups, `{ "hmac": { "requireBodyDigest": … } }`: their keys by group and name. */
type Groups = ReadonlyMap<string, ReadonlyMap<string, string>>;

function groupsOf(specs: ReadonlyMap<string, OptionSpec>): Groups {
  const found = new Map<string, Map<string, string>>();
  for (const [key, { within }] of specs) {
    if (within === undefined) continue;
    const [group, name] = within;
    found.set(group, (found.get(group) ?? new Map<string, string>()).set(name, key));
  }
  return found;
}

/** Keys that a file may have, for a hint at what was meant. */
function known(groups: Groups): string[] {
  return [...parts, ...groups.keys(), ...[...optionSpecs.keys()].filter((key) => key !== 'config')];
}

/** Reads a configuration file. What is wrong in it is added to `faults`. Throws what the file system says. */
export function readConfigurationFile(path: string, faults: string[]): ConfigurationFile {
  const members = membersOf(readDocument(path, faults)) ?? new Map<string, unknown>();
  const settings: Setting[] = [];
  const groups = groupsOf(optionSpecs);
  for (const [key, value] of members) readKey(path, key, value, groups, settings, faults);
  const part = (name: string): ReadonlyMap<string, unknown> | undefined => {
    const value = members.get(name);
    if (value === undefined) return undefined;
    const found = membersOf(value);
    if (found === undefined) faults.push(`${path}: ${name} is not an object`);
    return found;
  };
  return {
    settings,
    users: members.has('users') ? readUsers(members.get('users'), path, faults) : new Map(),
    ...readRegistrations(members, path, faults),
    collections: part('collections'),
    seed: part('seed'),
  };
}

function readDocument(path: string, faults: string[]): unknown {
  const bytes = readFileSync(path);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    readJson(text, deepest); // Unlike JSON.parse, it says where a fault is, and refuses a name that stands twice.
    const document: unknown = JSON.parse(text);
    if (membersOf(document) === undefined) faults.push(`${path}: an object is expected`);
    return document;
  } catch (error) {
    faults.push(`${path}: ${error instanceof JsonError ? error.message : 'it is not UTF-8'}`);
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
  if (group !== undefined) readGroup(`${path}: ${key}`, group, value, settings, faults);
  else if (key === 'config') faults.push(`${path}: a configuration file does not name another`);
  else if (optionSpecs.has(key)) settings.push({ key, name: `${path}: ${key}`, value, textual: false });
  else if (!parts.some((part) => part === key)) {
    faults.push(`${path}: ${printable(key)} is not known${hint(key, known(groups))}`);
  }
}

function readGroup(
  where: string,
  group: ReadonlyMap<string, string>,
  value: unknown,
  settings: Setting[],
  faults: string[],
): void {
  const members = membersOf(value);
  if (members === undefined) faults.push(`${where} is not an object`);
  for (const [name, inner] of members ?? []) {
    const key = group.get(name);
    if (key !== undefined) settings.push({ key, name: `${where}.${name}`, value: inner, textual: false });
    else faults.push(`${where}.${printable(name)} is not known${hint(name, [...group.keys()])}`);
  }
}
