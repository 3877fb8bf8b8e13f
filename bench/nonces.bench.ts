/** Measures the storage of nonces. */
import type { Benchmark } from './measure/benchmark.ts';
import { freshPart } from './measure/parts/part.ts';
import { holders, randomReads } from './nonces/part.ts';

const ours = 'fingerprints in buckets';

export const benchmark: Benchmark = {
  title: 'Live nonces',
  about:
    'A million nonces of 16 characters, ten million in the long form, that come at an even rate over a window of ten minutes, in a fresh process: memory for each, a claim of a fresh one and of a replay, the longest claim while they become so many, the claim that drops what is too old, and the longest one while that is taken out. For comparison, a Set of strings, which removes nothing, and reads of random cache lines in an array of 16 bytes for each nonce, each of which depends on the one before.',
  figures: [
    { key: 'memory', label: 'memory for each', unit: 'bytes' },
    { key: 'fresh', label: 'fresh claim', unit: 'ns' },
    { key: 'replay', label: 'replay', unit: 'ns' },
    { key: 'growing', label: 'longest while growing', unit: 'ns' },
    { key: 'dropping', label: 'dropping a bucket', unit: 'ns' },
    { key: 'sweeping', label: 'longest while sweeping', unit: 'ns' },
  ],
  requirements: [{ contestant: ours, figure: 'growing', atMost: 1e7 }],
  open(stage) {
    const count = String(stage.full ? 10_000_000 : 1_000_000);
    const contestants = [...holders, randomReads].map((name) =>
      freshPart(
        stage,
        { file: 'nonces/part.ts', words: [name], node: ['--max-old-space-size=8192'] },
        { name, ours: name === ours },
        [count],
      ),
    );
    return [{ name: '', contestants }];
  },
};
