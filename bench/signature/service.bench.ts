/** Measures signed requests without a server in another process. */
import { join } from 'node:path';
import type { Benchmark } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { servicePeers } from './service/peers.ts';

export const benchmark: Benchmark = {
  title: 'A signed request in process',
  about:
    'The service with `handle`: a signed GET and a signed PUT of an article in memory, and a signed PUT into a data directory without syncs.',
  figures: [...timeFigures],
  open(stage) {
    const contestants = Array.from(servicePeers.keys(), (name) => {
      const words = [name, join(stage.scratch, 'signed')];
      const shared = sharedPart(stage, { file: 'signature/service/part.ts', words });
      return shared({ name, ours: true }, []);
    });
    return [{ name: '', contestants }];
  },
};
