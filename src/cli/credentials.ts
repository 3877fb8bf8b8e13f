import { hashPassword } from '../store/passwords.ts';
import type { StoredUser } from '../store/users.ts';

/** Gives that many random bytes. */
export type Random = (size: number) => Uint8Array;

/** A new user as it is kept, and what its owner is told once. */
export interface NewUser {
  readonly stored: StoredUser;
  readonly secret: string;
  readonly password: string;
}

/** 256 random bits in base64url. */
export function randomSecret(random: Random): string {
  return Buffer.from(random(32)).toString('base64url');
}

// A password of 256 random bits cannot be guessed however fast the hash is, so it need not be slow: a start that
// makes one stays quick.
const costForRandom = 1024;

/** Makes a user with a random password, and with a random secret unless one is given. */
export async function makeUser(random: Random, secret = randomSecret(random)): Promise<NewUser> {
  const password = randomSecret(random);
  const hash = await hashPassword(password, random(16), costForRandom);
  return { stored: { secrets: [{ secret }], password: hash }, secret, password };
}
