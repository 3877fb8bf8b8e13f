import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { call, startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

test('openapi prints the document of the configuration, and creates no data directory', async () => {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  const data = join(directory, 'data');
  const notes = {
    element: 'notes',
    item: 'note',
    fields: { text: { type: 'text' } },
    access: { read: 'anyone' },
  };
  const schemes = { aws4: { region: 'eu-central-1', service: 's3' } };
  writeFileSync(config, JSON.stringify({ data, schemes, collections: { '/notes': notes } }), { mode: 0o600 });
  const { status, stdout, stderr } = await call(['openapi', '--config', config, '--port', '0']);
  assert.equal(status, 0, stderr);
  const { openapi, servers, paths, components } = JSON.parse(stdout);
  assert.equal(openapi, '3.1.0');
  assert.deepEqual(servers, [{ url: 'https://127.0.0.1:8443' }]);
  assert.deepEqual(Object.keys(paths['/notes']), ['get']);
  assert.deepEqual(Object.keys(components.securitySchemes), ['basic', 'hmac', 'aws4']);
  assert.ok(!existsSync(data));
});

test('openapi describes the clients of the data directory, and the resources of a module', async () => {
  const directory = temporaryDirectory();
  const data = join(directory, 'data');
  const module = join(directory, 'module.mjs');
  const resource = `{ GET: { access: 'anyone', handle: () => ({ type: 'text/plain', content: 'hello' }) } }`;
  writeFileSync(module, `export default () => ({ resources: { '/hello': ${resource} } });`);
  await call(['client', 'add', 'app', '--redirect-uri', 'https://client.example/cb', '--data', data]);
  const { status, stdout, stderr } = await call(['openapi', '--data', data, '--module', module]);
  assert.equal(status, 0, stderr);
  const { paths, components } = JSON.parse(stdout);
  assert.deepEqual(Object.keys(paths['/hello']), ['get']);
  assert.equal(components.securitySchemes.bearer.type, 'oauth2');
});

test('serve --openapi returns the document that openapi prints, but with a relative address', async () => {
  const server = await startServer(['--memory', '--port', '0', '--no-tls', '--openapi', '--request-id']);
  const served = await fetch(`${server.url}/openapi.json`);
  const { servers, ...others } = JSON.parse(await served.text());
  assert.deepEqual(servers, [{ url: '/' }]);
  const { stdout } = await call(['openapi', '--memory', '--no-tls', '--openapi', '--request-id']);
  const { servers: printed, ...same } = JSON.parse(stdout);
  assert.deepEqual(printed, [{ url: 'http://127.0.0.1:8080' }]);
  assert.deepEqual(same, others);
});
