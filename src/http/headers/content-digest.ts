import { createHash } from 'node:crypto';
import { readDictionary } from '../structured-fields/parse.ts';
import { isInnerList } from '../structured-fields/value.ts';

/** The supported algorithms, with the lengths of their digests in bytes (RFC 9530 §5). */
const digestLengths = { 'sha-256': 32, 'sha-512': 64 } as const;

/** The name of a supported algorithm. */
type DigestAlgorithm = keyof typeof digestLengths;

/** One digest of a Content-Digest field. */
export interface ContentDigest {
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
}

/** Returns a Content-Digest with the SHA-256 of content (RFC 9530 §2). */
export function formatContentDigest(content: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
}

/**
 * Parses a Content-Digest value (RFC 9530 §2), a dictionary of byte sequences (RFC 9651 §3.2). Unsupported algorithms are omitted,
 * so the list may be empty. Returns undefined if the field is malformed, a member is not a byte sequence, or a digest has the
 * wrong length or is not canonical base64.
 */
export function parseContentDigest(value: string): readonly ContentDigest[] | undefined {
  // The bytes of other algorithms may be written in any way.
  const dictionary = readDictionary(value, { anyBase64: true });
  if (dictionary === undefined) return undefined;
  const digests: ContentDigest[] = [];
  for (const [algorithm, member] of dictionary) {
    if (isInnerList(member) || member.bare.type !== 'bytes') return undefined;
    if (!isSupported(algorithm)) continue;
    const digest = decodeCanonicalBase64(member.bare.value);
    if (digest?.length !== digestLengths[algorithm]) return undefined;
    digests.push({ algorithm, digest });
  }
  return digests;
}

function isSupported(algorithm: string): algorithm is DigestAlgorithm {
  return algorithm === 'sha-256' || algorithm === 'sha-512';
}

/** Parses a Content-MD5 value (RFC 1864): 16 bytes in canonical base64. Returns undefined if it is malformed. */
export function parseContentMd5(value: string): Uint8Array | undefined {
  const digest = decodeCanonicalBase64(value);
  return digest?.length === 16 ? digest : undefined;
}

/**
 * Decodes canonical base64 (RFC 4648 §3.5, §4): padded, with zero bits in the padding, without white space or other characters
 * outside the alphabet. Returns undefined for any other encoding of the same bytes.
 */
export function decodeCanonicalBase64(value: string): Uint8Array | undefined {
  const bytes = Buffer.from(value, 'base64');
  return bytes.toString('base64') === value ? bytes : undefined;
}
