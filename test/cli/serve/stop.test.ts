import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { command, root } from '../../support/cli/command.ts';
import { open, type Wire } from '../../support/net/wire.ts';
import { changedHost } from './host.ts';

const article = '<article><title>One</title><price currency="EUR">12.30</price></article>';

function post(): string {
  const given = { method: 'POST', url: 'http://x/articles', user: 'ann', secret: 'hidden-from-all' };
  const fields = { ...signRequest({ ...given, body: article }), 'Content-Length': article.length };
  const lines = Object.entries({ Host: 'x', 'Content-Type': 'application/xml', ...fields });
  return `POST /articles HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${article}`;
}

test('after SIGTERM under load, the server responds to each request, stores acknowledged changes, and ignores idle connections', async () => {
  const host = changedHost();
  const server = await host.start('--log', 'off');
  const port = Number(new URL(server.url).port);
  const connect = (count: number): Promise<Wire[]> =>
    Promise.all(Array.from({ length: count }, () => open(port)));
  const silent = await connect(8);
  // One of them has had a reply, the others nothing yet.
  await silent[0]?.send('GET /articles HTTP/1.1\r\nHost: x\r\n\r\n');
  await silent[0]?.reply();
  const locations: string[] = [];
  const statuses = new Set<number>();
  const write = async (wire: Wire): Promise<void> => {
    for (;;) {
      await wire.send(post());
      const reply = await wire.next();
      if (reply === undefined) return wire.close();
      statuses.add(reply.status);
      if (reply.status === 201) locations.push(reply.field('Location') ?? '');
      if (locations.length === 200) server.signal('SIGTERM');
    }
  };
  await Promise.all((await connect(16)).map(write));
  const { status, stderr } = await server.ended;
  for (const wire of silent) await wire.close();
  assert.equal(status, 0, stderr);
  assert.ok(locations.length >= 200);
  for (const each of statuses) assert.ok(each === 201 || each === 503, String(each));

  const files = readdirSync(host.data);
  assert.deepEqual(
    files.filter((name) => /torn|tmp$/.test(name)),
    [],
  );
  const journal = readFileSync(join(host.data, 'journal-1.jsonl'), 'latin1');
  assert.match(journal, /\}\n$/);
  assert.equal(journal.split('\n').length - 2, locations.length);
  const next = await host.start('--log', 'off');
  for (const location of locations)
    assert.equal((await fetch(`${next.url}${location}`)).status, 200, location);
  assert.equal((await next.stop()).status, 0);
});

test('with --until-stdin-closes, the server stops in order when its standard input closes', async () => {
  const host = changedHost();
  const server = await host.start('--log', 'off', '--until-stdin-closes');
  const wire = await open(Number(new URL(server.url).port));
  await wire.send(post());
  assert.equal((await wire.reply())?.status, 201);
  server.closeInput();
  const { status, stderr } = await server.ended;
  assert.equal(status, 0, stderr);
  await wire.close();
  assert.match(readFileSync(join(host.data, 'journal-1.jsonl'), 'latin1'), /\}\n$/);
});

test('without it, the server keeps running when its standard input closes', async () => {
  const server = await changedHost().start('--log', 'off');
  server.closeInput();
  assert.equal((await fetch(server.url)).status, 200);
  assert.equal((await server.stop()).status, 0);
});

test('a server that was started with --until-stdin-closes does not outlive a process that is killed', async () => {
  const options = ['--memory', '--port', '0', '--no-tls', '--log', 'off', '--until-stdin-closes'];
  const parent = `const { spawn } = require('node:child_process');
    spawn(process.execPath, ${JSON.stringify([...command, ...options])}, { stdio: ['pipe', 'inherit', 'ignore'] });`;
  const starter = spawn(process.execPath, ['-e', parent], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(starter.stdout.setEncoding('utf8'), 'data');
  const url = /http:\S+/.exec(String(line))?.[0] ?? '';
  assert.equal((await fetch(url)).status, 200);
  starter.kill('SIGKILL');
  // The output ends when the server, which inherited it, has ended.
  await once(starter.stdout, 'end');
  await assert.rejects(fetch(url));
});
