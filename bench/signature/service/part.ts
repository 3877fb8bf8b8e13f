/** Answers signed requests in its own process; each order runs a round. */
import type { Answer } from '../../measure/parts/part.ts';
import { measuredPeer } from '../part.ts';
import { servicePeers } from './peers.ts';

/** Opens the service with this name, in a directory if it has one. */
export async function part(name = '', directory = ''): Promise<Answer> {
  const sign = await servicePeers.get(name)?.(directory);
  if (sign === undefined) throw new RangeError(`there is no service called ${name}`);
  return measuredPeer(name, sign, true);
}
