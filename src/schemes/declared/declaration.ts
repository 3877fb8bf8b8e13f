import type { HashName, SignatureAlgorithm, SignatureVariant } from '../../algorithms.ts';
import type { Encoding } from '../signature-form.ts';
import type { FieldPlace, Place, RolePlace } from './place.ts';
import type { SignatureFormat } from './signature-format.ts';
import type { Template } from './template.ts';
import type { TimestampUnit } from './timestamp.ts';

/**
 * How a signature is made: HMAC with a shared secret; a private key; or, for old partners, a plain digest of a message that contains
 * the secret.
 */
export const algorithms = ['hmac', 'ed25519', 'ecdsa-p256', 'rsa-pss', 'rsa-v1_5', 'digest'] as const;
export type Algorithm = (typeof algorithms)[number];

/** The algorithm of the keys of users for each algorithm with a private key. `hash` determines the hash function. */
const keyAlgorithms: Readonly<Partial<Record<Algorithm, SignatureAlgorithm>>> = {
  ed25519: 'ed25519',
  'ecdsa-p256': 'ecdsa-p256-sha256',
  'rsa-pss': 'rsa-pss-sha512',
  'rsa-v1_5': 'rsa-v1_5-sha256',
};

/** Returns the algorithm of the private keys that sign; undefined if secrets do. */
export function findKeyAlgorithm(algorithm: Algorithm): SignatureAlgorithm | undefined {
  return keyAlgorithms[algorithm];
}

/** How the bytes of the key are obtained from the text of a secret. */
export const keyEncodings = ['utf8', 'hex', 'base64'] as const;
type KeyEncoding = (typeof keyEncodings)[number];

/** A declared timestamp. */
export interface DeclaredTimestamp {
  readonly place: RolePlace;
  readonly unit: TimestampUnit;
  /** Maximum difference (ms, inclusive) between a timestamp and the clock, in either direction. */
  readonly window: number;
}

/** A declared scheme: what is signed, with which key, and where the signature is. */
export interface Declaration {
  readonly message: Template;
  readonly algorithm: Algorithm;
  /** `md5` is one of plain digests only. */
  readonly hash: HashName;
  readonly encoding: Encoding;
  /** Only for ECDSA. */
  readonly dsaEncoding: NonNullable<SignatureVariant['dsaEncoding']>;
  /** Whether a signature in hexadecimal may have letters in upper case (Binance). Default: false. */
  readonly anyCase?: boolean | undefined;
  readonly key: KeyEncoding;
  /** Removed from the beginning of a secret before it is decoded: `whsec_`. Default: none. */
  readonly keyPrefix?: string | undefined;
  /** The place of the signature. The message does not contain a parameter of the query with it. */
  readonly place: Place;
  readonly format: SignatureFormat;
  /** The place of the user or the id of its key, or the name of the only user: `ann`. */
  readonly user: RolePlace | string;
  readonly timestamp?: DeclaredTimestamp | undefined;
  readonly nonce?: RolePlace | undefined;
  readonly id?: FieldPlace | undefined;
  /** The field with the passphrase of the key (Coinbase). Default: keys have none. */
  readonly passphrase?: FieldPlace | undefined;
  /** Whether the authority of `{url}` may be signed with the port or without it (Twilio). Default: false. */
  readonly anyPort?: boolean | undefined;
  /** The characters of `{url}` that are signed without their escapes (HubSpot). Default: none. */
  readonly decodedInUrl?: string | undefined;
  /** Whether a parameter of the query may be one of a form instead (Binance). Default: false. */
  readonly queryOrForm?: boolean | undefined;
  /** The parameter with the lifetime after the timestamp (ms) (Binance: `recvWindow`). */
  readonly lifetime?: DeclaredLifetime | undefined;
  /**
   * The parameter of the query that contains the SHA-256 of the content in hexadecimal, if the content is not a form (Twilio:
   * `bodySHA256`). Default: none.
   */
  readonly digestParameter?: string | undefined;
  /**
   * Whether a signature may be used again within the window. `refuse` stores signatures as `nonce` stores nonces. Default:
   * `accept`.
   */
  readonly replay: 'accept' | 'refuse';
  /** Further fields that may have a signature, of which one must be valid. */
  readonly otherFields: readonly string[];
  /** The scheme in Authorization, as written; undefined if the signature is elsewhere. */
  readonly authorizationName?: string | undefined;
  /** Further names of the scheme that are accepted in Authorization. */
  readonly otherNames: readonly string[];
  /** The name of the preset; undefined for a declaration of one's own. */
  readonly preset?: string | undefined;
}

/** A lifetime that a client chooses. */
interface DeclaredLifetime {
  /** The parameter of the query or the form. */
  readonly parameter: string;
  /** Milliseconds if the client chooses none. */
  readonly usual: number;
  /** Milliseconds at most. */
  readonly longest: number;
}
