import { passwordFault, userNameFault } from '../auth/accounts.ts';
import { hasControlCharacter } from '../http/syntax/control-character.ts';
import { hint, printable } from './flags.ts';
import { membersOf } from './members.ts';

/** A user as the configuration file has it. */
export interface ConfiguredUser {
  readonly secret: string;
  readonly password?: string;
}

/** Reads `users` of the configuration file; what is wrong is added to `faults`, never with a secret in it. */
export function readUsers(
  value: unknown,
  file: string,
  faults: string[],
): ReadonlyMap<string, ConfiguredUser> {
  const users = new Map<string, ConfiguredUser>();
  const members = membersOf(value);
  if (members === undefined) faults.push(`${file}: users is not an object`);
  for (const [name, user] of members ?? []) {
    const where = `${file}: users.${printable(name)}`;
    const fault = userNameFault(name);
    if (fault !== undefined) faults.push(`${where}: ${fault}`);
    const read = readUser(user, where, faults);
    if (fault === undefined && read !== undefined) users.set(name, read);
    const { password = '' } = read ?? {};
    // readUser reports control characters.
    const unusable = hasControlCharacter(password) ? undefined : passwordFault(password);
    if (unusable !== undefined)
      faults.push(`${file}: users.${printable(name)}.password cannot be used with Basic: ${unusable}`);
  }
  return users;
}

function readUser(value: unknown, where: string, faults: string[]): ConfiguredUser | undefined {
  const members = membersOf(value);
  if (members === undefined) {
    faults.push(`${where} is not an object such as { "secret": "…" }`);
    return undefined;
  }
  for (const key of members.keys()) {
    if (key === 'secret' || key === 'password') continue;
    faults.push(`${where}.${printable(key)} is not known${hint(key, ['secret', 'password'])}`);
  }
  const { secret, password } = { secret: members.get('secret'), password: members.get('password') };
  if (typeof secret !== 'string' || secret === '')
    faults.push(`${where}.secret is not a text of at least one character`);
  if (password !== undefined && (typeof password !== 'string' || password === '')) {
    faults.push(`${where}.password is not a text of at least one character`);
  }
  // RFC 7617 §2: no user can send one, so it would never fit.
  if (typeof password === 'string' && hasControlCharacter(password))
    faults.push(`${where}.password has a control character, which no client can send`);
  if (typeof secret !== 'string') return undefined;
  return Object.freeze(typeof password === 'string' ? { secret, password } : { secret });
}
