/** Measures whether the time of a rejection reveals whether a user exists. */
import type { Benchmark, Contestant, Requirement } from './measure/benchmark.ts';
import { startPart } from './measure/parts/part.ts';
import { sharedRound } from './measure/parts/shared-round.ts';

/** The cases of a mechanism with the secrets of users. */
const holders = [
  'unknown user',
  'wrong secret',
  'user with two secrets',
  'one of two has expired',
  'user without a secret',
  'disabled user',
];

/** The cases of a mechanism with the secrets and keys of users. */
const keyHolders = [...holders, 'wrong signature of a key', 'key of another algorithm'];

/**
 * The cases of each mechanism, with the unknown user first, and their number per round: a password takes milliseconds.
 */
const mechanisms: readonly {
  readonly name: string;
  readonly count: number;
  readonly cases: readonly string[];
}[] = [
  { name: 'HMAC', count: 2500, cases: holders },
  { name: 'Declared HMAC', count: 2500, cases: holders },
  { name: 'API key', count: 2500, cases: holders },
  { name: 'AWS Signature Version 4', count: 1200, cases: keyHolders },
  { name: 'Message signatures, HMAC', count: 1200, cases: keyHolders },
  {
    name: 'Message signatures, Ed25519',
    count: 600,
    cases: ['unknown key', 'wrong signature', 'key of another algorithm', 'user with a secret'],
  },
  {
    name: 'Basic',
    count: 120,
    cases: [
      'unknown user',
      'wrong password',
      'wrong, the right remembered',
      'wrong, kept in plain text',
      'user without a password',
      'disabled user',
    ],
  },
  {
    name: 'OAuth 1.0a, HMAC-SHA1',
    count: 1200,
    cases: [
      'unknown consumer',
      'wrong secret',
      'wrong, the right is short',
      'wrong, the right is long',
      'consumer without a secret',
    ],
  },
  {
    name: 'OAuth 1.0a, RSA-SHA1',
    count: 1000,
    cases: ['unknown consumer', 'wrong key', 'consumer without a key'],
  },
];

export const benchmark: Benchmark = {
  title: 'Timing of rejected credentials',
  about:
    'Rejected credentials, in an order that is shuffled each time: the time of a rejection must not reveal whether a user exists. A round is thousands of refusals of each case, hundreds of passwords; the median of each case must be within 2 % of that of somebody unknown. Hashes have the cost that `countersign user add` gives them.',
  figures: [
    { key: 'time', label: 'time of a refusal', unit: 'ns' },
    { key: 'p5', label: 'p5', unit: 'ns' },
    { key: 'p95', label: 'p95', unit: 'ns' },
  ],
  requirements: mechanisms.flatMap(({ name, cases: [unknown = '', ...others] }) =>
    others.map(
      (contestant): Requirement => ({
        group: name,
        contestant,
        figure: 'time',
        beside: unknown,
        atLeast: 0.98,
        atMost: 1.02,
      }),
    ),
  ),
  async open(stage) {
    const part = await startPart(stage, 'refusals/part.ts', []);
    if (typeof part === 'string') return part;
    return mechanisms.map(({ name, count, cases }) => {
      const times = stage.full ? count * 10 : count;
      const shared = sharedRound(({ warmUp }) =>
        part.ask(name, String(warmUp ? Math.ceil(times / 5) : times)),
      );
      const contestants = cases.map(
        (contestant): Contestant => ({
          name: contestant,
          ours: true,
          async measure(round) {
            const sample = await shared(contestant, round);
            const figures = ['time', 'p5', 'p95'].map((key) => [
              key,
              sample[`${contestant}: ${key}`] ?? Number.NaN,
            ]);
            return Object.fromEntries(figures);
          },
        }),
      );
      return { name, contestants };
    });
  },
};
