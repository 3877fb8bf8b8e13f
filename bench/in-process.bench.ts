/** Measures a GET of an article without a server in another process. */
import type { Benchmark } from './measure/benchmark.ts';
import { sharedPart } from './measure/parts/part.ts';
import { timeFigures } from './measure/timing.ts';

const inject = 'light-my-request';
const handle = 'countersign, handle';
const double = 'countersign, double.fetch';

export const benchmark: Benchmark = {
  title: 'A GET in process',
  about:
    'The service by its `handle`, and the test double by its `fetch`, which makes a Response and an entry in the journal; beside them fastify by light-my-request, and node:http over loopback in the same process by `http.request` and by `fetch`.',
  figures: [...timeFigures],
  requirements: [
    { contestant: handle, figure: 'cpu', atMost: 3000 },
    { contestant: double, figure: 'cpu', beside: inject, atMost: 1 },
  ],
  open(stage) {
    const names = [inject, handle, double, 'loopback http.request', 'loopback fetch'];
    const contestants = names.map((name) => {
      const shared = sharedPart(stage, { file: 'in-process/part.ts', words: [name] });
      return shared({ name, ours: name.startsWith('countersign') }, []);
    });
    return [{ name: '', contestants }];
  },
};
