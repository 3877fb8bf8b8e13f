import type { Problem } from '../http/problem.ts';
import type { NonceRefusedError } from '../store/errors.ts';
import { readRefusal } from '../store/nonces/nonces.ts';
import type { RequestTrace } from './call.ts';

/**
 * Returns the refusal of a request whose nonce was claimed with its change, and was refused: the same as if it had been refused in
 * step 7. Undefined if the claim was not deferred.
 *
 * @param onReplay Called with the user of a nonce that was used before.
 */
export function nonceRefusal(
  error: NonceRefusedError,
  trace: RequestTrace,
  onReplay: ((user: string) => void) | undefined,
): Problem | undefined {
  const { principal, refuseNonce } = trace;
  if (refuseNonce === undefined) return undefined;
  trace.step = 7;
  trace.principal = undefined;
  trace.refuseNonce = undefined;
  const claimed = readRefusal(error);
  if (claimed === 'seen' && principal?.nonce !== undefined) onReplay?.(principal.nonce.user);
  return refuseNonce(claimed);
}
