import crypto from 'node:crypto';
import { SigningKey } from '../hmac-sha256.ts';

/** The scope of a signing key. */
export interface Scope {
  /** `20150830` */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

/** The last part of each scope. */
export const scopeEnd = 'aws4_request';

/** Returns the scope as text: `20150830/us-east-1/service/aws4_request`. */
export function scopeText({ date, region, service }: Scope): string {
  return `${date}/${region}/${service}/${scopeEnd}`;
}

const prefixText = 'AWS4';
/** Precedes the secret in the first key. */
export const keyPrefix: Uint8Array = Buffer.from(prefixText);

/** Returns the bytes of the signing key: a chain of HMACs that begins with `AWS4` and the secret. */
export function deriveKey(secret: Uint8Array, { date, region, service }: Scope): Buffer {
  let key: Buffer = Buffer.concat([keyPrefix, secret]);
  for (const part of [date, region, service, scopeEnd])
    key = crypto.createHmac('sha256', key).update(part).digest();
  return key;
}

/** Prepares a signing key for many signatures. */
export function signingKeyOf(key: Uint8Array): SigningKey {
  return new SigningKey(key, crypto.hash);
}

/** Signing keys of recent scopes for each secret. A removed secret is not kept in memory. */
export interface SigningKeyCache {
  /** Returns the key of a secret for a scope; undefined if it is not stored. */
  find(secret: SigningKey, scope: string): SigningKey | undefined;
  /** Stores a key in place of the oldest one of this secret. */
  store(secret: SigningKey, scope: string, key: SigningKey): void;
}

/** Two, because requests around midnight have two dates. */
const scopesPerSecret = 2;

/** Creates an empty cache. */
export function createSigningKeyCache(): SigningKeyCache {
  const keys = new WeakMap<SigningKey, readonly (readonly [scope: string, key: SigningKey])[]>();
  return {
    find: (secret, scope) => keys.get(secret)?.find(([known]) => known === scope)?.[1],
    store(secret, scope, key) {
      keys.set(secret, [[scope, key] as const, ...(keys.get(secret) ?? [])].slice(0, scopesPerSecret));
    },
  };
}
