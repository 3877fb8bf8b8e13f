import { randomBytes } from 'node:crypto';

/** Returns a random id (32 bits) for a new store. Entity tags begin with it, so those of another store do not match. */
export function newStoreId(): string {
  return randomBytes(4).toString('hex');
}
