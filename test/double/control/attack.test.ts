import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { type Attempt, attack, createAttempts, createSigner } from '../../../src/attack/index.ts';
import { startDouble } from '../../../src/double/index.ts';
import { createConsole } from '../../support/double/control-client.ts';

const article = '<article><title>Tea</title><price currency="EUR">1.00</price></article>';
const headers = [['Content-Type', 'application/xml']];

type Json = Omit<Attempt, 'requests' | 'request'> & {
  readonly requests: readonly (Attempt['request'] & { readonly base64?: string })[];
};

/** Returns an attempt as the library makes it. */
function fromJson(attempt: Json): Attempt {
  const requests = attempt.requests.map(({ base64, ...rest }) => ({
    ...rest,
    ...(base64 !== undefined && { body: Buffer.from(base64, 'base64') }),
  }));
  return { ...attempt, requests, request: requests.at(-1) ?? assert.fail() };
}

test('the control interface returns the attempts of the library, and a double passes all of them', async () => {
  await using double = await startDouble({ users: { ann: { secret: 's3cret', password: 'pw' }, bob: {} } });
  const control = createConsole(await double.openControl());
  const request = { method: 'PUT', url: `${double.url}/articles/tea`, headers, body: article };
  const signer = { scheme: 'hmac', user: 'ann', signBody: true };
  const { attempts } = await control.send('POST', '/adversary', { request, signer, otherUser: 'bob' });
  const made = createAttempts(
    { ...request, headers: { 'Content-Type': 'application/xml' } },
    createSigner({ user: 'ann', secret: 's3cret', signBody: true }),
    { clock: double.clock, otherUser: 'bob' },
  );
  const named = (list: readonly Pick<Attempt, 'name' | 'expected' | 'together'>[]): unknown =>
    list.map(({ name, expected, together }) => [name, expected, together]);
  assert.deepEqual(named(attempts), named(made));
  // As JSON has them, they do the same.
  const report = await attack(double, attempts.map(fromJson));
  assert.ok(report.passed, String(report));
  assert.equal(report.results.length, made.length);
});

const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const apiKey = { user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } };

for (const [scheme, more] of Object.entries({
  basic: { user: 'ann' },
  bearer: { token: 'a-token' },
  oauth1: { client: 'printer', secret: 'x', token: 't', tokenSecret: 'y' },
  aws4: { user: 'ann', declaration: { region: 'eu-central-1', service: 's3' }, presign: 60 },
  'message-signatures': { user: 'ann', keyId: 'key-1', privateKey: pem },
  declared: { user: 'ann', declaration: { preset: 'stripe', user: 'ann' } },
  'api-key': { user: 'ann', secret: 'x', declaration: apiKey },
})) {
  test(`attempts are created for ${scheme}, also with binary content`, async () => {
    await using double = await startDouble({ users: ['ann'], https: false });
    const control = createConsole(await double.openControl());
    const request = { method: 'POST', url: 'https://partner.example/x', base64: '/wA=' };
    const { attempts } = await control.send('POST', '/adversary', { request, signer: { scheme, ...more } });
    assert.ok(attempts.length > 10);
    assert.ok(attempts.every(({ requests }: { requests: unknown[] }) => requests.length > 0));
    assert.equal(attempts[0].requests[0].base64, '/wA=');
  });
}

test('a request that cannot be signed is rejected with 422 and the field', async () => {
  await using double = await startDouble({ users: ['ann'], https: false });
  const control = createConsole(await double.openControl());
  const request = { url: 'https://partner.example/' };
  const messages = { scheme: 'message-signatures', user: 'ann' };
  const cases: readonly [content: object, field: string | undefined][] = [
    [{ request, signer: { scheme: 'hmac' } }, 'signer.user'],
    [{ request, signer: { scheme: 'bearer' } }, 'signer.token'],
    [{ request, signer: { scheme: 'oauth1', client: 'c', secret: 's', token: 't' } }, 'signer.tokenSecret'],
    [{ request, signer: { scheme: 'digest' } }, 'signer.scheme'],
    [{ request, signer: { scheme: 'message-signatures' } }, 'signer.user'],
    [{ request, signer: { ...messages, privateKey: pem, presign: 60 } }, undefined],
    [{ request, signer: { ...messages, privateKey: 'x', algorithm: 'ed25519' } }, 'signer.privateKey'],
    [{ request, signer: { ...messages, declaration: { window: 'x' } } }, 'signer.declaration'],
    ...['aws4', 'declared', 'api-key'].map((scheme): [object, string] => [
      { request, signer: { scheme, user: 'ann' } },
      'signer.declaration',
    ]),
    [{ request, signer: { scheme: 'hmac', user: 'nobody' } }, undefined],
    [{ request: { url: '/x' }, signer: { scheme: 'hmac', user: 'ann' } }, undefined],
    ...[['a'], ['a', 'b', 'c']].map((line): [object, string] => [
      { request: { ...request, headers: [line] }, signer: { scheme: 'hmac', user: 'ann' } },
      'request.headers',
    ]),
    [{ request: { ...request, base64: 'x' }, signer: { scheme: 'hmac', user: 'ann' } }, 'request.base64'],
  ];
  for (const [content, field] of cases) {
    const problem = await control.refused(422, 'POST', '/adversary', content);
    assert.equal(problem['field'], field, JSON.stringify(problem));
  }
});
