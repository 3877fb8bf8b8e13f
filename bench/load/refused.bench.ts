/** Measures rejected requests: wrong signatures, replayed nonces. */
import type { Benchmark } from '../measure/benchmark.ts';
import { Loader, loadFigures } from './client/load.ts';
import { replayed, signed, signedWrongly } from './client/requests.ts';
import { underLoad } from './server/contestants.ts';
import { sameBytes, startBare, startOurs, target } from './server/countersign.ts';

export const benchmark: Benchmark = {
  title: 'Refused signatures and replays',
  about:
    'Signed GETs that are rejected with 401 and a problem document: with a signature of another secret, and with a used nonce. Bare node:http sends the bytes of the response to a wrong signature. The number of failures is not limited.',
  figures: loadFigures,
  async open(stage) {
    const loader = await Loader.start(stage);
    const server = await startOurs(stage, 'refused');
    const wrong = signedWrongly(target);
    const yardstick = await startBare(stage, server, wrong);
    const contestants = [
      underLoad(loader, sameBytes, yardstick, wrong),
      underLoad(loader, 'countersign, wrong signature', server, wrong),
      underLoad(loader, 'countersign, replay', server, replayed(signed('GET', target, 200))),
    ];
    return [{ name: '', contestants }];
  },
};
