import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { createRequest } from '../../src/http/message.ts';
import type { ResponseSigningDeclaration } from '../../src/schemes/scheme-declarations.ts';
import { createControllableService } from '../../src/service/service.ts';

import { publicKey, signingKey } from '../support/schemes/rfc9421.ts';

const tests = join(import.meta.dirname, '..');
const require = createRequire(join(tests, 'package.json'));
const name = 'http-message-signatures';
const skip = existsSync(join(tests, 'node_modules', name))
  ? false
  : `${name} is not installed: npm ci --prefix test`;

interface HttpMessageSignatures {
  createVerifier(key: unknown, algorithm: string): unknown;
  httpbis: {
    verifyMessage(config: object, message: object, request: object): Promise<boolean | null>;
  };
}

const id = 'test-key-ed25519';
const signing = signingKey(id);
if (!('privateKey' in signing)) throw new RangeError('the key is not private');
const privateKey = String(signing.privateKey.export({ type: 'pkcs8', format: 'pem' }));
const declared: ResponseSigningDeclaration = { key: { id, algorithm: 'ed25519', privateKey } };
const seed = { '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] };

function service(signResponses: ResponseSigningDeclaration = declared) {
  return createControllableService({ schemes: { 'message-signatures': { signResponses } }, seed });
}

/** Verifies a response with http-message-signatures. */
async function isVerified(response: Response, method: string, accept: string): Promise<boolean> {
  const { createVerifier, httpbis }: HttpMessageSignatures = require(name);
  const verify = createVerifier(publicKey(id).publicKey, 'ed25519');
  const config = { keyLookup: async () => ({ id, algs: ['ed25519'], verify }) };
  const { status, url } = response;
  const headers = Object.fromEntries(response.headers);
  const request = { method, url, headers: { 'accept-signature': accept } };
  return (await httpbis.verifyMessage(config, { status, headers }, request)) === true;
}

const covered = '"@status" "content-digest" "@method";req "@authority";req "@path";req';
const requests: readonly (readonly [title: string, status: number, accept: string, init: RequestInit])[] = [
  ['a 200', 200, `sig=(${covered} "content-type" "content-length");created`, {}],
  ['a response to HEAD', 200, `sig=(${covered} "content-type" "content-length")`, { method: 'HEAD' }],
  ['a 401', 401, `sig=(${covered} "www-authenticate" "content-length")`, { method: 'DELETE' }],
  ['a 304', 304, `sig=(${covered} "etag")`, { headers: { 'If-None-Match': '*' } }],
  ['a 400', 400, `sig=(${covered})`, { headers: { 'If-None-Match': 'x' } }],
];

for (const [title, status, accept, init] of requests) {
  test(`http-message-signatures verifies ${title} with a signature that the client requested`, {
    skip,
  }, async () => {
    const served = service();
    const { url } = await served.listen({});
    const headers = { 'Accept-Encoding': 'identity', 'Accept-Signature': accept, ...init.headers };
    const response = await fetch(`${url}/articles/1`, { ...init, headers });
    assert.equal(response.status, status);
    assert.equal(await isVerified(response, init.method ?? 'GET', accept), true);
    assert.match(response.headers.get('Vary') ?? '', /Accept-Signature/);
    await served.close();
  });
}

test('a response is unsigned without Accept-Signature or without signResponses', async () => {
  const served = service();
  const plain = createControllableService({ schemes: { 'message-signatures': {} }, seed });
  const target = '/articles/1';
  const asking: [string, string][] = [['Accept-Signature', 'sig=("@status")']];
  const responses = [
    await served.respond(createRequest({ method: 'GET', target })),
    await plain.respond(createRequest({ method: 'GET', target, headers: asking })),
  ];
  for (const { status, headers: fields } of responses) {
    assert.equal(status, 200);
    assert.ok(!fields.some(([field]) => field === 'Signature'));
  }
  await Promise.all([served.close(), plain.close()]);
});

test('with components, every response is signed at the time of the clock, including the first', async () => {
  const clock = createManualClock(Date.UTC(2026, 10, 22, 12));
  const signResponses = { ...declared, components: ['@status', '@path;req'] };
  const served = createControllableService({ clock, schemes: { 'message-signatures': { signResponses } } });
  const { status, headers: fields } = await served.respond(
    createRequest({ method: 'GET', target: '/nowhere' }),
  );
  assert.equal(status, 404);
  const input = fields.find(([field]) => field === 'Signature-Input')?.[1];
  assert.equal(input, `sig1=("@status" "@path";req);created=${clock.now() / 1000};keyid="${id}"`);
  await served.close();
});
