import type { KeyDeclaration } from '../auth/account-key.ts';
import { passwordFault, userNameFault } from '../auth/accounts.ts';
import { parseAccountKey, readKeyDeclaration } from '../auth/parse-account-key.ts';
import { checkQuota, type QuotaDeclaration } from '../auth/quota/policy.ts';
import { readUserSchemes } from '../auth/scheme-limits.ts';
import { hasControlCharacter } from '../http/syntax/control-character.ts';
import { hint, printable } from './flags.ts';
import { membersOf } from './members.ts';

/** A user in the configuration file. */
export interface ConfiguredUser {
  /** Undefined for a user that has only keys. */
  readonly secret?: string;
  readonly password?: string;
  readonly keys?: Readonly<Record<string, KeyDeclaration>>;
  readonly quota?: QuotaDeclaration;
  readonly schemes?: readonly string[];
}

/** Reads `users` of the configuration file. Adds errors, which never contain a secret, to `faults`. */
export function readUsers(
  value: unknown,
  file: string,
  faults: string[],
): ReadonlyMap<string, ConfiguredUser> {
  const users = new Map<string, ConfiguredUser>();
  const members = membersOf(value);
  if (members === undefined) faults.push(`${file}: users must be an object`);
  for (const [name, user] of members ?? []) {
    const where = `users.${printable(name)}`;
    const fault = userNameFault(name);
    if (fault !== undefined) faults.push(`${file}: ${where}: ${fault}`);
    const { user: read, faults: found } = readUser(user, where);
    faults.push(...found.map((each) => `${file}: ${each}`));
    if (fault === undefined && read !== undefined) users.set(name, read);
    const { password = '' } = read ?? {};
    // readUser reports control characters.
    const unusable = hasControlCharacter(password) ? undefined : passwordFault(password);
    if (unusable !== undefined)
      faults.push(`${file}: users.${printable(name)}.password cannot be used with Basic: ${unusable}`);
  }
  return users;
}

const userKeys: readonly string[] = ['secret', 'password', 'keys', 'quota', 'schemes'];

function readUser(value: unknown, where: string): { user: ConfiguredUser | undefined; faults: string[] } {
  const faults: string[] = [];
  const members = membersOf(value);
  if (members === undefined)
    return { user: undefined, faults: [`${where} must be an object such as { "secret": "…" }`] };
  for (const key of members.keys()) {
    if (userKeys.includes(key)) continue;
    faults.push(`unknown key ${where}.${printable(key)}${hint(key, userKeys)}`);
  }
  const { secret, password } = { secret: members.get('secret'), password: members.get('password') };
  const keys = members.has('keys') ? readKeys(members.get('keys'), `${where}.keys`, faults) : undefined;
  const quota = members.has('quota') ? readUserQuota(members.get('quota'), where, faults) : undefined;
  const schemes = readSchemesOf(members, where, faults);
  const isSecret = typeof secret === 'string' && secret !== '';
  if (!isSecret && (secret !== undefined || keys === undefined))
    faults.push(`${where}.secret must be a non-empty string`);
  if (password !== undefined && (typeof password !== 'string' || password === '')) {
    faults.push(`${where}.password must be a non-empty string`);
  }
  // RFC 7617 §2 forbids control characters in credentials, so such a password could never match.
  if (typeof password === 'string' && hasControlCharacter(password))
    faults.push(`${where}.password contains a control character, which no client can send`);
  const user: ConfiguredUser = {
    ...(isSecret ? { secret } : {}),
    ...(typeof password === 'string' ? { password } : {}),
    ...(keys === undefined ? {} : { keys }),
    ...(quota === undefined ? {} : { quota }),
    ...(schemes === undefined ? {} : { schemes }),
  };
  return { user: isSecret || keys !== undefined ? Object.freeze(user) : undefined, faults };
}

function readUserQuota(value: unknown, where: string, faults: string[]): QuotaDeclaration | undefined {
  try {
    checkQuota(value, `${where}.quota`);
    return value;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    faults.push(error.message);
    return undefined;
  }
}

function readSchemesOf(
  members: ReadonlyMap<string, unknown>,
  where: string,
  faults: string[],
): readonly string[] | undefined {
  if (!members.has('schemes')) return undefined;
  try {
    return readUserSchemes(members.get('schemes'), `${where}.schemes`);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    faults.push(error.message);
    return undefined;
  }
}

/** Reads the keys of a user. Returns undefined if they are not an object or there are none. */
function readKeys(
  value: unknown,
  where: string,
  faults: string[],
): Readonly<Record<string, KeyDeclaration>> | undefined {
  const members = membersOf(value);
  if (members === undefined) {
    faults.push(
      `${where} must be an object such as { "key-1": { "algorithm": "ed25519", "publicKey": "…" } }`,
    );
    return undefined;
  }
  const keys: [string, KeyDeclaration][] = [];
  for (const [id, declared] of members) {
    const what = `${where}.${printable(id)}`;
    try {
      const key = readKeyDeclaration(declared, what);
      parseAccountKey(id, key, what);
      keys.push([id, key]);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      faults.push(error.message);
    }
  }
  return keys.length === 0 ? undefined : Object.fromEntries(keys);
}
