/** Measures the verification of a signed GET with AWS Signature Version 4. */
import type { Benchmark } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { aws4Peers } from './aws4-peers.ts';

const ours = 'countersign, SigV4';

export const benchmark: Benchmark = {
  title: 'AWS Signature Version 4',
  about:
    'A signed GET: grammar, scope, canonical request, signature and date. For comparison: our own HMAC with a nonce over as many bytes, and two packages that sign, so that verifying means to sign again and to compare; they check no scope and find no unsigned header. Ours derives the signing key for each request. The packages keep derived keys: aws4 those of a thousand users, so that it derives one for each request of 2,000 users in turn.',
  figures: [...timeFigures],
  requirements: [
    { contestant: '@smithy/signature-v4, signed again', figure: 'cpu', beside: ours, atLeast: 1 },
    { contestant: 'aws4, signed again, of 2,000 users', figure: 'cpu', beside: ours, atLeast: 1 },
  ],
  open(stage) {
    const contestants = Array.from(aws4Peers.keys(), (name) => {
      const shared = sharedPart(stage, { file: 'signature/part.ts', words: ['aws4', name] });
      return shared({ name, ours: name.startsWith('countersign') }, []);
    });
    return [{ name: '', yardstick: ours, contestants }];
  },
};
