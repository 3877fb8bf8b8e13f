import type { Accounts } from '../accounts/accounts.ts';
import type { HashQueue } from '../accounts/hash-queue.ts';
import type { RateLimiter } from '../accounts/rate-limit.ts';
import type { Clock } from '../clock.ts';
import type { Origins } from '../pipeline/origin.ts';
import type { Authenticator } from '../schemes/authenticate.ts';
import type { NonceStore } from '../store/nonces/nonces.ts';
import type { Client, Consumer, Registry } from './clients.ts';
import type { Grants } from './grants.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { Alterations } from './oauth2/alterations.ts';
import type { TokenSigner } from './oauth2/token-signer.ts';
import type { TrustedIssuers } from './oauth2/trusted-issuers.ts';
import type { OAuth2Settings } from './oauth2-options.ts';

/** Services and options shared by OAuth 1.0a and OAuth 2.0. */
export interface OAuthContext {
  readonly realm: string;
  readonly clock: Clock;
  /** Returns that many random bytes. */
  readonly random: (size: number) => Uint8Array;
  readonly grants: Grants;
  readonly clients: Registry<Client>;
  readonly consumers: Registry<Consumer>;
  readonly accounts: Accounts;
  /** Authenticates the user on a consent page: with Basic only. Failures count towards the limit. */
  readonly approver: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly nonces: NonceStore;
  /** Maximum distance (ms) from the clock of a date that a nonce is stored with; at least `oauth1Window`. */
  readonly nonceWindow: number;
  readonly lifetimes: Lifetimes;
  readonly settings: OAuth2Settings;
  /** Returns what signs tokens; undefined if they are opaque, or its code is not loaded yet. */
  readonly signer: () => TokenSigner | undefined;
  /** Makes responses wrong in a double. Default: none is. */
  readonly alterations?: Alterations | undefined;
  /** Returns what verifies the tokens of other issuers; undefined if none is trusted, or its code is not loaded yet. */
  readonly issuers: () => TrustedIssuers | undefined;
  readonly origins: Origins;
  /** Timestamps before this (ms) are refused, because nonces of an earlier process are not known. */
  readonly notBefore: number | undefined;
  /** 32 bytes that token secrets are derived from. */
  readonly masterKey: Uint8Array;
  /** Maximum content length in bytes. */
  readonly bodyLimit: number;
  /** What has the clock of which reasons speak: `this double` or `this service`. */
  readonly here: string;
  /** Whether errors explain what the server checked. */
  readonly explain: boolean;
  /** Resolves to whether a client secret matches its scrypt hash. */
  readonly verifySecret: (secret: string, hash: string) => Promise<boolean>;
  /** Queue in which client secrets and passwords wait to be hashed. */
  readonly hashQueue: HashQueue;
}
