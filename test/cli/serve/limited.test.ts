import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { call, startProcess } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

test('a running server limits users and addresses, and applies a changed quota at once', async () => {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const config = join(folder, 'config.json');
  const quota = [{ name: 'hourly', requests: 1, window: '1h' }];
  const users = { bob: { secret: 'secret-of-bob', quota: 'none' } };
  writeFileSync(config, JSON.stringify({ quota, users }), { mode: 0o600 });
  const added = await call(['user', 'add', 'ann', '--quota', '1/7d', '--data', data]);
  const secret = printedIn(added.stdout, 'secret');
  const server = await startProcess(['--no-tls', '--data', data, '--config', config, '--port', '0']);
  const url = `${server.url}/articles`;
  const send = async (user?: string, key = secret): Promise<[number, string | null]> => {
    const headers = user === undefined ? {} : signRequest({ method: 'GET', url, user, secret: key });
    const response = await fetch(url, { headers });
    await response.text();
    return [response.status, response.headers.get('RateLimit')];
  };
  assert.deepEqual(await send(), [200, '"hourly";r=0;t=3600']);
  const [status, limit] = await send();
  assert.equal(status, 429);
  assert.match(limit ?? '', /^"hourly";r=0;t=3[56][0-9]{2}$/);
  assert.deepEqual(await send('ann'), [200, '"7d";r=0;t=604800']);
  assert.equal((await send('ann'))[0], 429);
  assert.deepEqual(await send('bob', 'secret-of-bob'), [200, null]);
  const listed = await call(['user', 'list', '--data', data]);
  assert.equal(listed.stdout, 'ann  1 valid secret, quota 1/7d\n');
  const changed = await call(['user', 'quota', 'ann', '--quota', 'none', '--data', data]);
  assert.match(changed.stderr, /has applied the change/);
  assert.deepEqual(await send('ann'), [200, null]);
  assert.equal((await server.stop()).status, 0);
});
