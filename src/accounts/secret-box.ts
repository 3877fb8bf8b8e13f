import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/** AES-256 in Galois/Counter Mode (NIST SP 800-38D), with a random IV of 96 bits and a tag of 128 bits. */
const algorithm = 'aes-256-gcm';
const keyLength = 32;
const ivLength = 12;
const tagLength = 16;

/** The version of the encryption. It is authenticated. */
const version = 1;

/** Stored secrets cannot be decrypted. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
  readonly code = 'sealed';
}

/** Encrypts texts with a key, and authenticates them together with their purpose. */
export interface SecretBox {
  /** Encrypts a text. Returns base64. `as` is its purpose and owner; decryption requires the same. */
  seal(text: string, as: readonly string[]): string;
  /** Decrypts a text. Returns undefined if it was encrypted with another key or for another purpose, or was changed. */
  open(sealed: string, as: readonly string[]): string | undefined;
  /** Derives 32 bytes from the key and a label. They reveal nothing about the key or the bytes of other labels. */
  derive(label: string): Uint8Array;
}

/**
 * Creates a secret box.
 * @param key 32 bytes. With random IVs, it may encrypt 2^32 texts (SP 800-38D §8.3): a thousand secrets, four million times.
 * @param random returns random bytes
 */
export function createSecretBox(key: Uint8Array, random: (size: number) => Uint8Array): SecretBox {
  return {
    seal(text, as) {
      const iv = random(ivLength);
      const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength });
      cipher.setAAD(encodeAssociatedData(as));
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, content, cipher.getAuthTag()]).toString('base64');
    },
    open(sealed, as) {
      const bytes = Buffer.from(sealed, 'base64');
      // Node.js ignores characters that are not base64. Only the canonical encoding is accepted.
      if (bytes.toString('base64') !== sealed || bytes.length < ivLength + tagLength) return undefined;
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), {
        authTagLength: tagLength,
      });
      decipher.setAAD(encodeAssociatedData(as));
      decipher.setAuthTag(bytes.subarray(-tagLength));
      const content = decipher.update(bytes.subarray(ivLength, -tagLength));
      try {
        decipher.final();
      } catch {
        return undefined;
      }
      return content.toString('utf8');
    },
    // RFC 5869; the key is random, so it needs no salt (§3.1), and the label is the info (§3.2).
    derive: (label) => new Uint8Array(hkdfSync('sha256', key, '', encodeAssociatedData([label]), keyLength)),
  };
}

/** Returns the additional authenticated data. Different lists have different JSON. */
function encodeAssociatedData(as: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(['countersign', version, ...as]), 'utf8');
}

/** Parses a key of 32 bytes: 64 hexadecimal digits, or base64 or base64url, with or without padding. Returns undefined for any other text. */
export function parseKey(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  // The last digit has four bits of the key; its other two bits are zero.
  if (!/^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length === keyLength ? key : undefined;
}
