import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedHost, signedOnce } from './host.ts';

const article = '<article><title>One</title><price currency="EUR">12.30</price></article>';
const put = (id: string) => signedOnce('PUT', `/articles/${id}`, 0, article);

test('after a failed sync, the server rejects all changes, serves reads, prints one line, and exits with 1', async () => {
  const host = changedHost();
  const server = await host.start('--log', 'off');
  assert.equal(await put('before')(server), '201');
  await host.change({ ahead: 0, failing: true }, server);
  assert.equal(await put('never')(server), 'store-unavailable');
  await host.change({ ahead: 0, failing: false }, server);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    assert.equal(await put('never')(server), 'store-unavailable');
    assert.equal((await fetch(`${server.url}/articles/before`)).status, 200);
    assert.equal((await fetch(`${server.url}/articles/never`)).status, 404);
  }
  assert.equal(await signedOnce('DELETE', '/articles/before')(server), 'store-unavailable');
  const { status, stderr } = await server.stop();
  assert.equal(status, 1);
  const told = stderr.split('\n').filter((line) => /no change is stored any more/.test(line));
  assert.equal(told.length, 1, stderr);
  assert.doesNotMatch(stderr, /^ +at /m, 'no refused request is told as a fault of its own');
  assert.match(told[0] ?? '', /fsync failed \(EIO\)/);

  const next = await host.start('--log', 'off');
  assert.equal((await fetch(`${next.url}/articles/before`)).status, 200);
  assert.match(await put('again')(next), /^201$/);
  assert.equal((await next.stop()).status, 0);
});
