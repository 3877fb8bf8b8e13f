import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../accounts/passwords.ts';
import type { StoredUser } from '../../accounts/users.ts';
import type { Terminal } from '../terminal.ts';
import { readFromInput } from './secret-input.ts';

/** Returns `size` random bytes. */
export type Random = (size: number) => Uint8Array;

/** The credentials of a new user, which are shown only once. */
export interface Credentials {
  readonly secret: string;
  readonly password: string;
}

/** Returns 256 random bits in base64url. */
export function generateSecret(random: Random): string {
  return Buffer.from(random(32)).toString('base64url');
}

/** Returns a random password with the given secret. Default: a random secret. */
export function makeCredentials(random: Random, secret = generateSecret(random)): Credentials {
  return { secret, password: generateSecret(random) };
}

/** A new secret or password. */
export interface ChosenSecret {
  readonly text: string;
  /** Whether it was generated, and not given by the user. */
  readonly isGenerated: boolean;
  /** The text to print for it: a given secret is not printed. */
  readonly shown: string;
}

/** Reads a new secret or password if `--secret-stdin` or `--password-stdin` is given, or else generates one. Throws CommandError. */
export async function chooseSecret(
  flags: ReadonlyMap<string, string | true>,
  terminal: Terminal,
  what: 'secret' | 'password' = 'secret',
): Promise<ChosenSecret> {
  const isGenerated = !flags.has(`--${what}-stdin`);
  const text = isGenerated ? generateSecret(randomBytes) : await readFromInput(terminal, what);
  return { text, isGenerated, shown: isGenerated ? text : `the given ${what}` };
}

/** N of scrypt (RFC 7914 §2). A password of 256 random bits needs no slow hash, and a low cost keeps the first start fast. */
const costForRandom = 1024;

/** N of scrypt for a given password or secret, which may be weak: its verification takes tens of milliseconds. */
const costForChosen = 16_384;

/** Returns the scrypt hash of a password. A given password may be weak, so its hash is costly. */
export function hashOfPassword(
  password: string,
  { isGenerated }: { readonly isGenerated: boolean },
  random: Random,
): Promise<string> {
  return hashPassword(password, random(16), isGenerated ? costForRandom : costForChosen);
}

/** Returns the stored form of a user whose password is from `makeCredentials`. */
export async function toStoredUser({ secret, password }: Credentials, random: Random): Promise<StoredUser> {
  return { secrets: [{ secret }], password: await hashOfPassword(password, { isGenerated: true }, random) };
}
