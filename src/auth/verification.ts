import type { Decoys } from './keyring.ts';
import type { Presented, SchemeVerification } from './scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import type { AuthenticationTrace } from './trace.ts';

/** The verification of one request. */
export interface Verification<Own extends Presented> {
  readonly scheme: SchemeVerification<Own>;
  readonly context: SchemeContext;
  readonly decoys: Decoys;
  readonly authTrace: AuthenticationTrace | undefined;
}
