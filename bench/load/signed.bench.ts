/** Measures a signed GET of an article: the signature is verified and the nonce stored. */
import type { Benchmark } from '../measure/benchmark.ts';
import { Loader, loadFigures, startServer } from './client/load.ts';
import { plain, secret, signed, signedByHawk, signedSimply, user } from './client/requests.ts';
import { underLoad } from './server/contestants.ts';
import { byHand, sameBytes, startBare, startOurs, target } from './server/countersign.ts';

const full = 'countersign, full form';
/** The contestants without signatures. */
const unsigned = 'fastify, nothing signed';
const hawkKey = 'werxhqb98rpaxn39848xrunpaw3489ruxnpa98w4rxn';

export const benchmark: Benchmark = {
  title: 'Signed GET of an article',
  about:
    'Every request has its own nonce and signature, created before the load begins. The full form is a MAC over verb, target, date and nonce, and the nonce is stored; the simple form is a MAC over verb and target. Bare node:http receives the same requests and sends the same bytes, without reading them; verified by hand, it checks time, MAC and nonce of the full form and nothing else. For comparison, fastify finds the article without authentication. @hapi/hawk runs on fastify and keeps its nonces in a Set.',
  figures: loadFigures,
  shortRounds: 7,
  requirements: [
    { contestant: full, figure: 'cpu', beside: sameBytes, atMost: 1.25 },
    { contestant: full, figure: 'cpu', beside: unsigned, atMost: 1.05 },
  ],
  async open(stage) {
    const loader = await Loader.start(stage);
    const requests = signed('GET', target, 200);
    const server = await startOurs(stage, 'signed');
    const yardstick = await startBare(stage, server, requests);
    const handWritten = await startBare(stage, server, requests, { secret });
    const hawk = { id: user, key: hawkKey, algorithm: 'sha256', user };
    const contestants = [
      underLoad(loader, sameBytes, yardstick, requests),
      underLoad(loader, 'countersign, simple form', server, signedSimply(target)),
      underLoad(loader, full, server, requests),
      underLoad(loader, byHand, handWritten, requests),
      underLoad(loader, unsigned, await startServer(stage, 'fastify'), plain('GET', target, 200)),
      underLoad(
        loader,
        'hawk on fastify',
        await startServer(stage, 'fastify with hawk', JSON.stringify(hawk)),
        signedByHawk(target, user, hawkKey),
      ),
    ];
    return [{ name: '', contestants }];
  },
};
