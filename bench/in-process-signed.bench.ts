/** Measures signed requests without a server in another process. */
import { signedPeers } from './in-process/signed-peers.ts';
import type { Benchmark } from './measure/benchmark.ts';
import { sharedPart } from './measure/parts/part.ts';
import { timeFigures } from './measure/timing.ts';

export const benchmark: Benchmark = {
  title: 'A signed request in process',
  about:
    'The service with `handle`: a signed GET and a signed PUT of an article in memory, and a signed PUT into a data directory without syncs.',
  figures: [...timeFigures],
  open(stage) {
    const contestants = Array.from(signedPeers.keys(), (name) => {
      const shared = sharedPart(stage, { file: 'in-process/signed-part.ts', words: [name] });
      return shared({ name, ours: true }, []);
    });
    return [{ name: '', contestants }];
  },
};
