import { randomBytes } from 'node:crypto';

/** Names a history of changes that begins now: 32 random bits, which no entity tag of another one begins with. */
export function newStoreId(): string {
  return randomBytes(4).toString('hex');
}
