import type { Accounts } from '../auth/accounts.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { HashQueue } from '../auth/hash-queue.ts';
import type { ClaimedNonce } from '../auth/nonce-claim.ts';
import type { RateLimiter } from '../auth/rate-limit.ts';
import type { Clock } from '../clock.ts';
import type { Origins } from '../pipeline/origin.ts';
import type { Client, Consumer, Registry } from './clients.ts';
import type { Grants } from './grants.ts';
import type { Lifetimes } from './lifetimes.ts';

/** What nonces are claimed in: one step, and `fresh` for one of all who bring the same. */
export interface NonceClaims {
  claim(user: string, nonce: string, until: number, now: number): ClaimedNonce;
  /** Resolves when all that was claimed is written, and `durably` when it is on the medium; undefined when nothing has to be waited for. */
  kept(durably: boolean): Promise<void> | undefined;
  hold(): { readonly user: string; readonly nonce: string; readonly until: number } | undefined;
}

/** What both mechanisms are made of. */
export interface OAuthContext {
  readonly realm: string;
  readonly clock: Clock;
  /** Gives that many random bytes. */
  readonly random: (size: number) => Uint8Array;
  readonly grants: Grants;
  readonly clients: Registry<Client>;
  readonly consumers: Registry<Consumer>;
  readonly accounts: Accounts;
  /** Judges the credentials of people who approve: Basic alone, and counted like everywhere. */
  readonly approver: Authenticator;
  readonly throttle: RateLimiter;
  readonly nonces: NonceClaims;
  /** How far from the clock (ms) the dates may be that the nonces are counted with: never less than `oauth1Window`. */
  readonly nonceWindow: number;
  readonly lifetimes: Lifetimes;
  readonly origins: Origins;
  /** Timestamps before this (ms) are refused: the nonces of an earlier life are forgotten. */
  readonly notBefore: number | undefined;
  /** 32 bytes that token secrets are derived with. */
  readonly masterKey: Uint8Array;
  /** Bytes of content at most. */
  readonly bodyLimit: number;
  /** Whether refusals carry what was checked. */
  readonly explain: boolean;
  /** Whether this is the secret that was hashed with scrypt, as chosen ones of clients are. */
  readonly verifySecret: (secret: string, hash: string) => Promise<boolean>;
  /** Where secrets wait to be hashed, together with passwords. */
  readonly hashQueue: HashQueue;
}
