import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accessToken,
  approve,
  ask,
  askAccessToken,
  askRequestToken,
  type Credentials,
  consumers,
  given,
  openTestService,
  plain,
  question,
  requestToken,
  type Signing,
  sign,
  startSecond,
} from '../../support/oauth/consumer.ts';
import { records, refuses } from '../../support/oauth/oauth1-refusals.ts';
import type { Answer, Server } from '../../support/oauth/server.ts';

/** Returns a request token that a user has allowed, and its verifier. */
async function allowed(server: Server): Promise<{ token: Credentials; verifier: string }> {
  const token = await requestToken(server);
  return { token, verifier: await approve(server, token.token) };
}

/** Sends an access token request with a request token that a user has allowed. */
const exchange =
  (signing: Partial<Signing> | ((token: Credentials) => Partial<Signing>) = {}, verifier?: string) =>
  async (server: Server): Promise<Answer> => {
    const { token, verifier: right } = await allowed(server);
    const signed = typeof signing === 'function' ? signing(token) : signing;
    return askAccessToken(server, token, verifier ?? right, signed);
  };

refuses('the endpoint of access tokens refuses', true, [
  [
    'no verifier',
    exchange({ protocol: { oauth_verifier: undefined } }),
    '400 parameter_absent oauth_verifier',
  ],
  ['a wrong verifier', exchange({}, 'wrong'), '401 verifier_invalid'],
  [
    'a changed callback',
    exchange({ protocol: { oauth_callback: 'oob' } }),
    '400 parameter_rejected oauth_callback',
  ],
  ['no token', exchange({ token: undefined }), '400 parameter_absent oauth_token'],
  [
    'a token that no user has allowed',
    async (server) => askAccessToken(server, await requestToken(server), 'x'),
    '401 permission_unknown',
  ],
  ['an unknown token', exchange({ token: { token: 'unknown', secret: 'x' } }), '401 signature_invalid'],
  [
    'a wrong token secret',
    exchange(({ token }) => ({ token: { token, secret: 'x' } })),
    '401 signature_invalid',
  ],
  [
    'an access token',
    async (server) => askAccessToken(server, await accessToken(server), 'x'),
    '401 signature_invalid',
  ],
  ["another consumer's token", exchange({ key: 'rival' }), '401 token_rejected'],
  [
    'a token twice',
    async (server) => {
      const { token, verifier } = await allowed(server);
      await askAccessToken(server, token, verifier);
      return askAccessToken(server, token, verifier);
    },
    '401 token_used',
  ],
  [
    'a token that has expired',
    async (server) => {
      const { token, verifier } = await allowed(server);
      server.clock.advance(600_000);
      return askAccessToken(server, token, verifier);
    },
    '401 token_expired',
  ],
  [
    'a token whose user is gone',
    async (server) => {
      const { token, verifier } = await allowed(server);
      server.service.replaceUsers({});
      return askAccessToken(server, token, verifier);
    },
    '401 token_rejected',
  ],
  [
    'a consumer that was taken away',
    async (server) => {
      const { token, verifier } = await allowed(server);
      server.service.replaceConsumers({ rival: { secret: 'x' } });
      return askAccessToken(server, token, verifier);
    },
    '401 signature_invalid',
  ],
  ['plain HTTP', exchange({ sending: { secure: false } }), '403 tls-required'],
]);

const page =
  (target: string, sending = {}) =>
  (server: Server): Promise<Answer> =>
    server.ask('GET', target, { basic: 'ann:ann-password', ...sending });

refuses('the page on which a user allows something refuses', false, [
  ['nobody', (server) => server.ask('GET', '/oauth1/authorize?oauth_token=x'), '401 authentication-required'],
  [
    'a wrong password',
    page('/oauth1/authorize?oauth_token=x', { basic: 'ann:wrong' }),
    '401 credentials-refused',
  ],
  ['no token', page('/oauth1/authorize'), '400 page'],
  ['a token twice', page('/oauth1/authorize?oauth_token=x&oauth_token=x'), '400 page'],
  ['an unknown token', page('/oauth1/authorize?oauth_token=x'), '400 page'],
  [
    'a token that was allowed',
    async (server) => {
      const { token } = await requestToken(server);
      await approve(server, token);
      return page(`/oauth1/authorize?oauth_token=${token}`)(server);
    },
    '400 page',
  ],
  [
    'a token that has expired',
    async (server) => {
      const { token } = await requestToken(server);
      server.clock.advance(600_000);
      return page(`/oauth1/authorize?oauth_token=${token}`)(server);
    },
    '400 page',
  ],
  [
    'a token whose callback is registered no more',
    async (server) => {
      const { token } = await requestToken(server);
      server.service.replaceConsumers({
        printer: { secret: 'printer-secret-0123456789', callbacks: ['oob'] },
      });
      return page(`/oauth1/authorize?oauth_token=${token}`)(server);
    },
    '400 page',
  ],
  [
    "another user's ticket",
    async (server) => {
      const { token } = await requestToken(server);
      const shown = await question(server, token);
      const form = { consent_ticket: shown.member('consent_ticket'), decision: 'allow' };
      return server.ask('POST', '/oauth1/authorize', { basic: 'bob:bob-password', form });
    },
    '400 page',
  ],
  ['plain HTTP', page('/oauth1/authorize?oauth_token=x', { secure: false }), '403 tls-required'],
]);

/** Reads with an access token. */
const read =
  (
    signing: Partial<Signing> | ((token: Credentials) => Partial<Signing>) = {},
    before?: (server: Server) => void,
  ) =>
  async (server: Server): Promise<Answer> => {
    const token = await accessToken(server);
    before?.(server);
    return ask(server, {
      method: 'GET',
      target: records,
      token,
      ...(typeof signing === 'function' ? signing(token) : signing),
    });
  };

refuses('a resource refuses', false, [
  ['no token, of a consumer without users', read({ token: undefined }), '403 forbidden'],
  ['an empty token with a secret', read({ protocol: { oauth_token: '' } }), '401 signature_invalid'],
  ['an unknown token', read({ token: { token: 'unknown', secret: '' } }), '401 signature_invalid'],
  [
    'a request token',
    async (server) => ask(server, { method: 'GET', target: records, token: await requestToken(server) }),
    '401 signature_invalid',
  ],
  ['a wrong token secret', read(({ token }) => ({ token: { token, secret: 'x' } })), '401 signature_invalid'],
  ['an unknown consumer', read({ key: 'nobody' }), '401 signature_invalid'],
  ["another consumer's token", read({ key: 'rival' }), '401 token_rejected'],
  ['a token that has expired', read({}, ({ clock }) => clock.advance(86_400_000)), '401 token_expired'],
  ['a token whose user is gone', read({}, ({ service }) => service.replaceUsers({})), '401 token_rejected'],
  [
    'a token whose user is disabled',
    read({}, ({ service }) => service.replaceUsers({ ann: { secret: 'x', disabled: true } })),
    '401 token_rejected',
  ],
  ['a verifier', read({ protocol: { oauth_verifier: 'x' } }), '400 parameter_rejected oauth_verifier'],
  [
    'another method than was signed',
    async (server) => {
      const { sending } = sign(server, { method: 'GET', target: records, token: await accessToken(server) });
      return server.ask('HEAD', records, sending);
    },
    '401 signature_invalid',
  ],
  [
    'the path otherwise escaped than was signed',
    async (server) => {
      const { sending } = sign(server, { method: 'GET', target: records, token: await accessToken(server) });
      return server.ask('GET', '/users/%61nn/financialrecords', sending);
    },
    '401 signature_invalid',
  ],
  [
    'a lone parameter of the protocol in the query',
    (server) => server.ask('GET', `${records}?oauth%5Ftoken=x`),
    '400 parameter_absent oauth_consumer_key&oauth_signature_method&oauth_signature&oauth_timestamp&oauth_nonce',
  ],
  [
    'Basic beside parameters in the query',
    read({ place: 'query', sending: { basic: 'ann:ann-password' } }),
    '400 parameter_rejected',
  ],
  ["another user's resource", read({ target: '/users/bob/financialrecords' }), '403 forbidden'],
  ['plain HTTP, in the header', read({ sending: { secure: false } }), '403 tls-required'],
  ['plain HTTP, in the query', read({ place: 'query', sending: { secure: false } }), '403 tls-required'],
]);

refuses(
  'where some consumers may send their secret, a resource refuses',
  false,
  [
    [
      'a method that is not the consumer’s, signed right',
      read({ protocol: { oauth_signature_method: 'PLAINTEXT' } }),
      '400 signature_method_rejected',
    ],
    [
      'the same, signed wrong',
      read({ secret: 'x', protocol: { oauth_signature_method: 'PLAINTEXT' } }),
      '401 signature_invalid',
    ],
    [
      'a timestamp without a nonce',
      async (server) => {
        const protocol = { oauth_signature_method: 'PLAINTEXT', oauth_nonce: undefined };
        return ask(server, {
          method: 'GET',
          target: records,
          key: 'plain',
          token: { token: 'x', secret: 'x' },
          protocol,
        });
      },
      '400 parameter_absent oauth_nonce',
    ],
  ],
  () => openTestService({ consumers: { ...consumers, ...plain } }),
);

test('a refused timestamp is reported with the range of acceptable ones', async () => {
  const server = openTestService();
  const refused = await askRequestToken(server, { protocol: { oauth_timestamp: '1' } });
  assert.equal(given(refused, 'oauth_acceptable_timestamps'), `${startSecond - 300}-${startSecond + 300}`);
  for (const edge of [-300, 300]) {
    const taken = await askRequestToken(server, {
      protocol: { oauth_timestamp: String(startSecond + edge) },
    });
    assert.equal(taken.status, 200);
  }
});

test('timestamps from before the start of the server are refused', async () => {
  const server = openTestService({ notBefore: startSecond * 1000 });
  const at = (offset: number): Promise<Answer> =>
    askRequestToken(server, { protocol: { oauth_timestamp: String(startSecond + offset) } });
  assert.equal(given(await at(-1), 'oauth_problem'), 'timestamp_refused');
  assert.equal((await at(0)).status, 200);
});

test('a refused version is reported with the acceptable one', async () => {
  const refused = await askRequestToken(openTestService(), { protocol: { oauth_version: '1.1' } });
  assert.equal(given(refused, 'oauth_acceptable_versions'), '1.0-1.0');
});

test('a nonce is remembered for the configured window of its timestamp', async () => {
  const server = openTestService({ window: 10, lifetimes: { oauth1Window: '1h' } });
  const protocol = { oauth_nonce: 'n', oauth_timestamp: String(startSecond + 3600) };
  assert.equal((await askRequestToken(server, { protocol })).status, 200);
  for (let passed = 0; passed < 7200; passed += 600) {
    assert.equal(given(await askRequestToken(server, { protocol }), 'oauth_problem'), 'nonce_used');
    server.clock.advance(600_000);
  }
  server.clock.advance(1000);
  assert.equal(given(await askRequestToken(server, { protocol }), 'oauth_problem'), 'timestamp_refused');
});

test('a request that is refused before its nonce is checked claims no nonce', async () => {
  const server = openTestService();
  const protocol = { oauth_nonce: 'n' };
  assert.equal((await askRequestToken(server, { protocol, secret: 'wrong' })).status, 401);
  assert.equal((await askRequestToken(server, { protocol })).status, 200);
});

test('too many wrong signatures result in 429, with failures at endpoints and resources counted together', async () => {
  const server = openTestService({ maxAuthFailures: 3 });
  const wrong = { secret: 'wrong' };
  assert.equal((await askRequestToken(server, wrong)).status, 401);
  assert.equal(
    (await ask(server, { method: 'GET', target: records, token: { token: 'x', secret: 'x' } })).status,
    401,
  );
  assert.equal((await askRequestToken(server, wrong)).status, 401);
  assert.equal((await askRequestToken(server)).status, 429);
  const elsewhere = { peer: '192.0.2.1' };
  assert.equal((await askRequestToken(server, { ...wrong, sending: elsewhere })).status, 429);
  assert.equal(
    (await askRequestToken(server, { sending: elsewhere })).status,
    200,
    'the right one still passes',
  );
});
