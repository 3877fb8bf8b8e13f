import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import test, { type TestContext } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import type { Response } from '../../src/http/message.ts';
import type { Problem } from '../../src/http/problem.ts';
import { type ListenerOptions, listen, type ServerSocket } from '../../src/net/listener.ts';
import { date, replyTo } from '../support/net/service.ts';
import { makeIdentity } from '../support/net/transport.ts';

const limits = {
  headers: 16384,
  target: 8192,
  connections: 100,
  headerTimeout: 30_000,
  requestTimeout: 30_000,
};

async function serve(
  context: TestContext,
  reply: Partial<Response>,
  more: Partial<ListenerOptions> = {},
): Promise<ServerSocket> {
  const whole: Response = { status: 200, headers: [['Date', date]], body: '0123456789', ...reply };
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits,
    respond: async () => whole,
    refuse: replyTo,
    ...more,
  });
  context.after(() => listener.close(0));
  return listener;
}

/** What comes for these bytes, and whether the connection ends with a reset. */
async function said(port: number, bytes: string): Promise<{ text: string; reset: boolean }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let reset = false;
  socket.on('error', () => {
    reset = true;
  });
  socket.on('data', (piece) => {
    text += piece.toString('latin1');
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return { text, reset };
}

const ask = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const head = `HTTP/1.1 200 OK\r\nDate: ${date}\r\nContent-Length: 10\r\nConnection: close\r\n\r\n`;

test('a truncated response is the last one on its connection, even if more requests are pipelined', async (context) => {
  const { port } = await serve(context, { fault: { break: { kind: 'truncate', after: 4 } } });
  assert.deepEqual(await said(port, ask + ask), { text: `${head}0123`, reset: false });
});

test('a reset occurs after the configured number of bytes, or before the response if there is none', async (context) => {
  const amid = await serve(context, { fault: { break: { kind: 'reset', after: 4 } } });
  assert.deepEqual(await said(amid.port, ask), { text: `${head}0123`, reset: true });
  const before = await serve(context, { fault: { break: { kind: 'reset', after: undefined } } });
  assert.deepEqual(await said(before.port, ask), { text: '', reset: true });
});

test('a response to HEAD has no content to break, and its Content-Length is unchanged', async (context) => {
  const { port } = await serve(context, { fault: { break: { kind: 'badChunk' } } });
  assert.deepEqual(await said(port, ask.replace('GET', 'HEAD')), { text: head, reset: false });
});

test('an invalid header results in 500 even if the response was to be truncated', async (context) => {
  const { port } = await serve(context, {
    headers: [['X', 'a\r\nb']],
    fault: { break: { kind: 'truncate', after: 1 } },
  });
  assert.match((await said(port, ask)).text, /^HTTP\/1\.1 500 /);
});

test('closing the listener ends a dribbled response', async (context) => {
  const listener = await serve(context, { fault: { dribble: 0.001 } });
  const saying = said(listener.port, ask);
  while (listener.connections === 0) await new Promise(setImmediate);
  await listener.close(0);
  assert.doesNotMatch((await saying).text, /0123/);
});

test('refuse receives the bytes of a malformed request, and none for a target that is too long', async (context) => {
  const given: (string | undefined)[] = [];
  const refuse = (problem: Problem, _request: unknown, received?: string): Response => {
    given.push(received);
    return replyTo(problem);
  };
  const { port } = await serve(context, {}, { refuse });
  await said(port, 'GET / HTTP/1.1\r\nno colon\r\n\r\n');
  await said(port, `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.deepEqual(given, ['GET / HTTP/1.1\r\nno colon\r\n\r\n', undefined]);
});

test('connected is called once a TLS connection has its certificate, and a replacement applies to the next one', async (context) => {
  const [first, second] = [makeIdentity('The first'), makeIdentity('The second')];
  let count = 0;
  const listener = await serve(
    context,
    {},
    {
      tls: first,
      connected() {
        count += 1;
        listener.replaceIdentity(second);
      },
    },
  );
  const subjects: unknown[] = [];
  for (let times = 0; times < 2; times += 1) {
    const socket = connectSecurely({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    subjects.push(socket.getPeerCertificate().subject.CN);
    socket.destroy();
  }
  assert.deepEqual([subjects, count], [['The first', 'The second'], 2]);
});
