import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { signRequest } from '../../../src/client/sign.ts';
import { call, type Ended, startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const onPosix = { skip: process.platform === 'win32' ? 'modes mean nothing here' : false };

/** The value that a user command shows on the line with this name. */
function shown({ stdout }: Ended, what: 'secret' | 'password'): string {
  return new RegExp(`^${what} +(\\S+)$`, 'm').exec(stdout)?.[1] ?? '';
}

/** A client with one connection, which it keeps. */
function keptConnection(url: string) {
  const secure = url.startsWith('https:');
  const agent = new (secure ? SecureAgent : Agent)({ keepAlive: true, maxSockets: 1 });
  after(() => agent.destroy());
  const sockets = new Set<Socket>();
  const get = (path: string, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const answered = (reply: IncomingMessage): void => {
        sockets.add(reply.socket);
        reply.resume().on('end', () => resolve(reply.statusCode));
      };
      // The certificate is made by the server itself; who it is from is no matter here.
      const sent = secure
        ? secureRequest(`${url}${path}`, { agent, headers, rejectUnauthorized: false }, answered)
        : request(`${url}${path}`, { agent, headers }, answered);
      sent.on('error', reject).end();
    });
  return { sockets, get };
}

/** Ends the server and gives what it said. */
async function ended(server: Awaited<ReturnType<typeof startServer>>): Promise<Ended> {
  return server.stop();
}

/** A data directory with the users named, and what their secrets are. */
async function dataWith(
  ...names: string[]
): Promise<{ data: string; secrets: string[]; passwords: string[] }> {
  const data = join(temporaryDirectory(), 'data');
  const made: Ended[] = [];
  for (const name of names) made.push(await call(['user', 'add', name, '--data', data]));
  return {
    data,
    secrets: made.map((end) => shown(end, 'secret')),
    passwords: made.map((end) => shown(end, 'password')),
  };
}

const quiet = ['--port', '0', '--tls-port', '0', '--log', 'off', '--max-auth-failures', '0'];
const serving = (data: string): string[] => ['--data', data, ...quiet];

describe('a change of users on a running server', () => {
  test('applies to signed requests on an open connection when the command has ended', async () => {
    const { data, secrets } = await dataWith('ann', 'bea');
    const server = await startServer(serving(data));
    const { get, sockets } = keptConnection(server.url);
    const status = (user: string, secret: string): Promise<number | undefined> => {
      const path = `/users/${user}/financialrecords`;
      return get(path, signRequest({ method: 'GET', url: `${server.url}${path}`, user, secret }));
    };
    const change = async (...args: string[]): Promise<Ended> => {
      const end = await call(['user', ...args, '--data', data]);
      assert.equal(end.status, 0, end.stderr);
      assert.match(
        end.stderr,
        new RegExp(`^the server that uses .* \\(process ${server.pid}\\) has applied the change$`, 'm'),
      );
      return end;
    };
    const [first = '', ofBea = ''] = secrets;
    assert.equal(await status('ann', first), 200);
    await change('disable', 'ann');
    assert.equal(await status('ann', first), 401);
    assert.equal(await status('bea', ofBea), 200);
    await change('enable', 'ann');
    assert.equal(await status('ann', first), 200);

    const second = shown(await change('rotate', 'ann', '--grace', '1h'), 'secret');
    assert.deepEqual([await status('ann', first), await status('ann', second)], [200, 200]);
    const third = shown(await change('rotate', 'ann', '--grace', '1h'), 'secret');
    const each = [await status('ann', first), await status('ann', second), await status('ann', third)];
    assert.deepEqual(each, [401, 200, 200], 'never are three valid');
    const last = shown(await change('rotate', 'ann', '--grace', '0'), 'secret');
    assert.deepEqual([await status('ann', third), await status('ann', last)], [401, 200]);

    await change('remove', 'ann');
    assert.equal(await status('ann', last), 401);
    const cid = shown(await change('add', 'cid'), 'secret');
    assert.equal(await status('cid', cid), 200);
    assert.equal(sockets.size, 1);
    await ended(server);
  });

  test('applies to a password that was accepted before, over TLS', async () => {
    const { data, passwords } = await dataWith('ann');
    const server = await startServer(serving(data));
    const { get, sockets } = keptConnection(server.secureUrl);
    const credentials = Buffer.from(`ann:${passwords[0]}`).toString('base64');
    const status = (): Promise<number | undefined> =>
      get('/users/ann/financialrecords', { Authorization: `Basic ${credentials}` });
    assert.deepEqual([await status(), await status()], [200, 200]);
    await call(['user', 'disable', 'ann', '--data', data]);
    assert.equal(await status(), 401);
    await call(['user', 'enable', 'ann', '--data', data]);
    assert.equal(await status(), 200);
    await call(['user', 'remove', 'ann', '--data', data]);
    assert.equal(await status(), 401);
    assert.equal(sockets.size, 1);
    await ended(server);
  });

  test('applies to the first user in a new file, and not to users of the configuration', async () => {
    const directory = temporaryDirectory();
    const [data, config] = [join(directory, 'data'), join(directory, 'config.json')];
    writeFileSync(config, JSON.stringify({ users: { ann: { secret: 'of-ann' } } }), { mode: 0o600 });
    const server = await startServer([...serving(data), '--config', config]);
    const { get } = keptConnection(server.url);
    const status = (user: string, secret: string): Promise<number | undefined> => {
      const path = `/users/${user}/financialrecords`;
      return get(path, signRequest({ method: 'GET', url: `${server.url}${path}`, user, secret }));
    };
    const bea = await call(['user', 'add', 'bea', '--data', data]);
    assert.match(bea.stderr, /has applied the change/);
    assert.equal(await status('bea', shown(bea, 'secret')), 200);
    assert.equal(await status('ann', 'of-ann'), 200);
    assert.equal((await ended(server)).stderr, '', 'nothing is said of users that came meanwhile');
  });

  test('does not apply if the file is damaged, which the server reports', async () => {
    const { data, secrets } = await dataWith('ann');
    const server = await startServer(serving(data));
    const { get } = keptConnection(server.url);
    const path = '/users/ann/financialrecords';
    const sign = { method: 'GET', url: `${server.url}${path}`, user: 'ann', secret: secrets[0] ?? '' };
    const before = readFileSync(join(data, 'users.json'));
    writeFileSync(join(data, 'users.json'), '{ "version": 1, "users": { "ann": { "secrets": [] } }');
    const told = await server.awaitStderr(/users\.json cannot be used: .*The users stay as they were\.\n/);
    assert.equal(await get(path, signRequest(sign)), 200);
    writeFileSync(join(data, 'users.json'), before);
    const disabled = await call(['user', 'disable', 'ann', '--data', data]);
    assert.match(disabled.stderr, /has applied the change/);
    assert.equal(await get(path, signRequest(sign)), 401);
    assert.equal((await ended(server)).stderr, told);
  });
});

describe('encryption of stored secrets', () => {
  const key = randomBytes(32).toString('hex');
  const environment = { COUNTERSIGN_KEY: key };

  function keyFile(content = `${key}\n`): string {
    const path = join(temporaryDirectory(), 'key');
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  test('applies to existing secrets at the next start with a key, and to new secrets', async () => {
    const { data, secrets } = await dataWith('ann', 'bea');
    const users = join(data, 'users.json');
    assert.ok(readFileSync(users, 'utf8').includes(secrets[0] ?? '-'));
    const before = await call(['check', '--data', data], { environment });
    assert.match(before.stdout, /^secrets {6}not encrypted; a start encrypts them$/m);
    const server = await startServer(serving(data), { environment });
    const added = await call(['user', 'add', 'cid', '--data', data], { environment });
    assert.match(added.stderr, /has applied the change/);
    secrets.push(shown(added, 'secret'));
    const { get } = keptConnection(server.url);
    for (const [at, user] of ['ann', 'bea', 'cid'].entries()) {
      const path = `/users/${user}/financialrecords`;
      const sign = { method: 'GET', url: `${server.url}${path}`, user, secret: secrets[at] ?? '' };
      assert.equal(await get(path, signRequest(sign)), 200, user);
    }
    const { stderr, stdout } = await ended(server);
    assert.equal(stderr, `countersign: encrypted the secrets in ${users}\n`);
    const everything = allIn(data) + stderr + stdout;
    for (const secret of [...secrets, key]) assert.ok(!everything.includes(secret), secret);
    const later = await startServer([...serving(data), '--key-file', keyFile()]);
    assert.equal((await ended(later)).stderr, '');
    const checked = await call(['check', '--data', data, '--key-file', keyFile()]);
    assert.match(checked.stdout, /^secrets {6}encrypted$/m);
  });

  test('applies from the first start with a key', async () => {
    const data = join(temporaryDirectory(), 'data');
    const server = await startServer(serving(data), { environment });
    const told = await server.awaitStderr(/Try it.*\n\n$/s);
    const secret = /^ {2}secret {4}(\S+)$/m.exec(told)?.[1] ?? '';
    assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
    assert.ok(!told.includes('not encrypted'));
    assert.ok(!allIn(data).includes(secret));
    const path = '/users/demo/financialrecords';
    const sign = { method: 'GET', url: `${server.url}${path}`, user: 'demo', secret };
    assert.equal(await keptConnection(server.url).get(path, signRequest(sign)), 200);
    await ended(server);
    const listed = await call(['user', 'list', '--data', data], { environment });
    assert.equal(listed.stdout, 'demo  1 valid secret\n');
  });

  test('requires its key for every command and start, which otherwise change nothing', async () => {
    const { data } = await dataWith();
    await call(['user', 'add', 'ann', '--data', data], { environment });
    const before = allIn(data);
    const other = keyFile(randomBytes(32).toString('base64'));
    for (const words of [['check'], ['user', 'list'], ['user', 'rotate', 'ann']]) {
      const without = await call([...words, '--data', data]);
      assert.equal(without.status, 1);
      assert.match(
        without.stderr,
        /^countersign: .*users\.json has encrypted secrets, and there is no key.*\n$/,
      );
      const wrong = await call([...words, '--data', data, '--key-file', other]);
      assert.equal(wrong.status, 1);
      assert.match(
        wrong.stderr,
        /^countersign: .* cannot be decrypted: it was encrypted with another key.*\n$/,
      );
    }
    const start = await call(serving(data));
    assert.equal(start.status, 1);
    assert.match(start.stderr, /^countersign: .*there is no key.*\n$/);
    assert.equal((await call([...serving(data), '--key-file', other])).status, 1);
    assert.equal(allIn(data), before);
  });

  test('rejects an invalid key, and does not print it', async () => {
    const { data } = await dataWith('ann');
    const cases: readonly [text: string, why: RegExp][] = [
      ['', /must contain a key of 32 bytes/],
      ['correct horse battery staple', /to generate one: openssl rand -hex 32/],
      [`${key}\n\n`, /must contain a key/],
      [key.repeat(100), /must contain a key/],
    ];
    for (const [text, why] of cases) {
      const args = ['user', 'list', '--data', data];
      for (const end of [
        await call(args, { environment: { COUNTERSIGN_KEY: text } }),
        await call([...args, '--key-file', keyFile(text)]),
      ]) {
        assert.equal(end.status, 2);
        assert.match(end.stderr, why);
        assert.ok(text === '' || !end.stderr.includes(text.trim()));
      }
    }
    const missing = await call(['check', '--data', data, '--key-file', join(data, 'nowhere')]);
    assert.match(missing.stderr, /^countersign: the key file .*nowhere cannot be read \(ENOENT\)\n$/);
    assert.equal(missing.status, 1);
  });

  test('accepts one key from the environment and a file, and rejects different keys', async () => {
    const { data } = await dataWith('ann');
    const spelt = Buffer.from(key, 'hex').toString('base64url');
    const same = await call(['user', 'list', '--data', data, '--key-file', keyFile(spelt)], { environment });
    assert.equal(same.status, 0, same.stderr);
    const other = keyFile(randomBytes(32).toString('hex'));
    const different = await call(['user', 'list', '--data', data, '--key-file', other], { environment });
    assert.equal(different.status, 2);
    assert.match(different.stderr, /^countersign: COUNTERSIGN_KEY and .* contain different keys/);
  });

  test('rejects a key file that other users can read, with the command that fixes it', onPosix, async () => {
    const { data } = await dataWith('ann');
    const path = keyFile();
    chmodSync(path, 0o640);
    for (const words of [['check'], ['user', 'list']]) {
      const { status, stderr } = await call([...words, '--data', data, '--key-file', path]);
      assert.equal(status, 1);
      assert.match(
        stderr,
        new RegExp(`^countersign: ${path} is accessible to other users .*; fix: chmod 600 ${path}\n$`),
      );
    }
  });

  test('requires and reads no key with --memory', async () => {
    const words = ['--memory', '--port', '0', '--tls-port', '0', '--key-file', '/nowhere'];
    const server = await startServer(words);
    assert.doesNotMatch((await ended(server)).stderr, /in the clear|encrypted|^countersign: /m);
  });
});

/** All that is in a directory but the locks, as one text. */
function allIn(directory: string): string {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter(
    (name) => !/lock\.[0-9]+$/.test(name) && statSync(join(directory, name)).isFile(),
  );
  return files.map((name) => `${name}: ${readFileSync(join(directory, name), 'latin1')}`).join('\n');
}

describe('a data directory that other users can access', onPosix, () => {
  async function refusedWith(data: string, line: RegExp): Promise<void> {
    const before = allIn(data);
    const ends = [
      await call(serving(data)),
      await call(['check', '--data', data]),
      await call(['user', 'list', '--data', data]),
      await call(['user', 'add', 'bea', '--data', data]),
      await call(['user', 'remove', 'ann', '--data', data]),
    ];
    for (const { status, stdout, stderr } of ends) {
      assert.equal(status, 1);
      assert.equal(stdout, '');
      assert.match(stderr, line);
    }
    assert.equal(allIn(data), before);
  }

  test('is rejected with the command that fixes it', async () => {
    const { data } = await dataWith('ann');
    chmodSync(data, 0o750);
    await refusedWith(
      data,
      new RegExp(
        `^countersign: ${data} is accessible to other users .*\\(mode 0750\\); fix: chmod 700 ${data}\n$`,
      ),
    );
    chmodSync(join(data, 'users.json'), 0o604);
    await refusedWith(
      data,
      new RegExp(`^countersign: ${data} is accessible to other users .*; fix: chmod -R go= ${data}\n$`),
    );
    chmodSync(data, 0o700);
    const users = join(data, 'users.json');
    await refusedWith(
      data,
      new RegExp(`^countersign: ${users} is accessible to other users .*; fix: chmod 600 ${users}\n$`),
    );
    chmodSync(users, 0o600);
    assert.equal((await call(['user', 'list', '--data', data])).status, 0);
  });

  test('is rejected with a path that is quoted for the shell', async () => {
    const data = join(temporaryDirectory(), "o'dd $dir");
    await call(['user', 'add', 'ann', '--data', data]);
    chmodSync(data, 0o711);
    const { stderr } = await call(['check', '--data', data]);
    assert.ok(stderr.endsWith(`; fix: chmod 700 '${data.replace("'", "'\\''")}'\n`), stderr);
  });

  test('is rejected if it contains other files, and the message suggests a separate directory', async () => {
    const data = temporaryDirectory();
    mkdirSync(join(data, 'of-somebody'), { mode: 0o700 });
    chmodSync(data, 0o755);
    const { status, stderr } = await call(['check', '--data', data]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /contains other files: use a separate directory, such as --data \S+\/countersign-data, or/,
    );
    chmodSync(data, 0o1777);
    assert.doesNotMatch((await call(['check', '--data', data])).stderr, /chmod/);
    assert.ok(!existsSync(join(data, 'users.lock')));
  });

  test('becomes private by a start or a new user if it is empty, and check does not change it', async () => {
    const data = temporaryDirectory();
    const mode = (): number => statSync(data).mode & 0o777;
    chmodSync(data, 0o755);
    assert.equal((await call(['check', '--data', data])).status, 0);
    assert.equal(mode(), 0o755);
    assert.equal((await call(['user', 'add', 'ann', '--data', data])).status, 0);
    assert.equal(mode(), 0o700);
    const other = temporaryDirectory();
    chmodSync(other, 0o777);
    await ended(await startServer(serving(other)));
    assert.equal(statSync(other).mode & 0o777, 0o700);
    for (const name of readdirSync(other, { recursive: true, encoding: 'utf8' }))
      assert.equal(statSync(join(other, name)).mode & 0o077, 0, name);
    await ended(await startServer(serving(other)));
  });

  test('a configuration file with secrets that other users can read causes only a warning', async () => {
    const directory = temporaryDirectory();
    const config = join(directory, 'config.json');
    const data = join(directory, 'data');
    writeFileSync(config, JSON.stringify({ data, users: { ann: { secret: 'hidden' } } }));
    chmodSync(config, 0o644);
    const line = `countersign: ${config} contains secrets and is readable by other users (mode 0644); fix: chmod 600 ${config}\n`;
    const checked = await call(['check', '--config', config]);
    assert.equal(checked.status, 0);
    assert.equal(checked.stderr, line);
    const server = await startServer(['--config', config, '--port', '0', '--tls-port', '0']);
    assert.equal((await ended(server)).stderr, line);
    writeFileSync(config, JSON.stringify({ data }));
    assert.equal((await call(['check', '--config', config])).stderr, '');
  });
});
