import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/** AES-256 in Galois/Counter Mode (NIST SP 800-38D), with an IV of 96 random bits and a tag of 128. */
const algorithm = 'aes-256-gcm';
const keyLength = 32;
const ivLength = 12;
const tagLength = 16;

/** What is sealed in another way would have another number. */
const version = 1;

/** Sealed texts cannot be opened. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
  readonly code = 'sealed';
}

/** Encrypts texts under a key, so that they can be kept where others may come to read them. */
export interface SecretBox {
  /** The text sealed, in base64. Only who has the key opens it, and only as what it was sealed: `as` is what it is and whose. */
  seal(text: string, as: readonly string[]): string;
  /** The text; undefined when it was sealed under another key or as something else, or was changed since. */
  open(sealed: string, as: readonly string[]): string | undefined;
  /** 32 bytes that are the same for the same key and label, and that tell nothing of the key or of those for other labels. */
  derive(label: string): Uint8Array;
}

/**
 * Makes a seal of a key of 32 bytes and a source of random bytes. SP 800-38D §8.3 lets a key with random IVs seal
 * 2^32 times: a thousand users can be written a million times.
 */
export function createSecretBox(key: Uint8Array, random: (size: number) => Uint8Array): SecretBox {
  return {
    seal(text, as) {
      const iv = random(ivLength);
      const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength });
      cipher.setAAD(associatedData(as));
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, content, cipher.getAuthTag()]).toString('base64');
    },
    open(sealed, as) {
      const bytes = Buffer.from(sealed, 'base64');
      // Node.js passes over what is not base64; here each text has one spelling.
      if (bytes.toString('base64') !== sealed || bytes.length < ivLength + tagLength) return undefined;
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), {
        authTagLength: tagLength,
      });
      decipher.setAAD(associatedData(as));
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
    derive: (label) => new Uint8Array(hkdfSync('sha256', key, '', associatedData([label]), keyLength)),
  };
}

/** What is authenticated beside the text. In JSON no two lists are the same bytes. */
function associatedData(as: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(['countersign', version, ...as]), 'utf8');
}

/** A key of 32 bytes in 64 hexadecimal digits, base64 or base64url, with or without its padding; undefined for any other text. */
export function parseKey(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  // The last digit carries four bits of the key, and none that is left over.
  if (!/^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length === keyLength ? key : undefined;
}
