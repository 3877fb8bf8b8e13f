import { hmacSha256, SigningKey } from '../hmac-sha256.ts';

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

/** Prepares the first key of the chain from the bytes of a secret. */
export function prepareSecret(secret: Uint8Array): SigningKey {
  return new SigningKey(Buffer.concat([keyPrefix, secret]));
}

/** Returns the bytes of the signing key: a chain of HMACs that begins with `AWS4` and the secret. */
export function deriveKey(secret: SigningKey, { date, region, service }: Scope): Buffer {
  let key: Buffer = Buffer.from(secret.digest([date]), 'base64');
  for (const part of [region, service, scopeEnd]) key = hmacSha256(key, part);
  return key;
}
