import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  accessToken,
  answer,
  approve,
  ask,
  askAccessToken,
  askRequestToken,
  type Credentials,
  callback,
  consumers,
  given,
  openHouse,
  plain,
  question,
  requestToken,
  type Signing,
  sign,
  startSecond,
} from './consumer.ts';
import type { Answer, Server } from './server.ts';

/**
 * A bad request: what is wrong with it, how it is sent, and its outcome: the status, the problem, and the parameters that the
 * problem is about.
 */
type Case = readonly [wrong: string, send: (server: Server) => Promise<Answer>, outcome: string];

const records = '/users/ann/financialrecords';

/** What the challenge of OAuth 1.0a reports, by name and decoded. */
function reported(answer: Answer): Map<string, string> {
  const challenge = /(?:^|, )(OAuth .*)$/.exec(answer.field('WWW-Authenticate'))?.[1] ?? '';
  const pairs = [...challenge.matchAll(/(oauth_[a-z_]+)="([^"]*)"/g)];
  return new Map(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]));
}

function outcomeOf(answer: Answer): string {
  const report = reported(answer);
  const names = report.get('oauth_parameters_absent') ?? report.get('oauth_parameters_rejected');
  const problem = report.get('oauth_problem') ?? /\/problems\/([a-z0-9-]+)/.exec(answer.text)?.[1] ?? 'page';
  return [answer.status, problem, names].filter((part) => part !== undefined).join(' ');
}

/** What comes with every refusal in words of OAuth 1.0a, whatever was wrong. */
function checkForm(answer: Answer, atEndpoint: boolean): void {
  const report = reported(answer);
  const problem = report.get('oauth_problem');
  if (problem === undefined) return;
  assert.match(answer.field('WWW-Authenticate'), /OAuth realm="Countersign", oauth_problem="[a-z_]+"/);
  if (atEndpoint) {
    assert.equal(answer.field('Content-Type'), 'application/x-www-form-urlencoded');
    assert.deepEqual(new Map(new URLSearchParams(answer.text)), report, 'body and field report the same');
  } else assert.match(answer.text, /\/problems\/(oauth1-[a-z-]+|insufficient-scope|several-credentials)/);
  const fixed = answer.status === 400 && !atEndpoint;
  if (!fixed) assert.equal(answer.field('Cache-Control'), 'no-store');
}

function refuses(what: string, atEndpoint: boolean, cases: readonly Case[], open = openHouse): void {
  describe(what, () => {
    for (const [wrong, send, outcome] of cases) {
      test(`${wrong}: ${outcome}`, async () => {
        const answer = await send(open());
        assert.equal(outcomeOf(answer), outcome);
        checkForm(answer, atEndpoint);
      });
    }
  });
}

const initiate =
  (signing: Partial<Signing> = {}) =>
  (server: Server): Promise<Answer> =>
    askRequestToken(server, signing);

/** Sends a request token request whose Authorization is edited after it was signed. */
const edited =
  (edit: (field: string) => string, target = '/oauth1/request_token') =>
  async (server: Server): Promise<Answer> => {
    const token = target === records ? await accessToken(server) : undefined;
    const method = target === records ? 'GET' : 'POST';
    const protocol: Record<string, string> = target === records ? {} : { oauth_callback: callback };
    const { sending } = sign(server, { target, method, token, protocol });
    const fields = (sending.fields ?? []).map(([name, value]) => [name, edit(value)] as const);
    return server.ask(method, target, { ...sending, fields });
  };

const basic = `Basic ${Buffer.from('ann:ann-password').toString('base64')}`;

refuses('the endpoint of request tokens refuses', true, [
  [
    'nothing at all',
    (server) => server.ask('POST', '/oauth1/request_token'),
    '400 parameter_absent oauth_consumer_key&oauth_signature_method&oauth_signature&oauth_timestamp&oauth_nonce&oauth_callback',
  ],
  [
    'no callback',
    initiate({ protocol: { oauth_callback: undefined } }),
    '400 parameter_absent oauth_callback',
  ],
  [
    'an empty callback',
    initiate({ protocol: { oauth_callback: '' } }),
    '400 parameter_absent oauth_callback',
  ],
  [
    'a callback that is not registered',
    initiate({ protocol: { oauth_callback: 'https://evil.example/' } }),
    '400 parameter_rejected oauth_callback',
  ],
  [
    'a callback with more behind it',
    initiate({ protocol: { oauth_callback: `${callback}&x` } }),
    '400 parameter_rejected oauth_callback',
  ],
  [
    'a callback in other letters',
    initiate({ protocol: { oauth_callback: callback.replace('printer', 'PRINTER') } }),
    '400 parameter_rejected oauth_callback',
  ],
  [
    'oob by who is not registered for it',
    (server) => {
      server.service.replaceConsumers({
        printer: { secret: 'printer-secret-0123456789', callbacks: [callback] },
      });
      return askRequestToken(server, { protocol: { oauth_callback: 'oob' } });
    },
    '400 parameter_rejected oauth_callback',
  ],
  [
    'oob in capitals',
    initiate({ protocol: { oauth_callback: 'OOB' } }),
    '400 parameter_rejected oauth_callback',
  ],
  [
    'a callback changed after it was signed',
    initiate({ tampered: { oauth_callback: 'oob' } }),
    '401 signature_invalid',
  ],
  [
    'no consumer',
    initiate({ protocol: { oauth_consumer_key: undefined } }),
    '400 parameter_absent oauth_consumer_key',
  ],
  [
    'an empty consumer',
    initiate({ protocol: { oauth_consumer_key: '' } }),
    '400 parameter_absent oauth_consumer_key',
  ],
  ['an unknown consumer', initiate({ key: 'nobody' }), '401 signature_invalid'],
  ['__proto__ as consumer', initiate({ key: '__proto__' }), '401 signature_invalid'],
  ['a wrong secret', initiate({ secret: 'wrong' }), '401 signature_invalid'],
  ["another consumer's secret", initiate({ secret: 'rival-secret-0123456789' }), '401 signature_invalid'],
  [
    'no signature',
    initiate({ tampered: { oauth_signature: undefined } }),
    '400 parameter_absent oauth_signature',
  ],
  [
    'an empty signature',
    initiate({ tampered: { oauth_signature: '' } }),
    '400 parameter_absent oauth_signature',
  ],
  [
    'a signature that is no base64',
    initiate({ tampered: { oauth_signature: '???' } }),
    '401 signature_invalid',
  ],
  [
    'another signature',
    initiate({ tampered: { oauth_signature: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' } }),
    '401 signature_invalid',
  ],
  [
    'no method',
    initiate({ protocol: { oauth_signature_method: undefined } }),
    '400 parameter_absent oauth_signature_method',
  ],
  [
    'an unknown method',
    initiate({ protocol: { oauth_signature_method: 'HMAC-MD5' } }),
    '400 signature_method_rejected',
  ],
  [
    'a method in small letters',
    initiate({ protocol: { oauth_signature_method: 'hmac-sha1' } }),
    '400 signature_method_rejected',
  ],
  [
    'PLAINTEXT where nobody has it',
    initiate({ protocol: { oauth_signature_method: 'PLAINTEXT' } }),
    '400 signature_method_rejected',
  ],
  [
    'RSA-SHA1 where nobody has it',
    initiate({ protocol: { oauth_signature_method: 'RSA-SHA1' } }),
    '400 signature_method_rejected',
  ],
  [
    'another method than it was signed by',
    initiate({ tampered: { oauth_signature_method: 'HMAC-SHA256' } }),
    '401 signature_invalid',
  ],
  ['version 2.0', initiate({ protocol: { oauth_version: '2.0' } }), '400 version_rejected'],
  ['version 1.0a', initiate({ protocol: { oauth_version: '1.0a' } }), '400 version_rejected'],
  ['an empty version', initiate({ protocol: { oauth_version: '' } }), '400 version_rejected'],
  [
    'no timestamp',
    initiate({ protocol: { oauth_timestamp: undefined } }),
    '400 parameter_absent oauth_timestamp',
  ],
  [
    'a timestamp that is no number',
    initiate({ protocol: { oauth_timestamp: 'now' } }),
    '400 parameter_rejected oauth_timestamp',
  ],
  [
    'a timestamp with a fraction',
    initiate({ protocol: { oauth_timestamp: `${startSecond}.5` } }),
    '400 parameter_rejected oauth_timestamp',
  ],
  [
    'a timestamp of zero',
    initiate({ protocol: { oauth_timestamp: '0' } }),
    '400 parameter_rejected oauth_timestamp',
  ],
  [
    'a negative timestamp',
    initiate({ protocol: { oauth_timestamp: `-${startSecond}` } }),
    '400 parameter_rejected oauth_timestamp',
  ],
  [
    'a timestamp with a zero before it',
    initiate({ protocol: { oauth_timestamp: `0${startSecond}` } }),
    '400 parameter_rejected oauth_timestamp',
  ],
  [
    'a timestamp in milliseconds',
    initiate({ protocol: { oauth_timestamp: `${startSecond}000` } }),
    '400 parameter_rejected oauth_timestamp',
  ],
  [
    'a timestamp 301 s behind',
    initiate({ protocol: { oauth_timestamp: String(startSecond - 301) } }),
    '401 timestamp_refused',
  ],
  [
    'a timestamp 301 s ahead',
    initiate({ protocol: { oauth_timestamp: String(startSecond + 301) } }),
    '401 timestamp_refused',
  ],
  ['no nonce', initiate({ protocol: { oauth_nonce: undefined } }), '400 parameter_absent oauth_nonce'],
  ['an empty nonce', initiate({ protocol: { oauth_nonce: '' } }), '400 parameter_absent oauth_nonce'],
  [
    'a nonce twice',
    async (server) => {
      await askRequestToken(server, { protocol: { oauth_nonce: 'once' } });
      return askRequestToken(server, { protocol: { oauth_nonce: 'once' } });
    },
    '401 nonce_used',
  ],
  ['a token', initiate({ protocol: { oauth_token: 'x' } }), '400 parameter_rejected oauth_token'],
  ['a verifier', initiate({ protocol: { oauth_verifier: 'x' } }), '400 parameter_rejected oauth_verifier'],
  [
    'an unknown parameter of the protocol',
    initiate({ protocol: { oauth_unknown: 'x' } }),
    '400 parameter_rejected oauth_unknown',
  ],
  [
    'a parameter with an odd name',
    initiate({ protocol: { 'oauth_ü"': 'x' } }),
    '400 parameter_rejected oauth_%C3%BC%22',
  ],
  [
    'a parameter twice in the header',
    edited((field) => `${field}, oauth_nonce="again"`),
    '400 parameter_rejected oauth_nonce',
  ],
  [
    'the signature in two places',
    (server) => askRequestToken(server, { target: '/oauth1/request_token?oauth_signature=x' }),
    '400 parameter_rejected oauth_signature',
  ],
  [
    'the callback in the query, the rest in the header',
    (server) =>
      askRequestToken(server, {
        target: `/oauth1/request_token?oauth_callback=oob`,
        protocol: { oauth_callback: undefined },
      }),
    '400 parameter_rejected oauth_callback',
  ],
  [
    'a parameter in the form, the rest in the header',
    initiate({ form: { oauth_extra: '1' } }),
    '400 parameter_rejected oauth_extra',
  ],
  [
    'parameters in query and form',
    async (server) => {
      const { target, sending } = sign(server, {
        target: '/oauth1/request_token',
        place: 'query',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', target, { ...sending, form: 'oauth_nonce=x' });
    },
    '400 parameter_rejected oauth_nonce',
  ],
  [
    'a parameter twice in the form',
    async (server) => {
      const { target, sending } = sign(server, {
        target: '/oauth1/request_token',
        place: 'form',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', target, { ...sending, form: `${sending.form}&oauth_nonce=x` });
    },
    '400 parameter_rejected oauth_nonce',
  ],
  ['a form with a broken escape', initiate({ sending: { form: 'a=%2' } }), '400 parameter_rejected'],
  [
    'a form that is packed',
    initiate({ sending: { form: 'a=1', fields: [['Content-Encoding', 'gzip']] } }),
    '415 unsupported-content-coding',
  ],
  [
    'a value that is no UTF-8',
    edited((field) => field.replace(/oauth_nonce="[^"]*"/, 'oauth_nonce="%FF"')),
    '400 parameter_rejected oauth_nonce',
  ],
  [
    'a header with another separator',
    edited((field) => field.replaceAll(', ', '; ')),
    '400 parameter_rejected',
  ],
  ['a header without quotes', edited((field) => field.replaceAll('"', '')), '400 parameter_rejected'],
  [
    'a header with a broken escape',
    edited((field) => field.replace('oauth_nonce="', 'oauth_nonce="%2')),
    '400 parameter_rejected',
  ],
  [
    'a header with a value that is not encoded',
    edited((field) => field.replace('%3A', ':')),
    '400 parameter_rejected',
  ],
  ['a header with two realms', edited((field) => `${field}, realm="there"`), '400 parameter_rejected'],
  [
    'a header with nothing behind the scheme',
    edited(() => 'OAuth'),
    '400 parameter_absent oauth_consumer_key&oauth_signature_method&oauth_signature&oauth_timestamp&oauth_nonce&oauth_callback',
  ],
  ['credentials of a user', edited(() => basic), '400 parameter_rejected'],
  [
    'two Authorization fields',
    initiate({ sending: { fields: [['Authorization', basic]] } }),
    '400 parameter_rejected',
  ],
  [
    'a scope that the consumer may not have',
    initiate({ key: 'reader', form: { scope: 'read write' }, protocol: { oauth_callback: 'oob' } }),
    '400 parameter_rejected scope',
  ],
  ['an unknown scope', initiate({ form: { scope: 'admin' } }), '400 parameter_rejected scope'],
  [
    'two scopes',
    initiate({ target: '/oauth1/request_token?scope=read&scope=write' }),
    '400 parameter_rejected scope',
  ],
  [
    'a hash of a form',
    initiate({
      form: { a: '1' },
      protocol: { oauth_body_hash: createHash('sha1').update('a=1').digest('base64') },
    }),
    '400 parameter_rejected oauth_body_hash',
  ],
  [
    'a wrong hash of no content',
    initiate({ protocol: { oauth_body_hash: 'x' } }),
    '400 parameter_rejected oauth_body_hash',
  ],
  [
    'a query that was not signed',
    async (server) => {
      const { sending } = sign(server, {
        target: '/oauth1/request_token',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', '/oauth1/request_token?scope=read', sending);
    },
    '401 signature_invalid',
  ],
  [
    'a signature for another path',
    async (server) => {
      const { sending } = sign(server, {
        target: '/oauth1/access_token',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', '/oauth1/request_token', sending);
    },
    '401 signature_invalid',
  ],
  ['a signature for plain HTTP', initiate({ origin: 'http://localhost' }), '401 signature_invalid'],
  ['GET', (server) => server.ask('GET', '/oauth1/request_token'), '405 method-not-allowed'],
  ['plain HTTP', initiate({ sending: { secure: false } }), '403 tls-required'],
]);

/** Sends an access token request with a request token that a user has allowed. */
const exchange =
  (signing: Partial<Signing> | ((token: Credentials) => Partial<Signing>) = {}, verifier?: string) =>
  async (server: Server): Promise<Answer> => {
    const token = await requestToken(server);
    const right = await approve(server, token.token);
    return askAccessToken(
      server,
      token,
      verifier ?? right,
      typeof signing === 'function' ? signing(token) : signing,
    );
  };

refuses('the endpoint of access tokens refuses', true, [
  [
    'no verifier',
    exchange({ protocol: { oauth_verifier: undefined } }),
    '400 parameter_absent oauth_verifier',
  ],
  ['an empty verifier', exchange({}, ''), '400 parameter_absent oauth_verifier'],
  ['a wrong verifier', exchange({}, 'wrong'), '401 verifier_invalid'],
  [
    'a changed callback',
    exchange({ protocol: { oauth_callback: 'oob' } }),
    '400 parameter_rejected oauth_callback',
  ],
  ['no token', exchange({ token: undefined }), '400 parameter_absent oauth_token'],
  [
    'a token that nobody has allowed',
    async (server) => askAccessToken(server, await requestToken(server), 'x'),
    '401 permission_unknown',
  ],
  ['an unknown token', exchange({ token: { token: 'unknown', secret: 'x' } }), '401 signature_invalid'],
  [
    'a wrong token secret',
    exchange(({ token }) => ({ token: { token, secret: 'x' } })),
    '401 signature_invalid',
  ],
  ['no token secret', exchange(({ token }) => ({ token: { token, secret: '' } })), '401 signature_invalid'],
  [
    'an access token',
    async (server) => askAccessToken(server, await accessToken(server), 'x'),
    '401 signature_invalid',
  ],
  ["another consumer's token", exchange({ key: 'rival' }), '401 token_rejected'],
  [
    'a token twice',
    async (server) => {
      const token = await requestToken(server);
      const verifier = await approve(server, token.token);
      await askAccessToken(server, token, verifier);
      return askAccessToken(server, token, verifier);
    },
    '401 token_used',
  ],
  [
    'a token that has expired',
    async (server) => {
      const token = await requestToken(server);
      const verifier = await approve(server, token.token);
      server.clock.advance(600_000);
      return askAccessToken(server, token, verifier);
    },
    '401 token_expired',
  ],
  [
    'a token whose user is gone',
    async (server) => {
      const token = await requestToken(server);
      const verifier = await approve(server, token.token);
      server.service.replaceUsers({});
      return askAccessToken(server, token, verifier);
    },
    '401 token_rejected',
  ],
  [
    'a consumer that was taken away',
    async (server) => {
      const token = await requestToken(server);
      const verifier = await approve(server, token.token);
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
    'a ticket twice',
    async (server) => {
      const { token } = await requestToken(server);
      const shown = await question(server, token);
      await answer(server, shown);
      const form = { consent_ticket: shown.member('consent_ticket'), decision: 'allow' };
      return server.ask('POST', '/oauth1/authorize', { basic: 'ann:ann-password', form });
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
  ['no token', read({ token: undefined }), '400 parameter_absent oauth_token'],
  ['an empty token', read({ protocol: { oauth_token: '' } }), '400 parameter_absent oauth_token'],
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
  ['version 2.0', read({ protocol: { oauth_version: '2.0' } }), '400 version_rejected'],
  [
    'an unknown method',
    read({ protocol: { oauth_signature_method: 'HMAC-SHA512' } }),
    '400 signature_method_rejected',
  ],
  [
    'a timestamp 301 s behind',
    read({ protocol: { oauth_timestamp: String(startSecond - 301) } }),
    '401 timestamp_refused',
  ],
  [
    'a nonce twice',
    async (server) => {
      const token = await accessToken(server);
      const signing = { method: 'GET', target: records, token, protocol: { oauth_nonce: 'once' } };
      await ask(server, signing);
      return ask(server, signing);
    },
    '401 nonce_used',
  ],
  [
    'another method than was signed',
    async (server) => {
      const { sending } = sign(server, { method: 'GET', target: records, token: await accessToken(server) });
      return server.ask('HEAD', records, sending);
    },
    '401 signature_invalid',
  ],
  [
    'another query than was signed',
    async (server) => {
      const { sending } = sign(server, {
        method: 'GET',
        target: `${records}?limit=1`,
        token: await accessToken(server),
      });
      return server.ask('GET', `${records}?limit=2`, sending);
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
    'parameters in header and query',
    read({ target: `${records}?oauth_nonce=x` }),
    '400 parameter_rejected oauth_nonce',
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
  ['two Authorization fields', read({ sending: { basic: 'ann:ann-password' } }), '400 parameter_rejected'],
  [
    'a header without commas',
    edited((field) => field.replaceAll(',', ''), records),
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
      async (server) => {
        const token = await accessToken(server);
        return ask(server, {
          method: 'GET',
          target: records,
          token,
          protocol: { oauth_signature_method: 'PLAINTEXT' },
        });
      },
      '400 signature_method_rejected',
    ],
    [
      'the same, signed wrong',
      async (server) => {
        const token = await accessToken(server);
        return ask(server, {
          method: 'GET',
          target: records,
          token,
          secret: 'x',
          protocol: { oauth_signature_method: 'PLAINTEXT' },
        });
      },
      '401 signature_invalid',
    ],
    [
      'the same by an unknown consumer',
      async (server) => {
        const token = await accessToken(server);
        return ask(server, {
          method: 'GET',
          target: records,
          token,
          key: 'nobody',
          protocol: { oauth_signature_method: 'PLAINTEXT' },
        });
      },
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
  () => openHouse({ consumers: { ...consumers, ...plain } }),
);

test('an unknown consumer and a wrong secret are answered with the same bytes', async () => {
  const server = openHouse();
  const token = await accessToken(server);
  const protocol = { oauth_nonce: 'n' };
  const signing = { method: 'GET', target: records, token, protocol };
  const unknown = await ask(server, { ...signing, key: 'nobody' });
  const wrong = await ask(server, { ...signing, secret: 'wrong' });
  assert.equal(wrong.text, unknown.text);
  assert.equal(wrong.field('WWW-Authenticate'), unknown.field('WWW-Authenticate'));
  const atEndpoint = [{ key: 'nobody' }, { secret: 'wrong' }].map((one) => askRequestToken(server, one));
  const [first, second] = await Promise.all(atEndpoint);
  assert.equal(first?.text, second?.text);
  assert.equal(first?.field('WWW-Authenticate'), second?.field('WWW-Authenticate'));
});

test('a refused timestamp comes with those that are taken', async () => {
  const server = openHouse();
  const refused = await askRequestToken(server, { protocol: { oauth_timestamp: '1' } });
  assert.equal(given(refused, 'oauth_acceptable_timestamps'), `${startSecond - 300}-${startSecond + 300}`);
  for (const edge of [-300, 300]) {
    const taken = await askRequestToken(server, {
      protocol: { oauth_timestamp: String(startSecond + edge) },
    });
    assert.equal(taken.status, 200);
  }
});

test('timestamps from before the server began are refused', async () => {
  const server = openHouse({ notBefore: startSecond * 1000 });
  const at = (offset: number): Promise<Answer> =>
    askRequestToken(server, { protocol: { oauth_timestamp: String(startSecond + offset) } });
  assert.equal(given(await at(-1), 'oauth_problem'), 'timestamp_refused');
  assert.equal((await at(0)).status, 200);
});

test('a refused version comes with the one that is taken', async () => {
  const refused = await askRequestToken(openHouse(), { protocol: { oauth_version: '1.1' } });
  assert.equal(given(refused, 'oauth_acceptable_versions'), '1.0-1.0');
});

test('a nonce is remembered as long as its timestamp is good, by the window that is set', async () => {
  const server = openHouse({ window: 10, lifetimes: { oauth1Window: 3_600_000 } });
  const protocol = { oauth_nonce: 'n', oauth_timestamp: String(startSecond + 3600) };
  assert.equal((await askRequestToken(server, { protocol })).status, 200);
  for (let passed = 0; passed < 7200; passed += 600) {
    assert.equal(given(await askRequestToken(server, { protocol }), 'oauth_problem'), 'nonce_used');
    server.clock.advance(600_000);
  }
  server.clock.advance(1000);
  assert.equal(given(await askRequestToken(server, { protocol }), 'oauth_problem'), 'timestamp_refused');
});

test('nothing is claimed by a request that is refused before its nonce is looked at', async () => {
  const server = openHouse();
  const protocol = { oauth_nonce: 'n' };
  assert.equal((await askRequestToken(server, { protocol, secret: 'wrong' })).status, 401);
  assert.equal((await askRequestToken(server, { protocol })).status, 200);
});

test('where no more nonces can be remembered, the answer is to come again', async () => {
  const server = openHouse({ maxNonces: 1 });
  assert.equal((await askRequestToken(server)).status, 200);
  const refused = await askRequestToken(server);
  assert.equal(refused.status, 503);
  assert.equal(refused.field('Retry-After'), '300');
});

test('whoever signs wrongly too often is told no more, at endpoints and resources alike', async () => {
  const server = openHouse({ maxAuthFailures: 3 });
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
