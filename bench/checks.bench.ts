/** Measures the complete authentication of a request for each scheme, in process. */
import type { Benchmark } from './measure/benchmark.ts';
import { sharedPart } from './measure/parts/part.ts';
import { timeFigures } from './measure/timing.ts';

const names = ['HMAC, full form', 'HMAC, simple form', 'Basic, remembered', 'Bearer', 'OAuth 1.0a'];

export const benchmark: Benchmark = {
  title: 'A check of credentials',
  about:
    'The authenticator of the service, in process, verifies valid GETs of each scheme, each with its own nonce if the scheme has one. Nonces and tokens are in memory. Reading the request from a socket and answering it are not included.',
  figures: [...timeFigures],
  open(stage) {
    const contestants = names.map((name) => {
      const shared = sharedPart(stage, { file: 'checks/part.ts', words: [name] });
      return shared({ name, ours: true }, []);
    });
    return [{ name: '', contestants }];
  },
};
