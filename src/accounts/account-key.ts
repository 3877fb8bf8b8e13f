import type { KeyObject } from 'node:crypto';
import type { SignatureAlgorithm } from '../algorithms.ts';
import type { SigningKey } from '../hmac-sha256.ts';

/** A key of a user beside the user's secrets, found by its id. The key determines the algorithm, never the request. */
export type AccountKey =
  | {
      /** Unique among the keys and names of all users. */
      readonly id: string;
      readonly algorithm: SignatureAlgorithm;
      readonly publicKey: KeyObject;
      /** Expiry time (ms since 1970-01-01T00:00:00Z). Default: it does not expire. */
      readonly until?: number;
    }
  | {
      readonly id: string;
      readonly algorithm: 'hmac-sha256' | 'aws4';
      /** The shared secret, prepared. */
      readonly secret: SigningKey;
      readonly until?: number;
      /** The SHA-256 of the passphrase. Default: the key has none. */
      readonly passphrase?: Buffer;
    };

/** A key as declared in a configuration or a data directory. */
export type KeyDeclaration =
  | {
      /** The algorithm of the key. */
      readonly algorithm: SignatureAlgorithm;
      /** A public key: PEM (SPKI), or a JWK (RFC 7517). A private key is refused. */
      readonly publicKey: string | Readonly<Record<string, unknown>>;
      /** The time (ms since 1970-01-01T00:00:00Z) until which the key is valid. Default: it does not expire. */
      readonly until?: number | undefined;
    }
  | {
      /** The algorithm of the key. */
      readonly algorithm: 'hmac-sha256' | 'aws4';
      /** The shared secret. */
      readonly secret: string;
      /** The time (ms since 1970-01-01T00:00:00Z) until which the key is valid. Default: it does not expire. */
      readonly until?: number | undefined;
      /** A second secret, which is sent beside the signature (Coinbase). Default: none. */
      readonly passphrase?: string | undefined;
    };
