// Counts the cryptographic operations of the process. Imported before all code whose operations are counted.
import { syncBuiltinESMExports } from 'node:module';

let count = 0;

const crypto = process.getBuiltinModule('node:crypto');
for (const name of ['createHmac', 'createHash', 'hash', 'verify', 'timingSafeEqual'] as const) {
  const original: unknown = Reflect.get(crypto, name);
  if (typeof original !== 'function') continue;
  const counted = (...values: unknown[]): unknown => {
    count += 1;
    return Reflect.apply(original, crypto, values);
  };
  Reflect.set(crypto, name, counted);
}
syncBuiltinESMExports();

/** Returns how many hashes, HMACs, verifications and comparisons `act` computes. */
export async function countOperations(act: () => Promise<unknown>): Promise<number> {
  const before = count;
  await act();
  return count - before;
}
