import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { signRequest } from '../../../src/client/index.ts';
import {
  call,
  type Ended,
  type Running,
  root,
  startProcess,
  startServer,
} from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const article = '<article><title>One</title><price currency="EUR">12.30</price></article>';
const xml = { 'Content-Type': 'application/xml' };
const ann = JSON.stringify({ users: { ann: { secret: 'hidden-from-all' } } });

async function stop(server: Running, signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<Ended> {
  server.signal(signal);
  return server.ended;
}

/** The one line that is told where secrets are kept without a key. */
const inTheClear =
  /^countersign: the secrets in .*users\.json are not encrypted; to encrypt them: .*--key-file .*\n$/;

/** What a first start tells of the user that it made. */
function credentialsIn(stderr: string): { password: string; secret: string } {
  const [, password = ''] = /^ {2}password {2}(\S+)$/m.exec(stderr) ?? [];
  const [, secret = ''] = /^ {2}secret {4}(\S+)$/m.exec(stderr) ?? [];
  return { password, secret };
}

/** A directory with a configuration file that has the user ann. */
function configured(): { directory: string; data: string; config: string } {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  writeFileSync(config, ann, { mode: 0o600 });
  return { directory, data: join(directory, 'data'), config };
}

test('standard output has only the ready line, and the server exits with 0 on SIGTERM and SIGINT', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const server = await startProcess(['--memory', '--port', '0']);
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:[1-9][0-9]*$/);
    assert.equal((await fetch(`${server.url}/articles`)).status, 200);
    const { status, stdout } = await stop(server, signal);
    assert.equal(status, 0);
    assert.match(server.secureUrl, /^https:\/\/127\.0\.0\.1:[1-9][0-9]*$/);
    assert.equal(stdout, `Countersign is ready: ${server.url} ${server.secureUrl}\n`);
  }
});

test('the first start creates the user demo and prints it once, and user and data survive a restart', async () => {
  const data = join(temporaryDirectory(), 'data');
  const first = await startServer(['serve', '--data', data, '--port', '0']);
  const url = `${first.url}/articles`;
  const stored = readFileSync(join(data, 'users.json'), 'utf8');
  const { password, secret } = credentialsIn(await first.awaitStderr(/Try it/));
  const headers = { ...xml, ...signRequest({ method: 'POST', url, user: 'demo', secret }) };
  const created = await fetch(url, { method: 'POST', headers, body: article });
  assert.equal(created.status, 201);
  assert.equal((await stop(first)).status, 0);
  assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
  assert.match(password, /^[A-Za-z0-9_-]{43}$/);
  assert.ok(stored.includes(secret) && !stored.includes(password));

  const second = await startServer(['serve', '--data', data, '--port', '0', '--log', 'off']);
  const location = `${second.url}${created.headers.get('location')}`;
  assert.match(await (await fetch(location)).text(), /<title>One<\/title>/);
  const removal = await fetch(location, {
    method: 'DELETE',
    headers: signRequest({ method: 'DELETE', url: location, user: 'demo', secret }),
  });
  assert.equal(removal.status, 204);
  assert.match((await stop(second)).stderr, inTheClear);
  assert.equal(readFileSync(join(data, 'users.json'), 'utf8'), stored);
});

test('a start creates no user if users are configured or were added before', async () => {
  const { data, config } = configured();
  const server = await startServer(['--data', data, '--config', config, '--port', '0']);
  assert.equal((await stop(server)).stderr, '');
  assert.ok(!existsSync(join(data, 'users.json')));
  const other = join(data, 'other');
  await call(['user', 'add', 'bea', '--data', other]);
  const next = await startServer(['--data', other, '--port', '0']);
  assert.match((await stop(next)).stderr, inTheClear);
});

test('a stopping server completes requests in flight, and accepts no new connections', async () => {
  const { server, port, socket } = await serverWithRequest();
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  server.signal('SIGTERM');
  while (await accepts(port)); // Until it refuses: then it is stopping.
  socket.end(article);
  await once(socket, 'close');
  assert.match(received, /^HTTP\/1\.1 201 /);
  assert.equal((await server.ended).status, 0);
});

test('the server exits immediately with 1 on a second signal', async () => {
  const { server, port } = await serverWithRequest();
  server.signal('SIGTERM');
  while (await accepts(port));
  server.signal('SIGINT');
  assert.equal((await server.ended).status, 1);
});

/** A server with a request in flight: it was told to go on, and waits for the content. */
async function serverWithRequest(): Promise<{ server: Running; port: number; socket: Socket }> {
  const { config } = configured();
  const server = await startServer(['--memory', '--config', config, '--port', '0']);
  const port = Number(new URL(server.url).port);
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const headers = { Host: 'x', ...xml, 'Content-Length': String(article.length), Expect: '100-continue' };
  const fields = {
    ...headers,
    ...signRequest({ method: 'POST', url: `${server.url}/articles`, user: 'ann', secret: 'hidden-from-all' }),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /articles HTTP/1.1\r\n${lines.join('')}\r\n`);
  const [reply] = await once(socket, 'data');
  assert.match(String(reply), /^HTTP\/1\.1 100 /);
  return { server, port, socket };
}

/** Whether a connection is still accepted there. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, '127.0.0.1');
    probe.on('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
  });
}

test('a port in use is reported in one line, and the next start is still a first start', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  assert.ok(typeof address === 'object' && address !== null);
  const data = join(temporaryDirectory(), 'data');
  const { status, stdout, stderr } = await call(['--data', data, '--port', String(address.port)]);
  taken.close();
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, new RegExp(`^countersign: .*${address.port}.*in use.*\\n$`));
  assert.deepEqual(
    readdirSync(data).filter((name) => name.endsWith('.json')),
    [],
  );
  const next = await startServer(['--data', data, '--port', '0']);
  assert.match(credentialsIn((await stop(next)).stderr).secret, /^[A-Za-z0-9_-]{43}$/);
});

describe('a start fails with one line for', () => {
  const cases: readonly [what: string, file: string, content: string, status: number, line: RegExp][] = [
    ['a damaged list of users', 'users.json', '[]', 1, /^countersign: .*users\.json .*\n$/],
  ];
  for (const [what, file, content, status, line] of cases) {
    test(what, async () => {
      const data = temporaryDirectory();
      const config = join(data, 'c.json');
      writeFileSync(config, ann, { mode: 0o600 });
      writeFileSync(join(data, file), content, { mode: 0o600 });
      const end = await call(['--data', data, '--config', config, '--port', '0']);
      assert.equal(end.status, status);
      assert.match(end.stderr, line);
      assert.equal(end.stdout, '');
      assert.equal(readFileSync(join(data, file), 'utf8'), content);
    });
  }

  test('a configuration file that does not exist', async () => {
    const { status, stderr } = await call(['--config', '/nonexistent/c.json']);
    assert.equal(status, 1);
    assert.match(stderr, /^countersign: the configuration file \/nonexistent\/c\.json cannot be read: .*\n$/);
  });
});

test('the log contains signed requests, but no secret, query or control character', async () => {
  const { config } = configured();
  for (const form of ['json', 'pretty']) {
    const words = ['--memory', '--config', config, '--port', '0', '--log', form, '--explain'];
    const server = await startProcess(words);
    const url = `${server.url}/articles?token=s3cr3t-query`;
    const right = signRequest({ method: 'POST', url, user: 'ann', secret: 'hidden-from-all' });
    const wrong = signRequest({ method: 'POST', url, user: 'ann', secret: 'another-secret' });
    for (const headers of [right, wrong])
      await fetch(url, { method: 'POST', headers: { ...xml, ...headers }, body: article });
    await fetch(`${server.url}/%1b%5b2J%0aforged`);
    const { stderr } = await stop(server);
    const digests = [right, wrong].map((headers) => headers['Authentication']?.split(':')[2] ?? '');
    for (const secret of ['hidden-from-all', 'another-secret', 's3cr3t-query', ...digests]) {
      assert.ok(!stderr.includes(secret), `${form}: ${secret}`);
    }
    assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines.length, 3, stderr);
    if (form === 'pretty') assert.match(lines[0] ?? '', /^\S+Z 201 POST \/articles ann \(hmac\) [0-9]+µs$/);
    else checkJsonLines(lines);
  }
});

function checkJsonLines(lines: readonly string[]): void {
  const [created, refused, missing] = lines.map((line) => JSON.parse(line));
  const { time, microseconds, requestId, userAgent, bytesSent, ...rest } = created;
  assert.match(time, /^20[0-9-]+T[0-9:.]+Z$/);
  assert.ok(Number.isInteger(microseconds) && microseconds > 0);
  assert.deepEqual(rest, {
    method: 'POST',
    path: '/articles',
    status: 201,
    principal: 'ann',
    scheme: 'hmac',
    peer: '127.0.0.1',
    bytesReceived: article.length,
  });
  assert.match(requestId, /^[0-9a-f]{16}-1$/);
  assert.equal(userAgent, 'node');
  assert.ok(bytesSent > 0);
  assert.equal(refused.status, 401);
  assert.equal(typeof refused.problem, 'string');
  assert.equal(missing.status, 404);
}

test('the commands that a first start prints work unchanged', async () => {
  const server = await startProcess(['--memory', '--port', '0', '--log', 'off']);
  const stderr = await server.awaitStderr(/Try it.*\n\n$/s);
  const commands = stderr.split('\n').filter((line) => /^ {2}(export|node) /.test(line));
  assert.equal(commands.length, 2);
  const { stdout } = await promisify(execFile)('sh', ['-c', commands.join('\n')], { cwd: root });
  assert.match(stdout, /^HTTP\/1\.1 201 /);
  await stop(server);
});
