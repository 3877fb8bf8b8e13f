import { hashPassword } from '../../accounts/passwords.ts';
import type { StoredUser } from '../../accounts/users.ts';

/** Gives that many random bytes. */
export type Random = (size: number) => Uint8Array;

/** What a new user is told once. */
export interface Credentials {
  readonly secret: string;
  readonly password: string;
}

/** 256 random bits in base64url. */
export function randomSecret(random: Random): string {
  return Buffer.from(random(32)).toString('base64url');
}

/** Makes a random password, and a random secret unless one is given. */
export function makeCredentials(random: Random, secret = randomSecret(random)): Credentials {
  return { secret, password: randomSecret(random) };
}

// A password of 256 random bits cannot be guessed however fast the hash is, so it need not be slow: a start that
// makes one stays quick.
const costForRandom = 1024;

/** The user with these credentials as it is kept; the password is one that makeCredentials made. */
export async function storedUser({ secret, password }: Credentials, random: Random): Promise<StoredUser> {
  return { secrets: [{ secret }], password: await hashPassword(password, random(16), costForRandom) };
}
