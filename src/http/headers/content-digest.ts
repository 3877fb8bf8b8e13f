import { createHash } from 'node:crypto';
import { byteSequenceEnd, keyEnd, nextMember, parametersEnd } from '../syntax/structured-field.ts';

const space = 0x20;
const equals = 0x3d;

/** The supported algorithms, with the lengths of their digests in bytes (RFC 9530 §5). */
const digestLengths = { 'sha-256': 32, 'sha-512': 64 } as const;

/** The name of a supported algorithm. */
export type DigestAlgorithm = keyof typeof digestLengths;

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
  const digests = new Map<DigestAlgorithm, Uint8Array>();
  let at = 0;
  while (value.charCodeAt(at) === space) at += 1;
  while (at < value.length) {
    const named = keyEnd(value, at);
    if (named < 0 || value.charCodeAt(named) !== equals) return undefined;
    const end = byteSequenceEnd(value, named + 1);
    if (end < 0) return undefined;
    const algorithm = value.slice(at, named);
    if (isSupported(algorithm)) {
      const digest = decodeCanonicalBase64(value.slice(named + 2, end - 1));
      if (digest?.length !== digestLengths[algorithm]) return undefined;
      // The last of equal keys counts (RFC 9651 §4.2.2).
      digests.set(algorithm, digest);
    }
    const parametered = parametersEnd(value, end);
    at = parametered < 0 ? -1 : nextMember(value, parametered);
    if (at < 0) return undefined;
  }
  return Array.from(digests, ([algorithm, digest]) => ({ algorithm, digest }));
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
