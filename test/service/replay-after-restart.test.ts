import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Running, startProcess } from '../support/cli/command.ts';
import { outcome, secrets, signed } from '../support/service/test-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A file of configuration with ann in it. */
function configuration(): string {
  const path = join(temporaryDirectory(), 'configuration.json');
  writeFileSync(path, JSON.stringify({ users: { ann: { secret: secrets.ann } } }), { mode: 0o600 });
  return path;
}

const readPort = ({ url }: Running): number => Number(new URL(url).port);

/** The time of this host, so many seconds on, as a signature dates it. */
function dateIn(seconds: number): string {
  const [, day, month, year, time] = new Date(Date.now() + seconds * 1000).toUTCString().split(' ');
  return `${day} ${month?.toLowerCase()} ${year} ${time}`;
}

async function stop(server: Running): Promise<void> {
  server.signal('SIGTERM');
  assert.equal((await server.ended).status, 0);
}

const args = (): string[] => ['--port', '0', '--no-tls', '--config', configuration()];

// UTC+9, and one where clocks change twice a year.
for (const zone of ['Asia/Tokyo', 'America/New_York', 'Australia/Lord_Howe']) {
  test(`with TZ=${zone}, dates are in UTC`, async () => {
    const server = await startProcess([...args(), '--memory'], { environment: { TZ: zone } });
    const at = (hours: number): Promise<string> =>
      outcome(readPort(server), signed({ nonce: `n${hours + 20}`, date: dateIn(hours * 3600) }));
    assert.equal(await at(0), '200');
    for (const hours of [-9, -4, -1, -0.5, 0.5, 1, 5, 9, 10.5])
      assert.equal(await at(hours), '401 date-out-of-window', `${hours} hours`);
    const fixdate = new Date().toUTCString();
    assert.equal(await outcome(readPort(server), signed({ nonce: 'fix', date: fixdate })), '200');
    await stop(server);
  });
}

test('a replay is refused after a restart and after kill -9', async () => {
  const data = join(temporaryDirectory(), 'data');
  const given = [...args(), '--data', data];
  let server = await startProcess(given);
  const bytes = signed({ nonce: 'kept', date: dateIn(300) });
  assert.equal(await outcome(readPort(server), bytes), '200');
  await stop(server);
  server = await startProcess(given);
  assert.equal(await outcome(readPort(server), bytes), '401 nonce-replayed');
  const killed = signed({ nonce: 'killed', date: dateIn(300) });
  assert.equal(await outcome(readPort(server), killed), '200');
  process.kill(server.pid, 'SIGKILL');
  await server.ended;
  server = await startProcess(given);
  assert.equal(await outcome(readPort(server), killed), '401 nonce-replayed');
  assert.equal(await outcome(readPort(server), bytes), '401 nonce-replayed');
  await stop(server);
});

test('a change that was answered before kill -9 is there once, and its replay is refused', async () => {
  const given = [...args(), '--data', join(temporaryDirectory(), 'data')];
  const content = '<article><title>Tea</title><price currency="EUR">1.00</price></article>';
  const date = dateIn(300);
  const bytes = (nonce: string): string =>
    signed({ verb: 'POST', target: '/articles', nonce, date, content });
  const nonces = ['first', 'second', 'third'];
  let server = await startProcess(given);
  const sent = await Promise.all(nonces.map((nonce) => outcome(readPort(server), bytes(nonce))));
  assert.deepEqual(sent, ['201', '201', '201']);
  process.kill(server.pid, 'SIGKILL');
  await server.ended;
  server = await startProcess(given);
  for (const nonce of nonces)
    assert.equal(await outcome(readPort(server), bytes(nonce)), '401 nonce-replayed');
  const list = await fetch(`${server.url}/articles`, { headers: { Accept: 'application/json' } });
  assert.equal((await list.text()).match(/"Tea"/g)?.length, 3);
  await stop(server);
});
