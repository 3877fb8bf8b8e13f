/** The verifier of the scheme `hmac`, alone. */

import type { Accounts } from '../../../src/accounts/accounts.ts';
import { createVerifier } from '../../../src/schemes/create-verifier.ts';
import type { HmacOptions } from '../../../src/schemes/hmac/options.ts';
import { createHmacScheme } from '../../../src/schemes/hmac/scheme.ts';
import type { SchemeContext } from '../../../src/schemes/scheme-context.ts';
import type { Verifier } from '../../../src/schemes/verifier.ts';

/** The options of the scheme, and the parts of a service that a test has. */
export type HmacVerifierOptions = HmacOptions &
  Partial<SchemeContext> &
  Pick<SchemeContext, 'nonces' | 'clock'> & { readonly accounts: Accounts };

/** Creates the verifier. Its code is loaded for the first request. */
export function createHmacVerifier(options: HmacVerifierOptions): Verifier {
  const { window = 600_000 } = options;
  const context = { realm: 'test', nonceWindow: window, explain: false, bodyLimit: 0 };
  return createVerifier(createHmacScheme(options), { ...context, ...options });
}
