import { randomBytes } from 'node:crypto';

/**
 * Returns a random id (32 bits) for a new store. Entity tags begin with it, so those of another store do not match.
 * @param random returns `size` random bytes. Default: `randomBytes` of node:crypto
 */
export function createStoreId(random: (size: number) => Uint8Array = randomBytes): string {
  return Buffer.from(random(4)).toString('hex');
}
