import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ServiceOptions } from '../../src/index.ts';
import { article } from '../support/service/open-service.ts';
import { formatOutcome, formatRequest, password, secrets, signed } from '../support/service/test-server.ts';
import {
  type BothWays,
  basic,
  connected,
  countHashes,
  each,
  hashed,
  listValues,
  openBothWays,
  outcomeFrom,
  replyTo,
  type Way,
} from './passwords.ts';

const blocked = '429 too-many-failures';
const refused = '401 credentials-refused';
const skip = process.platform === 'linux' ? false : 'the loopback has one address here';

const secure: Way = { secure: true };
const elsewhere: Way = { secure: true, from: '127.0.0.2' };

async function opened(context: TestContext, limit: number, options: ServiceOptions = {}): Promise<BothWays> {
  const server = await openBothWays({ maxAuthFailures: limit, ...options });
  context.after(() => server.close());
  return server;
}

const guessed = (server: BothWays, user = 'ann'): string =>
  signed({ nonce: server.freshNonce(), user, secret: 'a guess' });
const guessedPassword = (user = 'ann'): string => formatRequest({ lines: [basic(`${user}:a guess`)] });
const rightPassword = formatRequest({ lines: [basic(`ann:${password}`)] });

test('wrong signatures and passwords are counted together, over HTTP and HTTPS', async (context) => {
  const server = await opened(context, 4);
  const outcomes = [
    await outcomeFrom(server, guessed(server, 'a')),
    await outcomeFrom(server, guessedPassword('b'), secure),
    await outcomeFrom(server, guessed(server, 'c'), secure),
    await outcomeFrom(server, guessedPassword('d'), secure),
  ];
  assert.deepEqual(outcomes, [refused, refused, refused, refused]);
  assert.equal(await outcomeFrom(server, signed({ nonce: 'n' })), blocked);
  assert.equal(await outcomeFrom(server, rightPassword, secure), blocked);
});

test('failures of a user are counted for all schemes, and a correct signature from another peer is accepted', {
  skip,
}, async (context) => {
  const server = await opened(context, 2);
  assert.equal(await outcomeFrom(server, guessed(server)), refused);
  assert.equal(await outcomeFrom(server, guessedPassword(), secure), refused);
  assert.equal(await outcomeFrom(server, guessed(server), elsewhere), blocked);
  assert.equal(await outcomeFrom(server, guessedPassword(), elsewhere), blocked);
  const third: Way = { secure: true, from: '127.0.0.3' };
  assert.equal(await outcomeFrom(server, rightPassword, third), '200');
  assert.equal(await outcomeFrom(server, signed({ nonce: 'n' }), third), '200');
});

test('the response at the limit does not depend on whether the user exists', { skip }, async (context) => {
  const server = await opened(context, 2, { explain: true });
  const messages: string[] = [];
  for (const user of ['ann', 'bob', 'eve']) {
    const from = (host: number): Way => ({ secure: true, from: `127.0.1.${host}` });
    for (const host of [1, 2, 3]) {
      const reply = await replyTo(server, guessed(server, user), from(host + messages.length * 10));
      if (host === 3) messages.push(`${reply.status} ${JSON.stringify(reply.fields)} ${reply.text}`);
    }
  }
  assert.equal(new Set(messages).size, 1);
  assert.match(messages[0] ?? '', /^429 .*too-many-failures/);
  assert.doesNotMatch(messages[0] ?? '', /<message>|<check>/);
});

test('a response with 429 has no challenge and cannot be cached', async (context) => {
  const server = await opened(context, 1);
  await outcomeFrom(server, guessed(server));
  const reply = await replyTo(server, rightPassword, secure);
  assert.equal(formatOutcome(reply), blocked);
  assert.deepEqual(listValues(reply, 'WWW-Authenticate'), []);
  assert.match(reply.field('Retry-After') ?? '', /^([1-9]|[1-5][0-9]|60)$/);
  assert.match(reply.field('Vary') ?? '', /Authorization, Authentication/);
});

test('credentials of a blocked peer are not read: no hash, no nonce, no failure of the user', {
  skip,
}, async (context) => {
  const users = {
    ann: { secrets: [{ secret: secrets.ann }], password: hashed(password) },
    bob: { secret: secrets.bob },
  };
  const server = await opened(context, 2, { users });
  for (const user of ['x', 'y']) await outcomeFrom(server, guessed(server, user));
  const before = await server.state();
  const hashesSince = countHashes(context);
  const change = { verb: 'PUT', target: '/articles/1', content: article('Wrong') };
  for (const bytes of [
    signed({ nonce: 'free' }),
    signed({ nonce: 'free', ...change }),
    rightPassword,
    guessedPassword(),
    guessedPassword(),
    formatRequest({ ...change, lines: [basic(`ann:${password}`)] }),
    formatRequest({ lines: ['Authentication: hmac ann'] }),
    formatRequest({ lines: ['Authorization: Digest x'] }),
  ])
    assert.equal(await outcomeFrom(server, bytes, secure), blocked);
  assert.equal(hashesSince(), 0);
  assert.equal(await server.state(), before);
  assert.equal(await outcomeFrom(server, signed({ nonce: 'free' }), elsewhere), '200');
  // Were the two guesses of ann counted, this third one would be told nothing.
  assert.equal(await outcomeFrom(server, guessedPassword(), elsewhere), refused);
});

test('pipelined requests do not exceed the limit', async (context) => {
  const server = await opened(context, 5);
  const wire = await connected(server);
  const guesses = Array.from({ length: 40 }, () => guessed(server));
  await wire.send([...guesses, signed({ nonce: 'n' })].join(''));
  const outcomes: string[] = [];
  for (let each = 0; each <= guesses.length; each += 1) outcomes.push(formatOutcome(await wire.reply()));
  await wire.close();
  assert.deepEqual(
    outcomes.slice(0, 5),
    Array.from({ length: 5 }, () => refused),
  );
  assert.deepEqual(
    outcomes.slice(5),
    Array.from({ length: 36 }, () => blocked),
  );
});

test('an accepted request does not reset the number of failures', async (context) => {
  const server = await opened(context, 3);
  for (let round = 0; round < 3; round += 1) {
    assert.equal(
      await outcomeFrom(
        server,
        signed({ nonce: `n${round}`, user: 'bob', secret: secrets.bob, target: '/articles' }),
      ),
      '200',
    );
    assert.equal(await outcomeFrom(server, guessed(server)), refused);
  }
  assert.equal(await outcomeFrom(server, guessed(server)), blocked);
});

/** What is refused, or not, and whether it is a failed authentication where one is allowed. */
const counted: readonly (readonly [
  name: string,
  bytes: string,
  way: Way,
  outcome: string,
  counts: boolean,
])[] = [
  ['a wrong password', guessedPassword(), secure, refused, true],
  ['a password of an unknown user', guessedPassword('eve'), secure, refused, true],
  ['a wrong signature of an OPTIONS', signed({ verb: 'OPTIONS', secret: 'x' }), {}, refused, true],
  ['a wrong signature where all may read', signed({ target: '/articles', secret: 'x' }), {}, refused, true],
  ['a stale date', signed({ date: '28 feb 2024 12:00:00' }), {}, '401 date-out-of-window', true],
  [
    'a simple signature of a change',
    formatRequest({
      verb: 'DELETE',
      target: '/articles/1',
      lines: ['Authentication: hmac ann:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE='],
    }),
    {},
    '401 simple-form-refused',
    true,
  ],
  ['a password in the clear', rightPassword, {}, '403 tls-required', false],
  [
    'a password that is malformed',
    formatRequest({ lines: ['Authorization: Basic x'] }),
    secure,
    '400 malformed-credentials',
    true,
  ],
  [
    'two sets of credentials',
    formatRequest({ lines: [basic('a:b'), 'Authentication: hmac x'] }),
    secure,
    '400 several-credentials',
    true,
  ],
  [
    'a scheme that is not there',
    formatRequest({ lines: ['Authorization: Digest x'] }),
    secure,
    '401 scheme-not-offered',
    false,
  ],
  ['no credentials', formatRequest({}), {}, '401 authentication-required', false],
  [
    'what is not there',
    formatRequest({ target: '/nothing', lines: [basic('a:b')] }),
    secure,
    '404 not-found',
    false,
  ],
  ['what belongs to another', signed({ target: '/users/bob/financialrecords' }), {}, '403 forbidden', false],
  [
    'a change of what is not there',
    signed({ verb: 'DELETE', target: '/articles/999' }),
    {},
    '404 not-found',
    false,
  ],
  [
    'content that does not fit',
    signed({ verb: 'PUT', target: '/articles/1', content: '<article/>' }),
    {},
    '422 invalid-content',
    false,
  ],
];

each(
  counted.map(
    ([name, bytes, way, outcome, counts]) =>
      [`${name} (${outcome}) is ${counts ? 'a' : 'no'} failure`, bytes, way, outcome, counts] as const,
  ),
  async (context, [, bytes, way, outcome, counts]) => {
    const server = await opened(context, 1);
    assert.equal(await outcomeFrom(server, bytes, way), outcome);
    assert.equal(await outcomeFrom(server, signed({ nonce: 'after' })), counts ? blocked : '200');
  },
);
