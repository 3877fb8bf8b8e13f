import { passwordFault, userNameFault } from '../auth/accounts.ts';
import { hasControlCharacter } from '../http/syntax/control-character.ts';
import { hint, printable } from './flags.ts';
import { membersOf } from './members.ts';

/** A user in the configuration file. */
export interface ConfiguredUser {
  readonly secret: string;
  readonly password?: string;
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

function readUser(value: unknown, where: string): { user: ConfiguredUser | undefined; faults: string[] } {
  const faults: string[] = [];
  const members = membersOf(value);
  if (members === undefined)
    return { user: undefined, faults: [`${where} must be an object such as { "secret": "…" }`] };
  for (const key of members.keys()) {
    if (key === 'secret' || key === 'password') continue;
    faults.push(`unknown key ${where}.${printable(key)}${hint(key, ['secret', 'password'])}`);
  }
  const { secret, password } = { secret: members.get('secret'), password: members.get('password') };
  if (typeof secret !== 'string' || secret === '') faults.push(`${where}.secret must be a non-empty string`);
  if (password !== undefined && (typeof password !== 'string' || password === '')) {
    faults.push(`${where}.password must be a non-empty string`);
  }
  // RFC 7617 §2 forbids control characters in credentials, so such a password could never match.
  if (typeof password === 'string' && hasControlCharacter(password))
    faults.push(`${where}.password contains a control character, which no client can send`);
  if (typeof secret !== 'string') return { user: undefined, faults };
  return { user: Object.freeze(typeof password === 'string' ? { secret, password } : { secret }), faults };
}
