/** Verifies HTTP Message Signatures in its own process; each order runs a round. The requests are signed beforehand. */
import type { Answer } from '../../measure/parts/part.ts';
import { measuredPeer } from '../part.ts';
import { messagePeers } from './peers.ts';

/** Creates the peer with this name. */
export async function part(name = ''): Promise<Answer> {
  const sign = messagePeers.get(name)?.();
  if (sign === undefined) throw new RangeError(`${name} is not a verifier of HTTP Message Signatures`);
  return measuredPeer(name, sign, name.includes('nonce'));
}
