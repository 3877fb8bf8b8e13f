/** Measures the verification of declared signatures, beside the own scheme and the packages of the providers. */
import type { Benchmark } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { declaredPeers } from './declared-peers.ts';

export const benchmark: Benchmark = {
  title: 'A declared signature check',
  about:
    'The own scheme and a declared one with the same message; the presets of Stripe, Standard Webhooks and GitHub with content of 450 bytes, each beside the package of its provider.',
  figures: [...timeFigures],
  open(stage) {
    const contestants = Array.from(declaredPeers.keys(), (name) => {
      const shared = sharedPart(stage, { file: 'signature/part.ts', words: ['declared', name] });
      return shared({ name, ours: name.startsWith('declared') }, []);
    });
    return [{ name: '', yardstick: 'the own scheme, with a nonce', contestants }];
  },
};
