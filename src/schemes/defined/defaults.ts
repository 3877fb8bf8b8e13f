// What a definition says of keys, time and content, with defaults for what it leaves out.

import type { KeyKind } from '../../accounts/keyring.ts';
import { signatureAlgorithms } from '../../algorithms.ts';
import { readDuration } from '../../duration.ts';
import { keyBytes } from '../declared/key.ts';
import type { Mac } from '../scheme.ts';
import { maxWindow } from '../scheme-shapes.ts';
import type { Definition } from './definition.ts';

/** The longest window (ms), which is also that of a request without a date. */
const longestWindow = maxWindow * 1000;

const defaultWindow = 300_000;

/** Returns the window of dates, and how long nonces without a date are remembered (ms). */
export function readWindows({ window }: Definition): { readonly dated: number; readonly undated: number } {
  const set = window === undefined ? undefined : readDuration(window, 1000);
  return { dated: set ?? defaultWindow, undated: set ?? longestWindow };
}

/** Returns whether the content is read to verify a signature. */
export function usesBody({ needsBody = false, json = [], form = [] }: Definition): boolean {
  return needsBody || json.length + form.length > 0;
}

const secretsOnly = ['secret'] as const;

/** Returns the kinds of keys that may sign. */
export function listKeyKinds({
  kinds,
  verify,
  algorithms = signatureAlgorithms,
}: Definition): readonly KeyKind[] {
  return kinds ?? (verify === undefined ? secretsOnly : algorithms);
}

/** Returns how secrets contain keys. The key of a function may throw; its encoding is `utf8`. */
export function readKeyForm({ key = 'utf8' }: Definition): Pick<Mac, 'encoding' | 'key'> {
  if (typeof key === 'string') return { encoding: key, key: (secret) => keyBytes(secret, { key }) };
  return { encoding: 'utf8', key: (secret) => toKey(key(secret.toString('utf8'))) };
}

function toKey(key: unknown): Buffer {
  if (typeof key === 'string') return Buffer.from(key, 'utf8');
  if (key instanceof Uint8Array) return Buffer.from(key);
  throw new TypeError('definition.key returned neither text nor bytes');
}
