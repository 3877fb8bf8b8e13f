import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { signRequest } from '../../../src/client/index.ts';
import { makeCertificate, makeKey, pemOfKey } from '../../../src/net/tls/certificate.ts';
import {
  call,
  type Ended,
  type Running,
  root,
  startProcess,
  startServer,
} from '../../support/cli/command.ts';
import { missing } from '../../support/net/program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const day = 86_400_000;

async function stop(server: Running): Promise<Ended> {
  return server.stop();
}

/** A certificate and its key in two files, with the arguments that name them; `days` from now until its end. */
function given(subject: string, days = 10, directory = temporaryDirectory()) {
  const key = makeKey();
  const [from, until] = [Date.now() - 30 * day, Date.now() + days * day];
  const names = ['localhost', '127.0.0.1'];
  const cert = makeCertificate({ subject, key, names, from, until, random: randomBytes });
  const files = { cert: join(directory, 'given.pem'), key: join(directory, 'given.key') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, pemOfKey(key), { mode: 0o600 });
  return { directory, cert, files, args: ['--tls-cert', files.cert, '--tls-key', files.key] };
}

/** A connection that trusts this certificate and has asked once. */
async function client(url: string, ca: string): Promise<TLSSocket> {
  const socket = connectSecurely({
    host: '127.0.0.1',
    port: Number(new URL(url).port),
    servername: 'localhost',
    ca,
  });
  await once(socket, 'secureConnect');
  await ask(socket);
  return socket;
}

async function ask(socket: TLSSocket): Promise<void> {
  socket.write('HEAD /articles HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [reply] = await once(socket, 'data');
  assert.match(String(reply), /^HTTP\/1\.1 200 /);
}

/** A port that is taken. */
async function taken(): Promise<{ holder: Server; port: number }> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { holder, port: address.port };
}

test('the ready line lists the addresses of HTTP and HTTPS, of HTTP alone, or of HTTPS alone', async () => {
  for (const [args, line] of [
    [[], /^Countersign is ready: http:\/\/127\.0\.0\.1:\d+ https:\/\/127\.0\.0\.1:\d+\n$/],
    [['--no-tls'], /^Countersign is ready: http:\/\/127\.0\.0\.1:\d+\n$/],
    [['--no-http'], /^Countersign is ready: https:\/\/127\.0\.0\.1:\d+\n$/],
  ] as const) {
    const server = await startServer(['--memory', '--port', '0', ...args]);
    assert.match((await stop(server)).stdout, line);
  }
});

test('a server accepts signed requests over HTTPS with the certificate in the data directory, also after a restart', async () => {
  const data = join(temporaryDirectory(), 'data');
  const config = join(temporaryDirectory(), 'config.json');
  writeFileSync(config, JSON.stringify({ users: { ann: { secret: 'hidden-from-all' } } }), { mode: 0o600 });
  for (let round = 0; round < 2; round += 1) {
    const server = await startServer(['--data', data, '--config', config, '--port', '0', '--log', 'off']);
    const ca = readFileSync(join(data, 'tls', 'certificate.pem'), 'utf8');
    const url = `${server.secureUrl}/articles`;
    const headers = signRequest({ method: 'POST', url, user: 'ann', secret: 'hidden-from-all' });
    const sent = request(url, {
      method: 'POST',
      ca,
      headers: { ...headers, 'Content-Type': 'application/json' },
    });
    sent.end('{"title":"One","price":{"value":"1.00","currency":"EUR"}}');
    const [response] = await once(sent, 'response');
    assert.equal(response.statusCode, 201);
    response.resume();
    assert.equal((await stop(server)).status, 0);
  }
});

test('SIGHUP reloads a given certificate; connections stay open, even if the new certificate is rejected', async () => {
  const first = given('The first');
  const server = await startServer(['--memory', '--port', '0', '--log', 'off', ...first.args]);
  const before = await client(server.secureUrl, first.cert);
  const second = given('The second', 20, first.directory);
  server.signal('SIGHUP');
  await server.awaitStderr(/reloaded the certificate .*given\.pem, valid until 20.*Z\n/);
  await ask(before);
  const after = await client(server.secureUrl, second.cert);
  writeFileSync(second.files.key, pemOfKey(makeKey()));
  server.signal('SIGHUP');
  await server.awaitStderr(
    /the certificate was not replaced: .*given\.pem and .*given\.key: the private key is not that of/,
  );
  for (const socket of [before, after]) await ask(socket);
  const third = await client(server.secureUrl, second.cert);
  for (const socket of [before, after, third]) socket.destroy();
  assert.equal((await stop(server)).status, 0);
});

test('SIGHUP does not end a server, with HTTPS or without', async () => {
  for (const args of [[], ['--no-tls'], ['--no-http']]) {
    const server = await startProcess(['--memory', '--port', '0', ...args]);
    for (let time = 0; time < 3; time += 1) server.signal('SIGHUP');
    assert.equal((await stop(server)).status, 0);
  }
});

describe('the server prints one line and exits with 1 if HTTPS cannot start', () => {
  const good = given('Good');
  const other = given('Other');
  const lock = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
  const locked = String(makeKey().export({ type: 'pkcs8', ...lock }));
  const older = String(makeKey().export({ type: 'sec1', ...lock }));
  const file = (name: string, content: string): string => {
    const path = join(good.directory, name);
    writeFileSync(path, content);
    return path;
  };
  const cases: readonly [what: string, cert: string, key: string, line: RegExp][] = [
    [
      'no such certificate',
      '/nonexistent.pem',
      good.files.key,
      /^countersign: \/nonexistent\.pem does not exist\n$/,
    ],
    [
      'no such key',
      good.files.cert,
      '/nonexistent.key',
      /^countersign: \/nonexistent\.key does not exist\n$/,
    ],
    [
      'garbage',
      file('garbage', 'x'),
      good.files.key,
      /^countersign: .*garbage: there is no certificate in PEM\n$/,
    ],
    [
      'a key of another',
      good.files.cert,
      other.files.key,
      /^countersign: .* and .*: the private key is not that of/,
    ],
    [
      'a key with a passphrase',
      good.files.cert,
      file('locked', locked),
      /locked: the private key is protected by/,
    ],
    ['an older form of it', good.files.cert, file('older', older), /older: the private key is protected by/],
    ['a directory', good.directory, good.files.key, /^countersign: .* cannot be read \(EISDIR\)\n$/],
  ];
  for (const [what, cert, key, line] of cases) {
    test(what, async () => {
      const data = join(temporaryDirectory(), 'data');
      const args = ['--data', data, '--port', '0', '--tls-cert', cert, '--tls-key', key];
      const { status, stdout, stderr } = await call(args);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, line);
      assert.equal(stderr.split('\n').length, 2);
      assert.ok(!existsSync(join(data, 'journal-1.jsonl')));
      const checked = await call(['check', ...args]);
      assert.deepEqual([checked.status, checked.stderr], [1, stderr]);
    });
  }

  test('a port for HTTP or HTTPS that is in use', async () => {
    const { holder, port } = await taken();
    for (const [one, another] of [
      ['--port', '--tls-port'],
      ['--tls-port', '--port'],
    ] as const) {
      const { status, stdout, stderr } = await call(['--memory', one, String(port), another, '0']);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, new RegExp(`^countersign: Port ${port} on 127\\.0\\.0\\.1 is in use.*\\n$`));
    }
    holder.close();
  });
});

test('a server with a given certificate that has expired prints a warning', async () => {
  const { args } = given('Old', -1);
  const server = await startServer(['--memory', '--port', '0', ...args]);
  assert.match((await stop(server)).stderr, /given\.pem: the certificate expired at .*; clients reject it\n/);
});

test('the warning that other hosts can reach the address mentions plain HTTP only if it is enabled', async () => {
  for (const [args, line] of [
    [[], /0\.0\.0\.0 can be reached from other hosts, and plain HTTP can be intercepted\n/],
    [['--no-http'], /0\.0\.0\.0 can be reached from other hosts\n/],
  ] as const) {
    const server = await startServer(['--memory', '--port', '0', '--host', '0.0.0.0', ...args]);
    assert.match((await stop(server)).stderr, line);
  }
});

test('check prints the addresses and the certificate', async () => {
  const { args, files } = given('A given one', 10);
  const told = await call(['check', '--memory', ...args]);
  assert.match(
    told.stdout,
    /^address {6}http:\/\/127\.0\.0\.1:8080\naddress {6}https:\/\/127\.0\.0\.1:8443\n/,
  );
  assert.match(
    told.stdout,
    new RegExp(`^certificate  ${files.cert}, CN=A given one, valid until 20.*Z$`, 'm'),
  );
  const secure = await call(['check', '--memory', '--no-http', '--tls-port', '0']);
  assert.match(
    secure.stdout,
    /^address {6}https on a free port of 127\.0\.0\.1\ncertificate {2}self-signed, generated at/,
  );
  const plain = await call(['check', '--memory', '--no-tls']);
  assert.doesNotMatch(plain.stdout, /https|certificate/);
  const data = join(temporaryDirectory(), 'data');
  await stop(await startServer(['--data', data, '--port', '0']));
  const kept = await call(['check', '--data', data]);
  assert.match(kept.stdout, /^certificate {2}.*\/tls\/certificate\.pem, self-signed, valid until 20.*Z$/m);
});

test('the commands that a first start prints also work over HTTPS', { skip: missing('curl') }, async () => {
  for (const keeping of [['--memory'], ['--data', join(temporaryDirectory(), 'data')]]) {
    const server = await startProcess([...keeping, '--no-http', '--log', 'off']);
    const stderr = await server.awaitStderr(/Try it.*\n\n/s);
    const commands = stderr.split('\n').filter((line) => /^ {2}(export|node) /.test(line));
    assert.match(commands[1] ?? '', keeping.length === 1 ? / --insecure / : / --cacert \S+certificate\.pem /);
    const { stdout } = await promisify(execFile)('sh', ['-c', commands.join('\n')], { cwd: root });
    assert.match(stdout, /^HTTP\/1\.1 201 /);
    await stop(server);
  }
});
