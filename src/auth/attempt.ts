import type { IncomingRequest } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { RefusedNonce } from './nonce-claim.ts';
import type { AuthenticationTrace } from './trace.ts';
import type { AcceptedSchemes } from './verifier.ts';

/** Receives how a request is refused if its nonce is claimed with its change, and then refused. */
export interface DeferredNonce {
  /** Returns the Problem, and counts the failure. Undefined if the nonce was claimed, or there is none. */
  refuseNonce?: ((claimed: RefusedNonce) => Problem) | undefined;
}

/** A request to authenticate. */
export interface Attempt {
  readonly request: IncomingRequest;
  readonly authTrace: AuthenticationTrace | undefined;
  /** The schemes that the resource accepts; undefined for all. */
  readonly accepted: AcceptedSchemes | undefined;
  /** If given, the nonce may be claimed with the change of the request. */
  readonly deferred: DeferredNonce | undefined;
}
