/** Measures the complete verification of a signed GET: header, date, digest, comparison, nonce. */
import type { Benchmark } from './measure/benchmark.ts';
import { sharedPart } from './measure/parts/part.ts';
import { timeFigures } from './measure/timing.ts';
import { peers } from './signature/peers.ts';

const ours = 'countersign';

export const benchmark: Benchmark = {
  title: 'A whole signature check',
  about:
    'Header, date, digest, comparison and nonce of a signed GET. Each request is signed beforehand and verified once. For comparison: two bare hashes, the minimum of an HMAC; hand-written verification with `createHmac`; and other packages, some of which check neither dates nor nonces.',
  figures: [...timeFigures],
  open(stage) {
    const contestants = Array.from(peers.keys(), (name) => {
      const shared = sharedPart(stage, { file: 'signature/part.ts', words: ['hmac', name] });
      return shared({ name, ours: name.startsWith(ours) }, []);
    });
    return [{ name: '', yardstick: ours, contestants }];
  },
};
