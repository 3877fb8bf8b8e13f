import { decodeKey } from '../../signature/declared/key.ts';
import { readWord } from '../option-values.ts';
import type { UnplacedDefinition } from './sealed.ts';

type KeyReader = Pick<UnplacedDefinition, 'keyEncoding' | 'key'>;

/** Reads how a secret contains the key. Throws RangeError if the value is neither an encoding nor a function. */
export function keyReader(value: unknown, where: string): KeyReader {
  if (typeof value === 'function')
    return {
      keyEncoding: 'utf8',
      key(secret) {
        const key: unknown = value(secret.toString('utf8'));
        if (typeof key === 'string') return Buffer.from(key, 'utf8');
        if (key instanceof Uint8Array) return Buffer.from(key);
        throw new TypeError(`${where} returned neither text nor bytes`);
      },
    };
  const keyEncoding = readWord(value, where, ['utf8', 'hex', 'base64'], 'utf8');
  if (keyEncoding === 'utf8') return { keyEncoding, key: (secret) => secret };
  return { keyEncoding, key: (secret) => decodeKey(secret.toString('latin1'), keyEncoding) };
}
