import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const app = 'https://app.example';

for (const [what, more] of [
  ['a server', []],
  ['a server with a control interface', ['--control-port', '0']],
  ['a server with a control interface and no data directory', ['--control-port', '0', '--memory']],
] as const)
  test(`${what} permits the origins of --cors-origin, and no others`, async () => {
    const place = ['--data', join(temporaryDirectory(), 'data'), '--port', '0', '--log', 'off'];
    const cors = ['--cors-origin', app, '--cors-origin', 'http://localhost:3000', '--cors-max-age', '60'];
    const server = await startServer([...place, ...more, ...cors]);
    const preflight = (origin: string): Promise<Response> =>
      fetch(`${server.url}/articles/1`, {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'PUT' },
      });
    const permitted = await preflight(app);
    assert.equal(permitted.headers.get('Access-Control-Allow-Origin'), app);
    assert.equal(permitted.headers.get('Access-Control-Max-Age'), '60');
    const refused = await preflight('https://other.example');
    assert.equal(refused.headers.get('Access-Control-Allow-Origin'), null);
    assert.match(refused.headers.get('Vary') ?? '', /, Origin$/);
    // Refused before it was parsed as a request to a resource.
    const long = await fetch(`${server.url}/${'a'.repeat(9000)}`, { headers: { Origin: app } });
    assert.equal(long.status, 414);
    assert.equal(long.headers.get('Access-Control-Allow-Origin'), app);
    await server.stop();
  });
