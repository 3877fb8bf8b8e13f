import assert from 'node:assert/strict';
import test from 'node:test';
import { createRequest } from '../../../src/http/message.ts';
import { openTestService, signedRequest, start } from '../../support/schemes/clients/service.ts';

test('a request with a stale date does not claim its nonce', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest({ at: start - 601_000 })), 'date-out-of-window');
  service.clock.advance(-601_000);
  assert.equal(await service.verdictOn(signedRequest({ at: start - 601_000 })), 'ann');
});

test('setting the clock back allows no replay', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest()), 'ann');
  service.clock.advance(3_600_000);
  assert.equal(await service.verdictOn(signedRequest({ at: start + 3_600_000, nonce: 'other' })), 'ann');
  service.clock.set(start);
  assert.equal(await service.verdictOn(signedRequest()), 'nonces-lost');
});

test('the option simple determines which requests may use the simple form', async () => {
  const get = () => signedRequest({ form: 'simple' });
  const put = () => signedRequest({ form: 'simple', method: 'PUT', target: '/articles/1' });
  const verdicts = async (simple: 'safe' | 'all' | 'off') => {
    const service = openTestService({ simple });
    return [await service.verdictOn(get()), await service.verdictOn(get()), await service.verdictOn(put())];
  };
  assert.deepEqual(await verdicts('safe'), ['ann', 'ann', 'simple-form-refused']);
  assert.deepEqual(await verdicts('all'), ['ann', 'ann', 'ann']);
  assert.deepEqual(await verdicts('off'), [
    'simple-form-refused',
    'simple-form-refused',
    'simple-form-refused',
  ]);
});

test('signing in the simple form rejects a target that looks like the full form', () => {
  for (const target of ['/a+29feb202412:00:00+n1', '/a+sha-256=:AAAA:']) {
    assert.throws(() => signedRequest({ form: 'simple', target }), {
      name: 'RangeError',
      message: /simple form/,
    });
    assert.equal(signedRequest({ target }).target, target);
  }
});

test('content without a signed digest is refused if digests are required', async () => {
  const service = openTestService({ requireBodyDigest: true });
  const bare = createRequest({
    method: 'PUT',
    target: '/articles/1',
    body: '<article/>',
    headers: Object.entries({
      Authentication: `hmac ann:n1:${'A'.repeat(43)}=`,
      Date: '29 feb 2024 12:00:00',
    }),
  });
  assert.equal(await service.verdictOn(bare), 'digest-required');
  assert.equal(
    await service.verdictOn(signedRequest({ method: 'PUT', target: '/articles/1', content: '<article/>' })),
    'ann',
  );
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'n2' })), 'ann');
});

test('requests are refused when the store of nonces is full, and no stored nonce is forgotten', async () => {
  const service = openTestService({ maxNonces: 1 });
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'a' })), 'ann');
  const problem = await service.problemWith(signedRequest({ nonce: 'b' }));
  assert.equal(problem.type, 'full');
  assert.deepEqual(problem.headers, [['Retry-After', '600']]);
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'a' })), 'nonce-replayed');
});

test('a user with the maximum of nonces is refused until the first expires, and other users are not', async () => {
  const service = openTestService({ maxNonces: 100, maxNoncesPerUser: 2 });
  for (const nonce of ['a', 'b']) assert.equal(await service.verdictOn(signedRequest({ nonce })), 'ann');
  const problem = await service.problemWith(signedRequest({ nonce: 'c' }));
  assert.deepEqual([problem.type, problem.status], ['too-many-nonces', 429]);
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'a' })), 'nonce-replayed');
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'c', user: 'bob' })), 'bob');
  const [[name, seconds] = []] = problem.headers;
  assert.equal(name, 'Retry-After');
  const wait = Number(seconds) * 1000;
  service.clock.advance(wait - 1000);
  assert.equal(
    await service.verdictOn(signedRequest({ nonce: 'c', at: start + wait - 1000 })),
    'too-many-nonces',
  );
  service.clock.advance(1000);
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'c', at: start + wait })), 'ann');
});

test('malformed credentials count as a failure of the peer, and not of the user', async () => {
  const service = openTestService({ limit: 2 });
  const malformed = (peer: string) =>
    createRequest({ method: 'GET', target: '/', headers: [['Authorization', 'hmac ann:nonsense']], peer });
  for (const expected of ['malformed-credentials', 'malformed-credentials', 'too-many-failures'])
    assert.equal(await service.verdictOn(malformed('127.0.0.2')), expected);
  assert.equal(await service.verdictOn(signedRequest({ peer: '127.0.0.2' })), 'too-many-failures');
  assert.equal(
    await service.verdictOn(signedRequest({ secret: 'wrong', peer: '127.0.0.3' })),
    'credentials-refused',
  );
  assert.equal(await service.verdictOn(signedRequest({ peer: '127.0.0.4' })), 'ann');
});
