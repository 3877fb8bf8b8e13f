/** Answers signed requests in its own process; each order runs a round. */
import type { Answer } from '../measure/parts/part.ts';
import { measuredPeer } from '../signature/part.ts';
import { signedPeers } from './signed-peers.ts';

/** Opens the service with this name. */
export async function part(name = ''): Promise<Answer> {
  const sign = await signedPeers.get(name)?.();
  if (sign === undefined) throw new RangeError(`there is no service called ${name}`);
  return measuredPeer(name, sign, true);
}
