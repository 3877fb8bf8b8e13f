import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startDouble } from '../../src/double/index.ts';
import { startServer } from '../support/cli/command.ts';
import { open } from '../support/net/wire.ts';

const folder = join(import.meta.dirname, '../../src/console');
const names = readdirSync(folder);

const securityFields = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** Returns the status of a GET with exactly these field lines. */
async function requestStatus(
  port: number,
  target: string,
  lines: readonly string[],
): Promise<number | undefined> {
  const wire = await open(port);
  await wire.send([`GET ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  const reply = await wire.reply();
  await wire.close();
  return reply?.status;
}

test('the document, the stylesheet and every module are served without a token, with their types and the security fields', async () => {
  await using double = await startDouble({ https: false });
  const { url, token } = await double.openControl();
  const modules = names.filter((name) => name.endsWith('.js') && name !== 'console.js');
  assert.ok(modules.length >= 10);
  const expected: [path: string, type: string, file: string][] = [
    ['/', 'text/html; charset=utf-8', 'index.html'],
    ['/console.css', 'text/css; charset=utf-8', 'console.css'],
    ['/console.js', 'text/javascript; charset=utf-8', 'console.js'],
    ...modules.map((name): [string, string, string] => [
      `/console/${name}`,
      'text/javascript; charset=utf-8',
      name,
    ]),
  ];
  for (const [path, type, file] of expected) {
    const response = await fetch(url + path);
    const text = await response.text();
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get('content-type'), type, path);
    assert.equal(text, readFileSync(join(folder, file), 'utf8'), path);
    assert.ok(!text.includes(token), path);
  }
  for (const path of ['/', '/console/dom.js', '/openapi.json', '/journal', '/nothing/here'])
    for (const [name, value] of Object.entries(securityFields))
      assert.equal((await fetch(url + path)).headers.get(name), value, `${path}: ${name}`);
});

test('only files of the console are served', async () => {
  await using double = await startDouble({ https: false });
  const { url } = await double.openControl();
  const paths = [
    '/console/none.js',
    '/console/index.html',
    '/console/..%2fserver.js',
    '/console/%2e%2e%2fserver.js',
    '/console/.js',
    '/console/dom.js%00',
    '/console/',
    '/console',
    '/index.html',
    '/console/a/dom.js',
  ];
  for (const path of paths) {
    const { status } = await fetch(url + path);
    assert.ok(status === 404 || status === 400, `${path}: ${status}`);
  }
});

test('clients that prefer JSON or XML to HTML get the list of the resources at /', async () => {
  await using double = await startDouble({ https: false });
  const { url } = await double.openControl();
  const response = await fetch(url, { headers: { Accept: 'application/json' } });
  const index = await response.text();
  assert.ok(index.includes('"href":"/clock"'), index);
});

test('a request for a host other than the loopback interface is refused with 421 on every path', async () => {
  await using double = await startDouble({ https: false });
  const { url, token } = await double.openControl();
  const port = Number(new URL(url).port);
  const authorization = `Authorization: Bearer ${token}`;
  for (const host of ['127.0.0.1', 'localhost', 'LocalHost', '[::1]'])
    assert.equal(await requestStatus(port, '/clock', [`Host: ${host}:${port}`, authorization]), 200, host);
  const others = [
    'rebound.example',
    `rebound.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    'localhost',
    `127.0.0.1.nip.example:${port}`,
    `127.0.0.2:${port}`,
    `localhost.:${port}`,
    `[::2]:${port}`,
  ];
  for (const path of ['/', '/console.js', '/console/dom.js', '/health', '/openapi.json', '/clock', '/none'])
    for (const host of others)
      assert.equal(await requestStatus(port, path, [`Host: ${host}`, authorization]), 421, `${host} ${path}`);
});

test('a target in absolute form overrides Host, and a second Host is refused with 421', async () => {
  await using double = await startDouble({ https: false });
  const { url, token } = await double.openControl();
  const port = Number(new URL(url).port);
  const lines = [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`];
  assert.equal(await requestStatus(port, `http://localhost:${port}/clock`, lines), 200);
  assert.equal(await requestStatus(port, `http://rebound.example:${port}/clock`, lines), 421);
  assert.equal(await requestStatus(port, '/clock', [...lines, `Host: 127.0.0.1:${port}`]), 421);
});

test('a 421 response is a problem with the security fields', async () => {
  await using double = await startDouble({ https: false });
  const { url } = await double.openControl();
  const wire = await open(Number(new URL(url).port));
  await wire.send('GET /clock HTTP/1.1\r\nHost: rebound.example\r\n\r\n');
  const reply = await wire.reply();
  assert.equal(JSON.parse(reply?.text ?? '').type, '/problems/misdirected-request');
  assert.equal(reply?.field('Content-Security-Policy'), securityFields['content-security-policy']);
  await wire.close();
});

test('openControl returns the address of the console, in which the token is encoded', async () => {
  await using double = await startDouble({ https: false });
  const control = await double.openControl({ token: 'a+token/with-characters==' });
  assert.equal(control.console, `${control.url}/#a%2Btoken%2Fwith-characters%3D%3D`);
});

test('serve prints the address of the console, without a token that comes from the environment', async () => {
  const options = ['--memory', '--port', '0', '--control-port', '0', '--log', 'off'];
  const drawn = await startServer(options);
  const [, token] = /shown only once: (\S+)\n/.exec(await drawn.awaitStderr(/shown only once: \S+\n/)) ?? [];
  assert.match(
    await drawn.awaitStderr(/Console: .*\n/),
    new RegExp(`Console: ${drawn.controlUrl}/#${token}\n`),
  );
  const token2 = 'a-token-for-this-test-alone';
  const given = await startServer(options, { environment: { COUNTERSIGN_CONTROL_TOKEN: token2 } });
  const told = await given.awaitStderr(/Console: .*\n/);
  assert.ok(told.includes(`Console: ${given.controlUrl}/\n`), told);
  assert.ok(!told.includes(token2));
  for (const server of [drawn, given]) {
    server.signal('SIGTERM');
    await server.ended;
  }
});

test('the console has less than 140 kB, and less than 44 kB compressed', () => {
  const files = names.map((name) => readFileSync(join(folder, name)));
  const total = files.reduce((bytes, { length }) => bytes + length, 0);
  const compressed = gzipSync(Buffer.concat(files), { level: 9 }).length;
  assert.ok(total < 140_000, `${total} bytes`);
  assert.ok(compressed < 44_000, `${compressed} bytes compressed`);
});

test('no module of the console writes markup or evaluates text', () => {
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\balert\(/;
  for (const name of names) assert.doesNotMatch(readFileSync(join(folder, name), 'utf8'), forbidden, name);
});
