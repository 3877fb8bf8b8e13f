import assert from 'node:assert/strict';
import test from 'node:test';
import { type Attempt, adversary, attack, hmacSigner, startDouble } from '../../../src/double/index.ts';
import { createConsole } from '../../support/double/control-client.ts';

const article = '<article><title>Tea</title><price currency="EUR">1.00</price></article>';
const headers = [['Content-Type', 'application/xml']];

test('the attempts are those that the library makes, and a double holds against all of them', async () => {
  await using double = await startDouble({ users: { ann: { secret: 's3cret', password: 'pw' }, bob: {} } });
  const control = createConsole(await double.openControl());
  const request = { method: 'PUT', url: `${double.url}/articles/tea`, headers, body: article };
  const signer = { scheme: 'hmac', user: 'ann', bodyDigest: true };
  const { attempts } = await control.send('POST', '/adversary', { request, signer, otherUser: 'bob' });
  const made = adversary(
    { ...request, headers: { 'Content-Type': 'application/xml' } },
    hmacSigner({ user: 'ann', secret: 's3cret', bodyDigest: true }),
    { clock: double.clock, otherUser: 'bob' },
  );
  const named = (list: readonly Pick<Attempt, 'name' | 'expected' | 'together'>[]): unknown =>
    list.map(({ name, expected, together }) => [name, expected, together]);
  assert.deepEqual(named(attempts), named(made));
  // As JSON has them, they do the same.
  const sent = attempts.map((each: { requests: { base64?: string }[] }) => {
    const requests = each.requests.map(({ base64, ...rest }) => ({
      ...rest,
      ...(base64 !== undefined && { body: Buffer.from(base64, 'base64') }),
    }));
    return { ...each, requests, request: requests.at(-1) };
  });
  const report = await attack(double, sent);
  assert.ok(report.held, String(report));
  assert.equal(report.results.length, made.length);
});

for (const [scheme, more] of Object.entries({
  basic: { user: 'ann' },
  bearer: { token: 'a-token' },
  oauth1: { consumer: 'printer', secret: 'x', token: 't', tokenSecret: 'y' },
})) {
  test(`attempts are made for ${scheme}, of bytes too`, async () => {
    await using double = await startDouble({ users: ['ann'], https: false });
    const control = createConsole(await double.openControl());
    const request = { method: 'POST', url: 'https://partner.example/x', base64: '/wA=' };
    const { attempts } = await control.send('POST', '/adversary', { request, signer: { scheme, ...more } });
    assert.ok(attempts.length > 10);
    assert.ok(attempts.every(({ requests }: { requests: unknown[] }) => requests.length > 0));
    assert.equal(attempts[0].requests[0].base64, '/wA=');
  });
}

test('what cannot be signed is refused with its place', async () => {
  await using double = await startDouble({ users: ['ann'], https: false });
  const control = createConsole(await double.openControl());
  const request = { url: 'https://partner.example/' };
  const cases: readonly [content: object, field: string | undefined][] = [
    [{ request, signer: { scheme: 'hmac' } }, 'signer.user'],
    [{ request, signer: { scheme: 'bearer' } }, 'signer.token'],
    [{ request, signer: { scheme: 'oauth1', consumer: 'c', secret: 's', token: 't' } }, 'signer.tokenSecret'],
    [{ request, signer: { scheme: 'digest' } }, 'signer.scheme'],
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
