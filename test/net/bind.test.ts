import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { bind } from '../../src/net/bind.ts';
import { modulePath, reading } from '../program.ts';
import { exchange } from './wire.ts';

for (const host of ['127.0.0.1', '0.0.0.0', '::1', '::', 'localhost', '127.0.0.2'])
  test(`A server is bound to ${host} on a free port, and takes connections there.`, async (t) => {
    const server = createServer((socket) => socket.end('hello'));
    t.after(() => server.close());
    bind(server, host, 0);
    const [failure] = await Promise.race([
      once(server, 'listening'),
      once(server, 'error').catch((error: unknown) => [error]),
    ]);
    if (failure instanceof Error && /EADDRNOTAVAIL|EAFNOSUPPORT/.test(failure.message)) {
      t.skip('this machine does not have the address');
      return;
    }
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    assert.ok(address.port > 0);
    if (host !== 'localhost') assert.equal(address.address, host);
    assert.equal(server.listening, true);
  });

test('A port that is taken is told by an error, and one that is none is refused at once.', async (t) => {
  const holder = createServer();
  t.after(() => holder.close());
  bind(holder, '127.0.0.1', 0);
  await once(holder, 'listening');
  const address = holder.address();
  assert.ok(address !== null && typeof address === 'object');
  const second = createServer();
  bind(second, '127.0.0.1', address.port);
  const [error] = await once(second, 'error').catch((failure: unknown) => [failure]);
  assert.equal(error.code, 'EADDRINUSE');
  for (const port of [-1, 65_536, 1.5, Number.NaN])
    assert.throws(() => bind(createServer(), '127.0.0.1', port), { code: 'ERR_SOCKET_BAD_PORT' });
});

test('Workers of node:cluster share a port, as they do with node:net.', async (t) => {
  const program = spawn(process.execPath, [...reading, modulePath('test/net/workers.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(program, 'exit');
  t.after(async () => {
    program.stdin.end();
    await ended;
  });
  const [line] = await Promise.race([
    once(program.stdout.setEncoding('utf8'), 'data'),
    ended.then(() => ['']),
  ]);
  const port = Number(line);
  assert.ok(port > 0, 'the workers did not start');
  const workers = new Set<string>();
  for (let request = 0; request < 8; request += 1) {
    const [reply] = await exchange(port, 'GET / HTTP/1.1\r\nHost: h\r\n\r\n');
    workers.add(reply?.text ?? '');
  }
  assert.equal(workers.size, 2);
});
