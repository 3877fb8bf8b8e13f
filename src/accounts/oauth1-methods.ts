// The signature methods of OAuth 1.0a (RFC 5849 §3.4) that a consumer can be registered for.

/** The signature methods with shared secrets, and the hash functions of their HMACs. PLAINTEXT sends the key itself. */
export const secretMethods = {
  'HMAC-SHA256': 'sha256',
  'HMAC-SHA1': 'sha1',
  'HMAC-SHA512': 'sha512',
  PLAINTEXT: undefined,
} as const;

/** The signature methods with RSA keys (RSASSA-PKCS1-v1_5), and their hash functions. */
export const rsaMethods = { 'RSA-SHA256': 'sha256', 'RSA-SHA1': 'sha1', 'RSA-SHA512': 'sha512' } as const;

/** A signature method with a shared secret. */
export type SecretMethod = keyof typeof secretMethods;
/** A signature method with an RSA key. */
export type RsaMethod = keyof typeof rsaMethods;
/** A signature method. Those with SHA-256 and SHA-512 are those of RFC 5849 with another hash function. */
export type OAuth1Method = SecretMethod | RsaMethod;

/** The signature methods. */
export const oauth1Methods: readonly OAuth1Method[] = [
  'HMAC-SHA256',
  'HMAC-SHA1',
  'HMAC-SHA512',
  'PLAINTEXT',
  'RSA-SHA256',
  'RSA-SHA1',
  'RSA-SHA512',
];

/** Returns whether a method signs with an RSA key. */
export function isRsaMethod(method: string): method is RsaMethod {
  return Object.hasOwn(rsaMethods, method);
}
