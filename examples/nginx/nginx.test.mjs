import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { signRequest } from 'countersign/client';

const missing = ['nginx', 'openssl'].filter((name) => spawnSync(name, ['-v']).error !== undefined);
const skip = missing.length > 0 && `${missing.join(' and ')} not installed`;
const [secret, password] = ['s3cret', 'a password'];

let folder;
let origin;
const processes = [];

/** Returns a port that is free at the moment. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** Starts a program; resolves when its output matches. */
async function start(command, args, stream, pattern) {
  const child = spawn(command, args, { cwd: folder });
  processes.push(child);
  let output = '';
  for await (const chunk of child[stream]) {
    output += chunk;
    if (pattern.test(output)) return output;
  }
  throw new Error(`${command} ended: ${output}`);
}

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'countersign-nginx-'));
  mkdirSync(join(folder, 'temp'));
  const config = { users: { johndoe: { secret, password } } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-nodes', '-keyout', 'key.pem', '-out', 'certificate.pem'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const made = spawnSync('openssl', ['req', '-x509', ...key, ...files, ...subject], { cwd: folder });
  assert.equal(made.status, 0, String(made.stderr));

  const [port, tlsPort] = [await freePort(), await freePort()];
  origin = `https://localhost:${tlsPort}`;
  const conf = readFileSync(join(import.meta.dirname, 'nginx.conf'), 'utf8');
  const ports = conf
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replace('127.0.0.1:8443', `127.0.0.1:${tlsPort}`);
  writeFileSync(join(folder, 'nginx.conf'), ports);

  const proxy = ['--trust-proxy', '127.0.0.1/32', '--public-url', origin];
  const server = ['serve', '--memory', '--no-tls', '--config', 'config.json', '--log', 'off', ...proxy];
  await start('countersign', [...server, '--port', String(port)], 'stdout', /is ready/);
  // At the level "notice" nginx reports on standard error that its worker has started.
  const nginx = ['-p', folder, '-c', 'nginx.conf', '-g', 'daemon off; error_log stderr notice;'];
  await start('nginx', nginx, 'stderr', /start worker process /);
});

after(async () => {
  for (const child of processes.reverse()) {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Sends a request to nginx; returns status, headers and text. */
async function send(method, target, headers = {}, content = undefined) {
  const ca = readFileSync(join(folder, 'certificate.pem'));
  const sent = request(origin + target, { method, headers, ca, agent: false });
  sent.end(content);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

/** Returns the headers that sign a request. */
function signed(method, target) {
  return signRequest({ method, url: origin + target, user: 'johndoe', secret });
}

const basic = `Basic ${Buffer.from(`johndoe:${password}`).toString('base64')}`;
const records = '/users/johndoe/financialrecords';

test('a signature is valid behind nginx, with escapes and a query', { skip }, async () => {
  for (const target of [records, `${records}?limit=1&note=a%2Fb%20c`, `${records}/%7Etea`]) {
    const expected = target.endsWith('tea') ? 404 : 200;
    assert.equal((await send('GET', target, signed('GET', target))).status, expected, target);
  }
});

test('a password is accepted, because nginx reports that the client used TLS', { skip }, async () => {
  assert.equal((await send('GET', records, { Authorization: basic })).status, 200);
});

test('what a client claims about its own connection is overwritten', { skip }, async () => {
  const claims = { 'X-Forwarded-Proto': 'http', Forwarded: 'for=192.0.2.1;proto=http' };
  assert.equal((await send('GET', records, { ...claims, Authorization: basic })).status, 200);
});

test('an item is created and revalidated by its entity tag', { skip }, async () => {
  const content = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';
  const headers = { ...signed('PUT', '/articles/tea'), 'Content-Type': 'application/xml' };
  assert.equal((await send('PUT', '/articles/tea', headers, content)).status, 201);
  const read = await send('GET', '/articles/tea');
  assert.equal(read.text, content);
  const again = await send('GET', '/articles/tea', { 'If-None-Match': read.headers.etag });
  assert.equal(again.status, 304);
});
