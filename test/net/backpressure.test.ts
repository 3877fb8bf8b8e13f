import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import { serve } from '../support/net/service.ts';
import { transport } from '../support/net/transport.ts';
import { exchange, open } from '../support/net/wire.ts';
import { modulePath, reading } from '../support/program.ts';
import { until } from '../support/until.ts';

const get = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

/** A request of about `size` bytes. */
function padded(size: number): string {
  return `GET /${'a'.repeat(size - 30)} HTTP/1.1\r\nHost: h\r\n\r\n`;
}

/** Sends bytes again and again until the other side takes no more, or `most` were sent. Returns how many it took. */
async function flood(socket: Socket, bytes: Buffer, most: number): Promise<number> {
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  for (let sent = bytes.length; sent <= most && !socket.destroyed; sent += bytes.length) {
    if (socket.write(bytes)) continue;
    const before = taken();
    await drained(socket);
    if (socket.writableLength > 0 && taken() === before) break;
  }
  return taken();
}

/** Resolves when the socket has sent all, or after so many turns that a server that reads would have read. */
function drained(socket: Socket): Promise<void> {
  const events = ['drain', 'error', 'close'];
  return new Promise((resolve) => {
    let [turns, immediate] = [0, setImmediate(turn)];
    function end(): void {
      clearImmediate(immediate);
      for (const event of events) socket.off(event, end);
      resolve();
    }
    function turn(): void {
      turns += 1;
      if (turns === 10_000) end();
      else immediate = setImmediate(turn);
    }
    for (const event of events) socket.on(event, end);
  });
}

test('a connection whose request is being handled is read no further when 64 requests wait', async (t) => {
  const { port, requests, waiting, release } = await serve(t);
  const wire = await open(port);
  await wire.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  const taken = await flood(wire.socket, Buffer.from(padded(600).repeat(100)), 64 * 1024 * 1024);
  assert.ok(taken < 16 * 1024 * 1024, `${taken} bytes were taken`);
  assert.equal(requests.length, 1);
  release();
  wire.socket.destroy();
});

test('a pipeline that is longer than the queue is answered completely and in order', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  const count = 600;
  const sending = (async () => {
    for (let at = 0; at < count; at += 50)
      await wire.send(
        Array.from(
          { length: 50 },
          (_, next) => `GET /${at + next}?${'a'.repeat(400)} HTTP/1.1\r\nHost: h\r\n\r\n`,
        ).join(''),
      );
  })();
  for (let at = 0; at < count; at += 1) assert.match((await wire.reply()).text, new RegExp(`^GET /${at}\\?`));
  await sending;
  await wire.close();
});

test('content that waits behind a slow request is buffered only up to a limit', async (t) => {
  const { port, waiting, release } = await serve(t);
  const wire = await open(port);
  await wire.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  const chunk = `POST /consume HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nea60\r\n${'c'.repeat(60_000)}\r\n0\r\n\r\n`;
  const taken = await flood(wire.socket, Buffer.from(chunk), 64 * 1024 * 1024);
  assert.ok(taken < 16 * 1024 * 1024, `${taken} bytes were taken`);
  release();
  wire.socket.destroy();
});

test('other clients get responses while one client pipelines requests and never reads', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  wire.socket.pause();
  await flood(wire.socket, Buffer.from(padded(400).repeat(150)), 20 * 1024 * 1024);
  for (let round = 0; round < 20; round += 1) assert.equal((await exchange(port, get))[0]?.status, 200);
  wire.socket.destroy();
});

test('of many connections that send too many requests in one packet, all but a few are closed at once', async (t) => {
  const { port, listener, release } = await serve(t);
  const packet = `GET /wait HTTP/1.1\r\nHost: h\r\n\r\n${get.repeat(600)}`;
  const wires = await Promise.all(Array.from({ length: 50 }, () => open(port)));
  await Promise.all(wires.map((wire) => wire.send(packet)));
  await until(() => listener.connections <= 16);
  release();
  const held = wires.filter(({ socket }) => !socket.destroyed);
  assert.ok(held.length >= 16);
  await until(() => listener.connections === 0);
  for (const wire of wires) wire.socket.destroy();
});

type Server = ChildProcessByStdio<Writable, Readable, null>;

async function readLine(server: Server): Promise<number> {
  const [line] = await once(server.stdout, 'data');
  return Number(String(line));
}

function startServer(t: TestContext): Server {
  const program = modulePath('test/support/net/never-reads-server.ts');
  const mode = transport.tls === undefined ? 'plain' : 'tls';
  const server = spawn(process.execPath, ['--expose-gc', ...reading, program, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => server.kill());
  return server;
}

async function readMemory(server: Server): Promise<number> {
  server.stdin.write('memory\n');
  return readLine(server);
}

async function openTo(port: number): Promise<Socket> {
  const secure = transport.tls !== undefined;
  const socket = secure ? connectSecurely({ port, rejectUnauthorized: false }) : connect(port, '127.0.0.1');
  await once(socket, secure ? 'secureConnect' : 'connect');
  return socket;
}

/** Sends so many requests, a hundred at a time, and reads all responses. */
async function readingClient(port: number, requests: number): Promise<void> {
  const socket = await openTo(port);
  let answered = 0;
  socket.on('data', (chunk: Buffer) => {
    answered += chunk.toString('latin1').split('HTTP/1.1 200').length - 1;
  });
  for (let sent = 100; sent <= requests; sent += 100) {
    socket.write(padded(400).repeat(100));
    while (answered < sent) await once(socket, 'data');
  }
  socket.destroy();
}

test('20 MB of requests from clients that never read cost less than 50 MB of memory', async (t) => {
  const server = startServer(t);
  const port = await readLine(server);
  // The heap of a server that has answered as many requests before has its usual size.
  await readingClient(port, 40_000);
  const before = await readMemory(server);
  const sockets = await Promise.all([1, 2, 3, 4].map(() => openTo(port)));
  for (const [at, socket] of sockets.entries()) {
    socket.pause().on('error', () => undefined);
    await flood(socket, Buffer.from(padded(at % 2 === 0 ? 100 : 500).repeat(130)), 5 * 1024 * 1024);
  }
  const growth = ((await readMemory(server)) - before) / 1024 / 1024;
  assert.ok(growth < 50, `memory grew by ${growth} MB`);
  for (const socket of sockets) socket.destroy();
  server.stdin.end();
  await once(server, 'exit');
});
