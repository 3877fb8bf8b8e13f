import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Wire, type WireReply } from '../../support/net/wire.ts';
import { start } from '../../support/service/open-service.ts';
import {
  formatOutcome,
  formatRequest,
  fullLines,
  openTestServer,
  secrets,
  signed,
  type TestServer,
} from '../../support/service/test-server.ts';

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

async function opened(context: TestContext, limit: number, trustProxy: string[] = []): Promise<TestServer> {
  const server = await openTestServer({ maxAuthFailures: limit, trustProxy });
  context.after(() => server.close());
  return server;
}

const wrong = (server: TestServer, user = 'ann'): string =>
  signed({ nonce: server.freshNonce(), user, secret: 'a guess', target: '/articles' });
const right = (server: TestServer): string => signed({ nonce: server.freshNonce() });

test('a peer that reached the limit gets 429 until the next minute', async (context) => {
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

test('a blocked peer may send requests without credentials', async (context) => {
  const server = await opened(context, 1);
  await from(honest, server.port, wrong(server));
  assert.equal(formatOutcome(await from(honest, server.port, formatRequest({ target: '/articles' }))), '200');
});

test('setting the clock does not reset the limit', async (context) => {
  const server = await opened(context, 1);
  await from(honest, server.port, wrong(server));
  server.clock.set(start + 3_600_000);
  const date = new Date(server.clock.now()).toUTCString();
  assert.equal(formatOutcome(await from(honest, server.port, signed({ nonce: 'n', date }))), blocked);
});

test('failures of many peers block a user for peers that failed, and the correct secret is accepted from another', {
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

test('a peer that reached the limit does not block other peers', { skip }, async (context) => {
  const server = await opened(context, 5);
  for (let guess = 0; guess < 50; guess += 1) await from(stranger, server.port, wrong(server));
  assert.equal(formatOutcome(await from(stranger, server.port, right(server))), blocked);
  assert.equal(formatOutcome(await from(honest, server.port, right(server))), '200');
});

test('replays and dates outside the window count as failures', async (context) => {
  const server = await opened(context, 2);
  const once_ = right(server);
  const by = async (bytes: string): Promise<string> => formatOutcome(await from(honest, server.port, bytes));
  assert.equal(await by(once_), '200');
  assert.equal(await by(once_), '401 nonce-replayed');
  assert.equal(await by(signed({ nonce: 'n', date: '28 feb 2024 12:00:00' })), '401 date-out-of-window');
  assert.equal(await by(right(server)), blocked);
});

test('a limit of 0 means no limit', async (context) => {
  const server = await opened(context, 0);
  for (let guess = 0; guess < 300; guess += 1)
    assert.equal(formatOutcome(await from(honest, server.port, wrong(server))), refused);
  assert.equal(formatOutcome(await from(honest, server.port, right(server))), '200');
});

test('behind a trusted proxy, failures are counted for the client that the proxy names', async (context) => {
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

test('fields of an untrusted peer do not affect the limit', { skip }, async (context) => {
  const server = await opened(context, 2, ['127.0.0.1/32']);
  const outcomes: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const fields = `Host: localhost\r\nX-Forwarded-For: 192.0.2.${at}\r\nForwarded: for=192.0.2.${at}`;
    const bytes = wrong(server, `user${at}`).replace('Host: localhost', fields);
    outcomes.push(formatOutcome(await from(stranger, server.port, bytes)));
  }
  assert.deepEqual(outcomes, [refused, refused, blocked, blocked, blocked]);
});

test('malformed credentials count as a failure, and credentials that are not read do not', async (context) => {
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
