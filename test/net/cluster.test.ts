import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { exchange } from '../support/net/wire.ts';
import { modulePath, reading } from '../support/program.ts';

test('workers of node:cluster share a port, as they do with node:net', async (t) => {
  const program = spawn(process.execPath, [...reading, modulePath('test/support/net/workers.ts')], {
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
