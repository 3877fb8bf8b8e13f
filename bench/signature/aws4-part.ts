/** Verifies requests with AWS Signature Version 4 in its own process; each order runs a round. */
import type { Answer } from '../measure/parts/part.ts';
import { aws4Peers } from './aws4-peers.ts';
import { partOf } from './part.ts';

/** Creates the peer with this name, and checks that it accepts valid and rejects invalid requests. */
export function part(name = ''): Promise<Answer> {
  return partOf(aws4Peers, name);
}
