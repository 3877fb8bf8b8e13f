// The message that a signature covers, as named parts. Every scheme describes its message in this way.
import { bytesOf, octetsOf } from '../http/syntax/octets.ts';

/** The longest nonce or id, in bytes. A server stores each nonce for a while. */
export const maxNonceLength = 128;

/** Octets as characters, or bytes. */
export type Piece = string | Uint8Array;

/** The kinds that schemes in code give to parts by the same names. A `search` is a query with its question mark. */
export const publicKinds = [
  ...(['method', 'target', 'path', 'query', 'search', 'url', 'host', 'header'] as const),
  ...(['time', 'nonce', 'id', 'user', 'digest', 'form'] as const),
] as const;

/** What a part contains. It determines the mistakes that clients make in it. */
export type PartKind = (typeof publicKinds)[number] | 'text' | 'content' | 'secret' | 'other';

/** A named part of a message. */
export interface NamedPart {
  /** The name in explanations: `method`, `field:X-Tenant`. Literal text has the name ''. */
  readonly name: string;
  readonly value: Piece;
}

/** A part of a message that is verified. */
export interface Part extends NamedPart {
  readonly kind: PartKind;
  /** How the digest of the content is written. Only for the kind `digest`. */
  readonly digest?: DigestForm;
}

/** How a digest of the content is written in a message. */
export interface DigestForm {
  /** The name of the hash function, as node:crypto knows it. */
  readonly hash: string;
  /** Writes the digest: `hex`, or the value of a header. */
  readonly format: (digest: Buffer) => string;
}

/** Returns the name and the value of a part, the latter as octets: a form in which two parts compare. */
export function nameAndOctets({ name, value }: NamedPart): readonly [name: string, octets: string] {
  return [name, octetsOfPiece(value)];
}

/** Returns pieces as bytes. Each character of a string is one octet. */
export function messageBytes(pieces: readonly Piece[]): Buffer {
  if (areOctets(pieces)) return bytesOf(pieces.join(''));
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? bytesOf(piece) : piece)));
}

/** Returns whether all pieces are octets as characters. */
export function areOctets(pieces: readonly Piece[]): pieces is readonly string[] {
  return pieces.every((piece) => typeof piece === 'string');
}

/** Returns a piece as octets: each character is one octet. */
export function octetsOfPiece(piece: Piece): string {
  return typeof piece === 'string' ? piece : octetsOf(piece);
}
