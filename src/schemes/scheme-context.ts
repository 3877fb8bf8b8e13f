import type { Accounts } from '../accounts/accounts.ts';
import type { Decoys } from '../accounts/keyring.ts';
import type { RateLimiter } from '../accounts/rate-limit.ts';
import type { Clock } from '../clock.ts';
import type { Nonces } from './nonce-claim.ts';
import type { Presented, SchemeVerification } from './scheme.ts';
import type { AuthenticationTrace } from './trace.ts';

/** The parts of the service that a configured scheme uses. */
export interface SchemeContext {
  readonly realm: string;
  readonly accounts: Accounts;
  readonly nonces: Nonces;
  /** Refuses credentials of a user for which a peer has failed too often. Default: failures have no effect. */
  readonly rateLimiter?: RateLimiter | undefined;
  readonly clock: Clock;
  /** The longest window (ms) of all schemes, which determines how long nonces are stored. */
  readonly nonceWindow: number;
  /** Dates before the second of this time (ms) are refused, because their nonces are not known. Default: none. */
  readonly notBefore?: number | undefined;
  /** Whether errors explain what the server checked. */
  readonly explain: boolean;
  /** The public origin, which signed URLs may begin with: `https://api.example`. Default: none. */
  readonly publicOrigin?: string | undefined;
  /** Maximum size of content (bytes) that is read to verify a signature. */
  readonly bodyLimit: number;
  /** Receives what the functions of a scheme in code throw. Default: it is not reported. */
  readonly onError?: (error: unknown) => void;
}

/** The verification of one request. */
export interface Verification<Own extends Presented> {
  readonly scheme: SchemeVerification<Own>;
  readonly context: SchemeContext;
  readonly decoys: Decoys;
  readonly authTrace: AuthenticationTrace | undefined;
}
