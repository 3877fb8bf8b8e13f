import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  formatOutcome,
  formatRequest,
  fullLines,
  type Guarded,
  openGuarded,
  password,
  secrets,
  signed,
} from '../../support/intrusion/guarded.ts';
import { Wire, type WireReply } from '../../support/net/wire.ts';
import { start } from '../../support/service/guest.ts';

/** A peer on this host, by its address. Both are on the loopback; macOS has only the first. */
const stranger = '127.0.0.2';
const honest = '127.0.0.1';
const skip = process.platform === 'linux' ? false : 'the loopback has one address here';

const blocked = '429 too-many-failures';
const refused = '401 credentials-refused';

/** Sends bytes from an address and gives the reply. */
async function from(localAddress: string, port: number, bytes: string): Promise<WireReply> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  await once(socket, 'connect');
  const wire = new Wire(socket);
  await wire.send(bytes);
  const reply = await wire.reply();
  await wire.close();
  return reply;
}

async function opened(context: TestContext, limit: number, trustProxy: string[] = []): Promise<Guarded> {
  const server = await openGuarded({ maxAuthFailures: limit, trustProxy });
  context.after(() => server.close());
  return server;
}

const wrong = (server: Guarded, user = 'ann'): string =>
  signed({ nonce: server.freshNonce(), user, secret: 'a guess', target: '/articles' });
const right = (server: Guarded): string => signed({ nonce: server.freshNonce() });

const listOutcomes = async (replies: readonly Promise<WireReply>[]): Promise<string[]> =>
  (await Promise.all(replies)).map(formatOutcome);

test('a peer that failed as often as is allowed is not looked at any more, until the next minute', async (context) => {
  const server = await opened(context, 3);
  const by = async (bytes: string): Promise<string> => formatOutcome(await from(honest, server.port, bytes));
  for (let guess = 0; guess < 3; guess += 1) assert.equal(await by(wrong(server, `user${guess}`)), refused);
  const before = await server.state();
  const nonce = server.freshNonce();
  const reply = await from(honest, server.port, signed({ nonce }));
  assert.equal(formatOutcome(reply), blocked);
  assert.match(reply.field('Retry-After') ?? '', /^([1-9]|[1-5][0-9]|60)$/);
  assert.equal(await server.state(), before);
  server.clock.advance(Number(reply.field('Retry-After')) * 1000 - 1);
  assert.equal(await by(signed({ nonce })), blocked);
  server.clock.advance(1);
  assert.equal(await by(signed({ nonce })), '200');
});

test('what is asked without credentials is answered to a peer that is blocked', async (context) => {
  const server = await opened(context, 1);
  await from(honest, server.port, wrong(server));
  assert.equal(formatOutcome(await from(honest, server.port, formatRequest({ target: '/articles' }))), '200');
});

test('setting the clock forgives nothing', async (context) => {
  const server = await opened(context, 1);
  await from(honest, server.port, wrong(server));
  server.clock.set(start + 3_600_000);
  const date = new Date(server.clock.now()).toUTCString();
  assert.equal(formatOutcome(await from(honest, server.port, signed({ nonce: 'n', date }))), blocked);
});

test('guesses at one user from many peers are told nothing more, and the right secret still passes', {
  skip,
}, async (context) => {
  const server = await opened(context, 3);
  const peers = ['127.0.0.3', '127.0.0.4', '127.0.0.5'];
  for (const peer of peers)
    assert.equal(formatOutcome(await from(peer, server.port, wrong(server))), refused);
  assert.equal(formatOutcome(await from('127.0.0.6', server.port, wrong(server))), blocked);
  assert.equal(formatOutcome(await from('127.0.0.6', server.port, wrong(server, 'bob'))), refused);
  assert.equal(formatOutcome(await from('127.0.0.7', server.port, right(server))), '200');
});

test('a stranger who guesses shuts himself out alone', { skip }, async (context) => {
  const server = await opened(context, 5);
  for (let guess = 0; guess < 50; guess += 1) await from(stranger, server.port, wrong(server));
  assert.equal(formatOutcome(await from(stranger, server.port, right(server))), blocked);
  assert.equal(formatOutcome(await from(honest, server.port, right(server))), '200');
});

test('replays and stale dates count as failures too', async (context) => {
  const server = await opened(context, 2);
  const once_ = right(server);
  const by = async (bytes: string): Promise<string> => formatOutcome(await from(honest, server.port, bytes));
  assert.equal(await by(once_), '200');
  assert.equal(await by(once_), '401 nonce-replayed');
  assert.equal(await by(signed({ nonce: 'n', date: '28 feb 2024 12:00:00' })), '401 date-out-of-window');
  assert.equal(await by(right(server)), blocked);
});

test('a limit of 0 is no limit', async (context) => {
  const server = await opened(context, 0);
  for (let guess = 0; guess < 300; guess += 1)
    assert.equal(formatOutcome(await from(honest, server.port, wrong(server))), refused);
  assert.equal(formatOutcome(await from(honest, server.port, right(server))), '200');
});

test('guesses that come all at once do not get past the limit', async (context) => {
  const server = await opened(context, 10);
  const guesses = Array.from({ length: 100 }, () => from(honest, server.port, wrong(server)));
  const outcomes = await listOutcomes(guesses);
  assert.equal(outcomes.filter((each) => each === refused).length, 10);
  assert.equal(outcomes.filter((each) => each === blocked).length, 90);
});

test('passwords that are guessed all at once do not get past the limit', async (context) => {
  const server = await opened(context, 5, ['127.0.0.1/32']);
  const guess = (text: string): string => {
    const credentials = Buffer.from(`ann:${text}`).toString('base64');
    return formatRequest({ lines: [`Authorization: Basic ${credentials}`, 'X-Forwarded-Proto: https'] });
  };
  const guesses = Array.from({ length: 60 }, (_, at) => from(honest, server.port, guess(`guess ${at}`)));
  // The right one is among the last: it must not come through either, or the limit would be worth nothing.
  guesses.push(from(honest, server.port, guess('guess')), from(honest, server.port, guess('another')));
  const outcomes = await listOutcomes(guesses);
  assert.equal(outcomes.filter((each) => each === refused).length, 5);
  assert.equal(outcomes.filter((each) => each.startsWith('429 ')).length, 57);
  assert.equal(formatOutcome(await from(honest, server.port, guess(password))), blocked);
});

test('behind a trusted proxy it is the client who is counted, and nobody can be someone else by a field', async (context) => {
  const server = await opened(context, 2, ['127.0.0.1/32']);
  const via = async (client: string, bytes: string): Promise<string> => {
    const told = bytes.replace('Host: localhost', `Host: localhost\r\nX-Forwarded-For: ${client}`);
    return formatOutcome(await from(honest, server.port, told));
  };
  assert.equal(await via('192.0.2.1', wrong(server, 'x')), refused);
  assert.equal(await via('192.0.2.1', wrong(server, 'y')), refused);
  assert.equal(await via('192.0.2.1', right(server)), blocked);
  assert.equal(await via('192.0.2.2', right(server)), '200');
  // What the client itself wrote stands before what the proxy saw.
  assert.equal(await via('192.0.2.2, 192.0.2.1', right(server)), blocked);
});

test('a stranger cannot escape the limit by a field', { skip }, async (context) => {
  const server = await opened(context, 2, ['127.0.0.1/32']);
  const outcomes: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const fields = `Host: localhost\r\nX-Forwarded-For: 192.0.2.${at}\r\nForwarded: for=192.0.2.${at}`;
    const bytes = wrong(server, `user${at}`).replace('Host: localhost', fields);
    outcomes.push(formatOutcome(await from(stranger, server.port, bytes)));
  }
  assert.deepEqual(outcomes, [refused, refused, blocked, blocked, blocked]);
});

test('malformed credentials count as a failure, and those that were not read do not', async (context) => {
  const server = await opened(context, 2);
  const by = async (...lines: string[]): Promise<string> =>
    formatOutcome(await from(honest, server.port, formatRequest({ lines })));
  assert.equal(await by('Authentication: hmac x'), '400 malformed-credentials');
  assert.equal(await by('Authorization: Basic eDp5'), '403 tls-required');
  assert.equal(await by('Authorization: Nothing x'), '401 scheme-not-offered');
  assert.equal(await by(...fullLines({ nonce: 'n', secret: secrets.ann })), '200');
  assert.equal(await by('Authorization: hmac x'), '400 malformed-credentials');
  assert.equal(await by(...fullLines({ nonce: 'n2', secret: secrets.ann })), blocked);
});
