import { hmacSha256, SigningKey } from '../../hmac-sha256.ts';

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

/** Formats a time (ms since 1970-01-01T00:00:00Z) in the basic format of ISO 8601: `20150830T123600Z`. */
export function formatStamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}|[:-]/g, '');
}

/** Parses `20150830T123600Z`. Returns ms since 1970-01-01T00:00:00Z; undefined if it is malformed or does not exist. */
export function parseStamp(text: string): number | undefined {
  if (!/^\d{8}T\d{6}Z$/.test(text)) return undefined;
  const number = (from: number, to: number): number => Number(text.slice(from, to));
  const [year, month, day] = [number(0, 4), number(4, 6), number(6, 8)];
  const [hour, minute, second] = [number(9, 11), number(11, 13), number(13, 15)];
  if (year < 100 || hour > 23 || minute > 59 || second > 59) return undefined;
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(time);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? time : undefined;
}
