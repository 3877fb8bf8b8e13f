import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '../../../src/client/sign.ts';
import { startProcess, startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const article = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';

/** Signs a URL, and sends the request without the prefix, as a proxy does. */
function post(url: string, signedUrl: string, secret: string): Promise<Response> {
  const signature = signRequest({ method: 'POST', url: signedUrl, user: 'demo', secret });
  const headers = { ...signature, 'Content-Type': 'application/xml' };
  return fetch(`${url}/articles`, { method: 'POST', headers, body: article });
}

test('the commands that a first start prints sign the base path, and send the request without it', async () => {
  const data = join(temporaryDirectory(), 'data');
  const server = await startProcess(['--data', data, '--port', '0', '--base-path', '/api', '--log', 'off']);
  const introduction = await server.awaitStderr(/export COUNTERSIGN_SECRET=[\s\S]*articles\n/);
  const secret = /export COUNTERSIGN_SECRET='?([\w-]+)/.exec(introduction)?.[1] ?? '';
  assert.ok(introduction.includes(`sign POST ${server.url}/api/articles --user demo`), 'the signed URL');
  assert.match(introduction, new RegExp(` ${server.url}/articles\\n`), 'the requested URL');
  const created = await post(server.url, `${server.url}/api/articles`, secret);
  assert.deepEqual([created.status, created.headers.get('Location')], [201, '/api/articles/1']);
  assert.equal((await post(server.url, `${server.url}/articles`, secret)).status, 401);
  await server.stop();
});

for (const [store, args] of [
  ['memory', ['--memory']],
  ['a data directory', ['--data']],
] as const) {
  test(`a server with a control interface and ${store} adds the base path to the paths in a problem`, async () => {
    const place = args[0] === '--data' ? ['--data', join(temporaryDirectory(), 'data')] : args;
    const ports = ['--port', '0', '--control-port', '0', '--log', 'off'];
    const server = await startServer([...place, ...ports, '--base-path', '/api']);
    const response = await fetch(`${server.url}/articles/none`, { headers: { Accept: 'application/json' } });
    assert.match(
      await response.text(),
      /^\{"type":"\/api\/problems\/not-found".*"instance":"\/api\/articles\/none"/,
    );
    await server.stop();
  });
}
