import { createHmac, type KeyObject, sign } from 'node:crypto';

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Signs claims as RFC 7515 has it, without the code that is tested. A text is a secret. */
export function signJwt(claims: object, key: KeyObject | string, header: object = {}): string {
  const isEc = typeof key !== 'string' && key.asymmetricKeyType === 'ec';
  const alg = typeof key === 'string' ? 'HS256' : isEc ? 'ES256' : 'RS256';
  const signed = `${encode({ alg, ...header })}.${encode(claims)}`;
  const octets = Buffer.from(signed);
  const signature =
    typeof key === 'string'
      ? createHmac('sha256', key).update(octets).digest()
      : sign('sha256', octets, isEc ? { key, dsaEncoding: 'ieee-p1363' } : key);
  return `${signed}.${signature.toString('base64url')}`;
}
