import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import type { ServiceOptions } from '../../src/index.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { Wire, type WireReply } from '../support/net/wire.ts';
import {
  formatOutcome,
  formatRequest,
  openTestServer,
  password,
  signed,
  type TestServer,
} from '../support/service/test-server.ts';

/** The line of Basic for a user and a password in UTF-8, or for bytes. */
function basic(pair: string | Uint8Array): string {
  return `Authorization: Basic ${Buffer.from(pair).toString('base64')}`;
}

/** A test server on two ports: plain HTTP, and HTTPS. */
interface BothWays extends TestServer {
  readonly ca: string;
  readonly securePort: number;
}

/** Opens a server on both. */
async function openBothWays(options: ServiceOptions = {}): Promise<BothWays> {
  const testServer = await openTestServer(options);
  const tls = makeIdentity();
  const { port: securePort } = await testServer.service.listen({ tls });
  return { ...testServer, securePort, ca: tls.cert };
}

/** How a client comes to the server. */
interface Way {
  readonly secure?: boolean;
  /** The client's address, one of this host. */
  readonly from?: string;
}

/** Connects to a server, over TLS or not. */
async function connected(
  server: Pick<BothWays, 'port' | 'securePort' | 'ca'>,
  { secure = false, from }: Way = {},
): Promise<Wire> {
  const carrier = connect({
    port: secure ? server.securePort : server.port,
    host: '127.0.0.1',
    allowHalfOpen: true,
    noDelay: true,
    ...(from === undefined ? {} : { localAddress: from }),
  });
  await once(carrier, 'connect');
  if (!secure) return new Wire(carrier);
  const socket = connectSecurely({ socket: carrier, ca: server.ca, servername: 'localhost' });
  await once(socket, 'secureConnect');
  return new Wire(socket, carrier);
}

/** Sends bytes on a connection of their own and gives the first reply. */
async function replyTo(server: BothWays, bytes: string, way?: Way): Promise<WireReply> {
  const wire = await connected(server, way);
  await wire.send(bytes);
  const reply = await wire.reply();
  await wire.close();
  return reply;
}

/** The same, and gives its outcome. */
async function outcomeFrom(server: BothWays, bytes: string, way?: Way): Promise<string> {
  return formatOutcome(await replyTo(server, bytes, way));
}

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
  assert.equal(reply.field('WWW-Authenticate'), undefined);
  assert.match(reply.field('Retry-After') ?? '', /^([1-9]|[1-5][0-9]|60)$/);
  assert.match(reply.field('Vary') ?? '', /Authorization, Authentication/);
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

for (const [name, bytes, way, outcome, counts] of counted)
  test(`${name} (${outcome}) is ${counts ? 'a' : 'no'} failure`, async (context) => {
    const server = await opened(context, 1);
    assert.equal(await outcomeFrom(server, bytes, way), outcome);
    assert.equal(await outcomeFrom(server, signed({ nonce: 'after' })), counts ? blocked : '200');
  });
