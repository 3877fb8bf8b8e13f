import type { IncomingRequest } from '../http/message.ts';
import type { AuthenticationTrace } from './trace.ts';
import type { AcceptedSchemes } from './verifier.ts';

/** A request to authenticate. */
export interface Attempt {
  readonly request: IncomingRequest;
  readonly authTrace: AuthenticationTrace | undefined;
  /** The schemes that the resource accepts; undefined for all. */
  readonly accepted: AcceptedSchemes | undefined;
}
