/** Measures GET of an article over TLS: without credentials, with Basic, OAuth 1.0a and a bearer token. */
import type { Benchmark } from '../measure/benchmark.ts';
import { Loader, loadFigures } from './client/load.ts';
import { makePair } from './client/pair.ts';
import { basicHeader, plain, signedByOAuth1, user } from './client/requests.ts';
import { bearerToken, client, consumer, oauth1Keys } from './client/tokens.ts';
import { underLoad } from './server/contestants.ts';
import { startBare, startOurs, target } from './server/countersign.ts';

export const benchmark: Benchmark = {
  title: 'GET over TLS, by each mechanism that needs it',
  about:
    'Basic, OAuth 1.0a (HMAC-SHA256, a nonce of its own for each request) and OAuth 2.0 bearer tokens are taken over TLS only. Bare node:https replies with the same bytes. Connections are kept, so no handshake is in the figures; the load is our own client.',
  figures: loadFigures,
  async open(stage) {
    const loader = await Loader.start(stage);
    const config = {
      clients: {
        [client.id]: {
          secret: client.secret,
          grants: ['client_credentials'],
          scopes: ['read'],
          users: [user],
        },
      },
      consumers: { [consumer.key]: { secret: consumer.secret, callbacks: ['oob'], scopes: ['read'] } },
    };
    const server = await startOurs(stage, 'tls', { secure: true, config });
    const origin = `https://127.0.0.1:${server.port}`;
    const requests = plain('GET', target, 200);
    const yardstick = await startBare(stage, server, requests, { tls: makePair() });
    const by = (value: string) => plain('GET', target, 200, [`Authorization: ${value}`]);
    const oauth1 = signedByOAuth1(origin, target, await oauth1Keys(origin));
    const bearer = by(`Bearer ${await bearerToken(origin)}`);
    const secure = { secure: true };
    // The contestants share one server, which is warm when each of them has warmed up.
    const ours = { ...secure, warmUp: 1000 };
    const contestants = [
      underLoad(loader, 'bare node:https, the same bytes', yardstick, requests, secure),
      underLoad(loader, 'countersign, nobody', server, requests, ours),
      underLoad(loader, 'countersign, Basic', server, by(basicHeader()), ours),
      underLoad(loader, 'countersign, bearer', server, bearer, ours),
      underLoad(loader, 'countersign, OAuth 1.0a', server, oauth1, ours),
    ];
    return [{ name: '', contestants }];
  },
};
