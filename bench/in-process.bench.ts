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
    'The service with `handle`, and the test double with `fetch`, which creates a Response and a journal entry, compared with fastify (light-my-request), and with node:http over loopback in the same process (`http.request` and `fetch`).',
  figures: [...timeFigures],
  shortRounds: 9,
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
