/** Measures requests without a server in another process. */
import type { Benchmark, Group } from './measure/benchmark.ts';
import { sharedPart } from './measure/parts/part.ts';
import { timeFigures } from './measure/timing.ts';

const inject = 'light-my-request';
const handle = 'countersign, handle';
const double = 'countersign, double.fetch';
const [unread, read] = ['refused, and not read', 'refused, and its entry printed'] as const;

const loopback = ['loopback http.request', 'loopback fetch'];
const others = [inject, ...loopback];

export const benchmark: Benchmark = {
  title: 'Requests in process',
  about:
    'The service with `handle`, and the test double with `fetch`, which creates a Response and a journal entry, compared with fastify (light-my-request), and with node:http over loopback in the same process (`http.request` and `fetch`). And a GET whose query was not signed, signed in the same round, which a double refuses: it searches for the mistake only when the entry of the journal is read.',
  figures: [...timeFigures],
  shortRounds: 7,
  requirements: [
    { group: 'a GET', contestant: handle, figure: 'cpu', atMost: 3000 },
    { group: 'a GET', contestant: double, figure: 'cpu', beside: inject, atMost: 1 },
    { group: 'a refusal of a double', contestant: unread, figure: 'cpu', beside: read, atMost: 1 },
  ],
  open(stage) {
    const groupOf = (name: string, contestants: readonly string[]): Group => ({
      name,
      contestants: contestants.map((each) => {
        const shared = sharedPart(stage, { file: 'in-process/part.ts', words: [each] });
        return shared({ name: each, ours: !others.includes(each) }, []);
      }),
    });
    return [
      groupOf('a GET', [inject, handle, double, ...loopback]),
      groupOf('a refusal of a double', [unread, read]),
    ];
  },
};
