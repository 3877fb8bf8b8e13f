/** Measures the complete authentication of a request for each scheme, in process. */
import type { Benchmark } from './measure/benchmark.ts';
import { sharedPart } from './measure/parts/part.ts';
import { timeFigures } from './measure/timing.ts';

const names = ['HMAC, full form', 'HMAC, simple form', 'Basic, remembered', 'Bearer', 'OAuth 1.0a'];

export const benchmark: Benchmark = {
  title: 'A check of credentials',
  about:
    'What it takes to know who is asking: the authenticator of the service, in process, given a good GET of each scheme with a nonce of its own where there is one. Nonces and tokens are in memory. Reading the request off a socket and answering it are not in it.',
  figures: [...timeFigures],
  open(stage) {
    const contestants = names.map((name) => {
      const shared = sharedPart(stage, { file: 'checks/part.ts', words: [name] });
      return shared({ name, ours: true }, []);
    });
    return [{ name: '', contestants }];
  },
};
