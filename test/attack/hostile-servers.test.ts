// Servers that give no usable response. Each attempt ends within its timeout, and proves nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { attack, createAttempts, createSigner } from '../../src/attack/index.ts';

const signer = createSigner({ user: 'ann', secret: 'a secret of ann' });

/** Runs `use` with the address of a server that passes each connection to `answer` when a request arrives. */
async function withServer(
  answer: (socket: Socket, request: string) => void,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => answer(socket, bytes.toString('latin1')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  try {
    await use(`http://127.0.0.1:${address.port}`);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

/** Writes again and again, as fast as the client reads. */
function flood(socket: Socket, start: string, piece: string): void {
  socket.write(start);
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece)) if (socket.bytesWritten > 100_000_000) return;
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}

const hostile: Readonly<Record<string, (socket: Socket) => void>> = {
  'switches protocols': (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  'switches protocols unnamed': (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  'sends nothing': () => undefined,
  'never ends its fields': (socket) => socket.write('HTTP/1.1 200 OK\r\nA: b\r\n'),
  'never ends its content': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na'),
  'sends content without end': (socket) =>
    flood(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '4\r\naaaa\r\n'.repeat(1000)),
  'sends interim responses without end': (socket) =>
    flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n'.repeat(100)),
  'closes at once': (socket) => socket.end(),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'is no HTTP server': (socket) => socket.end('SSH-2.0-x\r\n'),
};
for (const [what, answer] of Object.entries(hostile))
  test(`an attempt is inconclusive if the server ${what}`, () =>
    withServer(answer, async (origin) => {
      const attempts = createAttempts({ method: 'PUT', url: `${origin}/articles/1`, body: 'a' }, signer);
      const chosen = [attempts[0], attempts.find(({ together }) => together)];
      const report = await attack(
        origin,
        chosen.filter((each) => each !== undefined),
        { timeout: 300 },
      );
      assert.ok(report.results.every(({ verdict }) => verdict === 'inconclusive' || verdict === 'skipped'));
      assert.equal(report.results[0]?.verdict, 'inconclusive');
    }));

test('a redirect is not followed', () =>
  withServer(
    (socket) => socket.end('HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n'),
    async (origin) => {
      const [first] = createAttempts({ url: `${origin}/articles` }, signer);
      assert.ok(first !== undefined);
      const { results } = await attack(origin, [first]);
      assert.deepEqual([results[0]?.verdict, results[0]?.status], ['inconclusive', 302]);
    },
  ));

test('the target is sent as it is written, and signed so', async () => {
  for (const [written, sent] of [
    ['/./users', '/./users'],
    ['/a/../users', '/a/../users'],
    ['/%2e/users%2F', '/%2e/users%2F'],
    ['/%2E%7e?a=%5b[]&b=\'"|{}', '/%2E%7e?a=%5b[]&b=\'"|{}'],
    ['//users', '//users'],
    ['?a=b#c', '/?a=b'],
    ['/\\users', '/\\users'],
    ['/ü b', '/%C3%BC%20b'],
  ] as const)
    await withServer(
      (socket, request) => {
        const isSame = request.split(' ')[1] === sent;
        socket.end(`HTTP/1.1 ${isSame ? 204 : 400} x\r\n\r\n`);
      },
      async (origin) => {
        const [first] = createAttempts({ url: origin + written }, signer);
        assert.ok(first !== undefined);
        assert.equal((await attack(origin, [first])).results[0]?.status, 204, written);
      },
    );
});
