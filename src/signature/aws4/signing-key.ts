import crypto from 'node:crypto';

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
