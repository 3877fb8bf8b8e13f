import type { SignatureFormat } from './signature-format.ts';
import type { Template } from './template.ts';
import type { TimestampUnit } from './timestamp.ts';

/** The hash functions of a declared HMAC. */
export const hashNames = ['sha1', 'sha256', 'sha384', 'sha512'] as const;
export type HashName = (typeof hashNames)[number];

/** The encodings of a signature. */
export const encodings = ['hex', 'base64', 'base64url'] as const;
export type Encoding = (typeof encodings)[number];

/** How the bytes of the key are obtained from the text of a secret. */
export const keyEncodings = ['utf8', 'hex', 'base64'] as const;
export type KeyEncoding = (typeof keyEncodings)[number];

/** A field of the request, by its name as declared. */
export interface FieldPlace {
  readonly field: string;
}

/** The place of the signature: a field, or a parameter of the query, which the message does not contain. */
export type SignaturePlace = FieldPlace | { readonly query: string };

/** A declared timestamp. */
export interface DeclaredTimestamp {
  /** The field that contains it; undefined if it is in the signature (`t={timestamp},v1={signature}`). */
  readonly field: string | undefined;
  readonly unit: TimestampUnit;
  /** Maximum difference (ms, inclusive) between a timestamp and the clock, in either direction. */
  readonly window: number;
}

/** A declared HMAC: what is signed, with which key, and where the signature is. */
export interface Declaration {
  readonly message: Template;
  readonly hash: HashName;
  readonly encoding: Encoding;
  readonly key: KeyEncoding;
  /** Removed from the beginning of a secret before it is decoded: `whsec_`. Default: none. */
  readonly keyPrefix?: string;
  readonly place: SignaturePlace;
  readonly format: SignatureFormat;
  /** The field that names the user, or the name of the only user: `ann`. */
  readonly user: FieldPlace | string;
  readonly timestamp?: DeclaredTimestamp;
  readonly nonce?: FieldPlace;
  readonly id?: FieldPlace;
  /** Whether the authority of `{url}` may be signed with the port or without it (Twilio). Default: false. */
  readonly anyPort?: boolean;
  /**
   * The parameter of the query that contains the SHA-256 of the content in hexadecimal, if the content is not a form (Twilio:
   * `bodySHA256`). Default: none.
   */
  readonly digestParameter?: string;
}
