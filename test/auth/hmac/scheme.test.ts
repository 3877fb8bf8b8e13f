import assert from 'node:assert/strict';
import test from 'node:test';
import { createRequest } from '../../../src/http/message.ts';
import { openTestService, signedRequest, start } from '../../support/auth/service.ts';

test('a request without credentials is nobody', async () => {
  assert.equal(await openTestService().verdictOn(createRequest({ method: 'GET', target: '/' })), 'nobody');
});

test('a nonce counts once', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest()), 'ann');
  assert.equal(await service.verdictOn(signedRequest()), 'nonce-replayed');
});

test('of a hundred simultaneous requests with one nonce exactly one passes', async () => {
  const service = openTestService();
  const verdicts = await Promise.all(Array.from({ length: 100 }, () => service.verdictOn(signedRequest())));
  assert.equal(verdicts.filter((verdict) => verdict === 'ann').length, 1);
  assert.equal(verdicts.filter((verdict) => verdict === 'nonce-replayed').length, 99);
});

test('the same nonce from two users passes for both', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest({ user: 'ann' })), 'ann');
  assert.equal(await service.verdictOn(signedRequest({ user: 'bob' })), 'bob');
});

test('the same nonce under a new date is refused', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest()), 'ann');
  assert.equal(await service.verdictOn(signedRequest({ at: start + 5000 })), 'nonce-replayed');
});

test('a wrong digest takes no nonce', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest({ secret: 'guessed' })), 'credentials-refused');
  assert.equal(await service.verdictOn(signedRequest()), 'ann');
});

test('a stale date takes no nonce', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest({ at: start - 601_000 })), 'date-out-of-window');
  service.clock.advance(-601_000);
  assert.equal(await service.verdictOn(signedRequest({ at: start - 601_000 })), 'ann');
});

test('a request dated ahead cannot be sent again at the end of its life', async () => {
  const service = openTestService();
  const ahead = start + 600_000;
  assert.equal(await service.verdictOn(signedRequest({ at: ahead })), 'ann');
  service.clock.advance(19 * 60_000);
  assert.equal(await service.verdictOn(signedRequest({ at: ahead })), 'nonce-replayed');
  service.clock.advance(60_000);
  assert.equal(await service.verdictOn(signedRequest({ at: ahead })), 'nonce-replayed');
  service.clock.advance(1000);
  assert.equal(await service.verdictOn(signedRequest({ at: ahead })), 'date-out-of-window');
});

test('a clock that is set back lets no replay in', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest()), 'ann');
  service.clock.advance(3_600_000);
  assert.equal(await service.verdictOn(signedRequest({ at: start + 3_600_000, nonce: 'other' })), 'ann');
  service.clock.set(start);
  assert.equal(await service.verdictOn(signedRequest()), 'nonces-lost');
});

test('a server that forgot its earlier life takes no date from before the second in which it began', async () => {
  const service = openTestService({ notBefore: start + 700 });
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'same-second' })), 'ann');
  const before = await service.problemWith(signedRequest({ nonce: 'before', at: start - 1000 }));
  assert.deepEqual([before.type, before.status], ['date-out-of-window', 401]);
  service.clock.advance(5000);
  assert.equal(
    await service.verdictOn(signedRequest({ nonce: 'before', at: start - 1000 })),
    'date-out-of-window',
  );
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'after', at: start + 4000 })), 'ann');
});

test('the window is judged to the second, whatever the fraction of the clock', async () => {
  const service = openTestService();
  service.clock.advance(999);
  assert.equal(await service.verdictOn(signedRequest({ at: start - 600_000, nonce: 'a' })), 'ann');
  assert.equal(
    await service.verdictOn(signedRequest({ at: start - 601_000, nonce: 'b' })),
    'date-out-of-window',
  );
  assert.equal(await service.verdictOn(signedRequest({ at: start + 600_000, nonce: 'c' })), 'ann');
  assert.equal(
    await service.verdictOn(signedRequest({ at: start + 601_000, nonce: 'd' })),
    'date-out-of-window',
  );
});

test('who does not hold the secret is told neither that a date is stale nor that a nonce was used', async () => {
  const service = openTestService();
  await service.verdictOn(signedRequest());
  assert.equal(await service.verdictOn(signedRequest({ secret: 'guessed' })), 'credentials-refused');
  assert.equal(
    await service.verdictOn(signedRequest({ secret: 'guessed', at: start - 900_000 })),
    'credentials-refused',
  );
});

test('an unknown user and a wrong secret get the same words', async () => {
  const service = openTestService();
  const unknown = await service.problemWith(signedRequest({ user: 'mallory' }));
  const wrong = await service.problemWith(signedRequest({ secret: 'guessed' }));
  assert.deepEqual(
    [unknown.type, unknown.detail, unknown.members],
    [wrong.type, wrong.detail, wrong.members],
  );
});

test('a bad signature is answered with the challenge of every scheme', async () => {
  const { headers: fields } = await openTestService().problemWith(signedRequest({ secret: 'guessed' }));
  assert.deepEqual(fields, [['WWW-Authenticate', 'hmac realm="test", algorithm="SHA-256"']]);
});

test('during a rotation both secrets are good, and the old one only until its end', async () => {
  const secrets = [{ secret: 'new' }, { secret: 'old', until: start + 60_000 }];
  const service = openTestService({ users: new Map([['ann', { secrets }]]) });
  assert.equal(await service.verdictOn(signedRequest({ secret: 'new', nonce: 'a' })), 'ann');
  assert.equal(await service.verdictOn(signedRequest({ secret: 'old', nonce: 'b' })), 'ann');
  service.clock.advance(60_000);
  assert.equal(await service.verdictOn(signedRequest({ secret: 'old', nonce: 'c' })), 'credentials-refused');
});

test('a disabled user is refused like an unknown one', async () => {
  const service = openTestService({
    users: new Map([['ann', { secrets: [{ secret: 'ann-secret' }], disabled: true }]]),
  });
  assert.equal(await service.verdictOn(signedRequest()), 'credentials-refused');
});

test('the simple form signs what the option lets it sign', async () => {
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

test('a client does not sign what the simple form must not sign', () => {
  for (const target of ['/a+29feb202412:00:00+n1', '/a+sha-256=:AAAA:']) {
    assert.throws(() => signedRequest({ form: 'simple', target }), {
      name: 'RangeError',
      message: /simple form/,
    });
    assert.equal(signedRequest({ target }).target, target);
  }
});

test('content without a signed digest is refused where digests are required', async () => {
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

test('when no more nonces can be kept, nothing passes and nothing old is forgotten', async () => {
  const service = openTestService({ maxNonces: 1 });
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'a' })), 'ann');
  const problem = await service.problemWith(signedRequest({ nonce: 'b' }));
  assert.equal(problem.type, 'full');
  assert.deepEqual(problem.headers, [['Retry-After', '600']]);
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'a' })), 'nonce-replayed');
});

test('a user who has as many nonces as one may have is refused until the first expire, and nobody else is', async () => {
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

test('whether a user has used up nonces is said only to those who hold the secret', async () => {
  const service = openTestService({ maxNonces: 100, maxNoncesPerUser: 1 });
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'a' })), 'ann');
  assert.equal(
    await service.verdictOn(signedRequest({ nonce: 'b', secret: 'guessed' })),
    'credentials-refused',
  );
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'b', at: 0 })), 'date-out-of-window');
});

test('two sets of credentials are refused, wherever they stand', async () => {
  const service = openTestService();
  for (const name of ['Authorization', 'Authentication', 'authorization']) {
    const problem = await service.problemWith(signedRequest({ fields: [[name, 'hmac ann:x']] }));
    assert.equal(problem.type, 'several-credentials');
  }
});

test('credentials for TLS are not read over plain HTTP', async () => {
  const service = openTestService();
  for (const value of ['Basic YW5uOnB3', 'Bearer abc', 'OAuth oauth_token="x"', 'basic !!not even base64']) {
    const request = createRequest({ method: 'GET', target: '/', headers: [['Authorization', value]] });
    assert.equal(await service.verdictOn(request), 'tls-required');
  }
});

test('a scheme that is not offered is answered with those that are', async () => {
  const service = openTestService();
  const request = createRequest({
    method: 'GET',
    target: '/',
    headers: [['Authorization', 'Negotiate abc']],
  });
  const problem = await service.problemWith(request);
  assert.equal(problem.type, 'scheme-not-offered');
  assert.match(String(problem.headers[0]?.[1]), /^hmac /);
});

test('Authentication carries no scheme but hmac', async () => {
  const request = createRequest({
    method: 'GET',
    target: '/',
    headers: [['Authentication', 'Digest x="y"']],
  });
  assert.equal(await openTestService().verdictOn(request), 'malformed-credentials');
});

test('after too many failures a peer is not listened to until the minute is over', async () => {
  const service = openTestService({ limit: 2 });
  for (const nonce of ['a', 'b']) {
    assert.equal(await service.verdictOn(signedRequest({ secret: 'guessed', nonce })), 'credentials-refused');
  }
  const problem = await service.problemWith(signedRequest({ nonce: 'c' }));
  assert.equal(problem.type, 'too-many-failures');
  assert.deepEqual(problem.headers, [['Retry-After', '60']]);
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'd', peer: '127.0.0.2' })), 'ann');
  service.clock.advance(60_000);
  assert.equal(await service.verdictOn(signedRequest({ nonce: 'e' })), 'ann');
});

test('a user who is attacked from many peers still gets in with the right secret', async () => {
  const service = openTestService({ limit: 2 });
  const attack = (peer: string) => service.verdictOn(signedRequest({ secret: 'guessed', peer }));
  assert.deepEqual(
    await Promise.all(['127.0.0.2', '127.0.0.3'].map(attack)),
    Array(2).fill('credentials-refused'),
  );
  assert.equal(await attack('127.0.0.4'), 'too-many-failures');
  assert.equal(await service.verdictOn(signedRequest({ peer: '127.0.0.5' })), 'ann');
});

test('malformed credentials count as a failure of their peer, and of no user', async () => {
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

test('a nonce is forgotten when no date inside the window could carry it again', async () => {
  const service = openTestService();
  assert.equal(await service.verdictOn(signedRequest()), 'ann');
  service.clock.advance(25 * 60_000);
  assert.equal(await service.verdictOn(signedRequest({ at: start + 25 * 60_000 })), 'ann');
});
