import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { call, type Running, startProcess, startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { signedOnce } from './host.ts';

/** A directory with a configuration that has the user ann, and the arguments that name both. */
function configured(): { data: string; args: readonly string[] } {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  const data = join(directory, 'data');
  writeFileSync(config, JSON.stringify({ data, users: { ann: { secret: 'hidden-from-all' } } }), {
    mode: 0o600,
  });
  return { data, args: ['--config', config, '--port', '0'] };
}

async function kill({ pid, ended }: Running): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await ended;
}

async function stop(server: Running): Promise<string> {
  return (await server.stop()).stderr;
}

test('a repeated signed request is refused after kill -9 and a restart, and a new request is accepted', async () => {
  const { args } = configured();
  const [get, change] = [signedOnce('GET', '/articles'), signedOnce('DELETE', '/articles/7')];
  const first = await startProcess([...args, '--log', 'off']);
  assert.equal(await get(first), '200');
  assert.equal(await change(first), 'not-found');
  await kill(first);
  const second = await startServer(args);
  assert.equal(await get(second), 'nonce-replayed');
  assert.equal(await change(second), 'nonce-replayed');
  assert.equal(await signedOnce('GET', '/articles')(second), '200');
  assert.equal(await stop(second), '');
  const third = await startServer([...args, '--durability', 'os', '--window', '1200']);
  assert.equal(await get(third), 'nonce-replayed');
  assert.equal(await stop(third), '');
});

test('a server with a data directory accepts requests dated before its start; a server in memory refuses them', async () => {
  const { args } = configured();
  const dated = async (server: Running, secondsAgo: number): Promise<number> => {
    const date = new Date(Date.now() - 1000 * secondsAgo).toUTCString();
    const url = `${server.url}/articles`;
    const headers = signRequest({ method: 'GET', url, user: 'ann', secret: 'hidden-from-all', date });
    return (await fetch(url, { headers })).status;
  };
  for (const [how, taken] of [
    [[], 200],
    [['--memory'], 401],
  ] as const) {
    const server = await startServer([...args, ...how]);
    assert.equal(await dated(server, 540), taken);
    assert.equal(await dated(server, 660), 401);
    assert.equal(await dated(server, 0), 200);
    assert.equal(await stop(server), '');
  }
});

describe('a damaged nonce file', () => {
  test('prevents a start if it is damaged in the middle, and check reports the line', async () => {
    const { data, args } = configured();
    const first = await startServer(args);
    for (let number = 0; number < 3; number += 1) await signedOnce('GET', '/articles')(first);
    await stop(first);
    assert.match((await call(['check', ...args])).stdout, /^nonces {7}3 not expired$/m);
    const path = join(data, 'nonces-1.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"user":"ann"', '"user":"bob"'));
    const expected = new RegExp(
      `^countersign: ${path} cannot be used: line 2, at byte [0-9]+, is missing or damaged`,
      'm',
    );
    for (const command of [['check'], ['serve']]) {
      const { status, stderr, stdout } = await call([...command, ...args]);
      assert.equal(status, 1);
      assert.match(stderr, expected);
      assert.equal(stdout, '');
    }
  });

  test('is reported once if a crash truncated its end, and full signed requests get nonces-lost', async () => {
    const { data, args } = configured();
    const get = signedOnce('GET', '/articles');
    const first = await startProcess([...args, '--log', 'off']);
    assert.equal(await get(first), '200');
    await kill(first);
    const name = readdirSync(data).find((each) => each.startsWith('nonces-')) ?? '';
    appendFileSync(join(data, name), '{"crc":"0123');
    const lost =
      /nonces-1\.jsonl is truncated in line 3, at byte [0-9]+\. Nonces may be lost: full signed requests dated before/;
    assert.match((await call(['check', ...args])).stdout, lost);
    const second = await startServer(args);
    assert.equal(await get(second), 'nonces-lost');
    assert.equal(await signedOnce('GET', '/articles')(second), 'nonces-lost');
    assert.equal((await fetch(`${second.url}/articles`)).status, 200);
    assert.match(await stop(second), lost);
    const third = await startServer(args);
    assert.equal(await get(third), 'nonces-lost');
    assert.equal(await stop(third), '');
  });
});

test('after a restore, a new request is refused with the reason and the time from which requests are accepted', async () => {
  const { data, args } = configured();
  const first = await startServer(args);
  await stop(first);
  const copy = join(temporaryDirectory(), 'copy');
  assert.equal((await call(['backup', copy, '--data', data])).status, 0);
  assert.equal((await call(['restore', copy, '--data', data, '--replace'])).status, 0);
  const second = await startServer(args);
  const url = `${second.url}/articles`;
  const signed = signRequest({ method: 'GET', url, user: 'ann', secret: 'hidden-from-all' });
  const reply = await fetch(url, { headers: { ...signed, Accept: 'application/json' } });
  assert.equal(reply.status, 503);
  const text = await reply.text();
  assert.match(text, /"type":"\/problems\/nonces-lost"/);
  const wait = Number(reply.headers.get('retry-after'));
  assert.ok(wait > 60 && wait <= 602, `Retry-After: ${wait}`);
  const time = /signed at (.* GMT) or later/.exec(text)?.[1] ?? '';
  const from = Date.parse(time) - Date.parse(reply.headers.get('date') ?? '');
  assert.ok(Math.abs(from - 1000 * wait) <= 2000, `${time}, Retry-After: ${wait}`);
  assert.match(await stop(second), /Nonces may be lost: full signed requests dated before .* are rejected/);
});
