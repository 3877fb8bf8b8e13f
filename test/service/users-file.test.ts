import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { userFile } from '../../src/accounts/users.ts';
import { waitForUsage } from '../../src/accounts/watcher.ts';
import { call, type Running, startProcess } from '../support/cli/command.ts';
import { makeIdentity } from '../support/net/transport.ts';
import type { WireReply } from '../support/net/wire.ts';
import {
  formatOutcome,
  formatRequest,
  fullLines,
  password,
  secrets,
} from '../support/service/test-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { basic, connected, hashed } from './passwords.ts';

const refused = '401 credentials-refused';

/** The time of this host, so many seconds on, as a signature dates it. */
function dateIn(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}

/** A server of the command with a users file that the test writes, and one connection to each of its ports. */
async function opened(context: TestContext, args: readonly string[] = []) {
  const directory = temporaryDirectory();
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const data = join(directory, 'data');
  const identity = makeIdentity();
  writeFileSync(cert, identity.cert);
  writeFileSync(key, identity.key, { mode: 0o600 });
  const path = join(data, 'users.json');
  assert.equal((await call(['user', 'add', 'old', '--data', data])).status, 0);
  const write = (users: Readonly<Record<string, unknown>>): void =>
    writeFileSync(path, JSON.stringify({ version: 1, users }), { mode: 0o600 });
  write({ ann, bob });
  const server = await startProcess([
    '--data',
    data,
    '--tls-cert',
    cert,
    '--tls-key',
    key,
    '--port',
    '0',
    '--tls-port',
    '0',
    '--max-auth-failures',
    '0',
    ...args,
  ]);
  const [port = 0, securePort = 0] = [server.url, server.secureUrl].map((url) => Number(new URL(url).port));
  const ports = { port, securePort, ca: identity.cert };
  const [plain, secure] = [await connected(ports), await connected(ports, { secure: true })];
  context.after(() => Promise.all([plain.close(), secure.close()]));
  const used = async (): Promise<void> => {
    assert.equal((await waitForUsage(userFile, data, await userFile.mark(data))).seen, true);
  };
  const ask = async (wire: typeof plain, bytes: string): Promise<WireReply> => {
    await wire.send(bytes);
    return wire.reply();
  };
  const outcomes = async (secret: string = secrets.ann): Promise<string[]> => {
    drawn += 1;
    const lines = fullLines({ nonce: `n${drawn}`, date: dateIn(0), secret });
    return [
      formatOutcome(await ask(plain, formatRequest({ lines }))),
      formatOutcome(await ask(secure, formatRequest({ lines: [right] }))),
    ];
  };
  return { server, path, write, used, outcomes, plain, secure, ask };
}

let drawn = 0;
const right = basic(`ann:${password}`);
const ann = { secrets: [{ secret: secrets.ann }], password: hashed(password).hash };
const bob = { secrets: [{ secret: secrets.bob }] };
const both = ['200', '200'];
const neither = [refused, refused];

async function stop(server: Running): Promise<{ stdout: string; stderr: string }> {
  server.signal('SIGTERM');
  const ended = await server.ended;
  assert.equal(ended.status, 0);
  return ended;
}

test('an edited users file applies to open connections', async (context) => {
  const { server, write, used, outcomes } = await opened(context, ['--log', 'off']);
  const fresh = 'Q7-hushed-fresh-secret';
  const after = async (users: Readonly<Record<string, unknown>>, secret?: string): Promise<string[]> => {
    write(users);
    await used();
    return outcomes(secret);
  };
  assert.deepEqual(await outcomes(), both);
  assert.deepEqual(await after({ ann: { ...ann, disabled: true }, bob }), neither);
  assert.deepEqual(await after({ ann, bob }), both);
  assert.deepEqual(await after({ bob }), neither);
  assert.deepEqual(await after({ ann: { ...ann, password: hashed('another').hash } }), ['200', refused]);
  assert.deepEqual(await after({ ann: { secrets: ann.secrets } }), ['200', refused]);
  assert.deepEqual(await after({ ann: { ...ann, secrets: [{ secret: fresh }] } }), [refused, '200']);
  const until = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
  const rotated = (seconds: number) => ({
    ann: { ...ann, secrets: [{ secret: fresh }, { secret: secrets.ann, until: until(seconds) }] },
  });
  assert.deepEqual(await after(rotated(3600)), both);
  assert.deepEqual(await after(rotated(3600), fresh), both);
  assert.deepEqual(await after(rotated(-1)), [refused, '200']);
  assert.deepEqual(await after(rotated(-1), fresh), both);
  await stop(server);
});

test('a damaged users file adds no user, and without the file no user is accepted', async (context) => {
  const { server, path, write, used, outcomes } = await opened(context, ['--log', 'off']);
  write({ ann: { ...ann, disabled: true } });
  await used();
  assert.deepEqual(await outcomes(), neither);
  const whole = readFileSync(path, 'utf8');
  writeFileSync(path, whole.slice(0, whole.indexOf('"disabled"')));
  await server.awaitStderr(/users\.json .*The users stay as they were/);
  assert.deepEqual(await outcomes(), neither);
  write({ ann });
  await used();
  assert.deepEqual(await outcomes(), both);
  rmSync(path);
  await server.awaitStderr(/users\.json was removed/);
  assert.deepEqual(await outcomes(), neither);
  await stop(server);
});
