import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Quotas } from '../../src/accounts/quota.ts';
import { createManualClock } from '../../src/clock.ts';
import type { Response } from '../../src/http/message.ts';
import { createRequest } from '../../src/http/message.ts';
import { Problem } from '../../src/http/problem.ts';
import { createControllableService } from '../../src/service/service.ts';

import { type Answer, openService } from '../support/service/open-service.ts';

const field = ({ headers: fields }: Response, name: string): string | undefined =>
  fields.find(([known]) => known === name)?.[1];
const readRates = (answer: Answer): [string, string] => [
  answer.field('RateLimit-Policy'),
  answer.field('RateLimit'),
];

test('without a quota, responses have no RateLimit fields', async () => {
  const { ask } = openService();
  assert.deepEqual(readRates(await ask('GET', '/articles', { user: 'ann' })), ['', '']);
});

test('a user who has used up the quota gets 429 with Retry-After until the window ends', async () => {
  const { ask, clock } = openService({ quota: { requests: 2, window: '1h' } });
  const first = await ask('GET', '/articles', { user: 'ann' });
  assert.deepEqual(readRates(first), ['"1h";q=2;w=3600', '"1h";r=1;t=3600']);
  clock.advance(1_500);
  assert.deepEqual(readRates(await ask('GET', '/articles', { user: 'ann' })), [
    '"1h";q=2;w=3600',
    '"1h";r=0;t=3599',
  ]);
  const refused = await ask('GET', '/articles', { user: 'ann', fields: { Accept: 'application/json' } });
  assert.equal(refused.status, 429);
  assert.equal(refused.member('type'), '/problems/quota-exceeded');
  assert.equal(refused.member('violated-policies'), '1h');
  assert.equal(refused.field('Retry-After'), '3599');
  assert.deepEqual(readRates(refused), ['"1h";q=2;w=3600', '"1h";r=0;t=3599']);
  assert.equal((await ask('GET', '/articles', { user: 'bob' })).status, 200);
  clock.advance(3_598_499);
  assert.equal((await ask('GET', '/articles', { user: 'ann' })).status, 429);
  clock.advance(1);
  assert.equal((await ask('GET', '/articles', { user: 'ann' })).status, 200);
});

test('setting the wall clock does not end a window', async () => {
  const { ask, clock } = openService({ quota: '1/1h' });
  assert.equal((await ask('GET', '/articles')).status, 200);
  clock.set(clock.now() + 7_200_000);
  assert.equal((await ask('GET', '/articles')).status, 429);
});

test('each of several policies limits requests, and a refused request uses up none of them', async () => {
  const { ask, clock } = openService({
    quota: [
      { name: 'burst', requests: 1, window: 1 },
      { name: 'daily', requests: 3, window: '1d' },
    ],
  });
  const get = (): Promise<Answer> => ask('GET', '/articles', { user: 'ann' });
  assert.equal((await get()).field('RateLimit'), '"burst";r=0;t=1, "daily";r=2;t=86400');
  assert.equal((await get()).field('RateLimit'), '"burst";r=0;t=1, "daily";r=2;t=86400');
  clock.advance(1000);
  assert.equal((await get()).status, 200);
  clock.advance(1000);
  assert.equal((await get()).status, 200);
  clock.advance(1000);
  const refused = await get();
  assert.equal(refused.field('Retry-After'), '86397');
  assert.match(refused.text, /<violated-policies><i>daily<\/i><\/violated-policies>/);
});

test('a forged request uses up the quota of its address, not that of the user', async () => {
  const { ask } = openService({ quota: '2/1h' });
  const forged = { fields: { Authentication: `hmac ann:${Buffer.alloc(32).toString('base64')}` } };
  assert.equal((await ask('GET', '/articles', forged)).status, 401);
  const again = await ask('GET', '/articles', forged);
  assert.deepEqual([again.status, again.field('RateLimit')], [401, '"1h";r=0;t=3600']);
  assert.equal((await ask('GET', '/articles', forged)).status, 401);
  assert.equal((await ask('GET', '/articles')).status, 429);
  const own = await ask('GET', '/articles', { user: 'ann' });
  assert.deepEqual([own.status, own.field('RateLimit')], [200, '"1h";r=1;t=3600']);
});

test('responses of every status code have the RateLimit fields once, including 304 and problems', async () => {
  const { ask } = openService({ quota: '100/1h' });
  const { service } = openService({ quota: '100/1h' });
  const content = '<article><title>Tea</title><price currency="EUR">1.00</price></article>';
  const created = await ask('POST', '/articles', { user: 'ann', content });
  assert.equal(created.status, 201);
  const found = await ask('GET', '/articles/1');
  const unmodified = await ask('GET', '/articles/1', { fields: { 'If-None-Match': found.field('ETag') } });
  assert.equal(unmodified.status, 304);
  const answers = [
    created,
    found,
    unmodified,
    await ask('OPTIONS', '/articles'),
    await ask('HEAD', '/articles'),
    await ask('GET', '/nothing'),
    await ask('PATCH', '/articles'),
    await ask('GET', '/articles%zz'),
    await ask('DELETE', '/articles/1'),
    await ask('GET', '/articles/1', { fields: { Accept: 'a/b' } }),
  ];
  for (const answer of answers) {
    assert.equal(answer.field('RateLimit-Policy'), '"1h";q=100;w=3600', String(answer.status));
    assert.match(answer.field('RateLimit'), /^"1h";r=[0-9]+;t=3600$/);
  }
  const rejected = await service.respond({
    ...createRequest({ method: 'GET', target: '/' }),
    version: '2.0',
  });
  assert.equal(field(rejected, 'RateLimit'), '"1h";r=99;t=3600');
});

test('the quota of a user replaces that of the service, and replacing the users preserves the counts', async () => {
  const ann = { secret: 'ann-secret', quota: '2/1h' };
  const { ask, service } = openService({
    quota: '1/1h',
    users: { ann, bob: { secret: 'bob-secret', quota: 'none' }, eve: { secret: 'eve-secret' } },
  });
  assert.equal((await ask('GET', '/articles', { user: 'ann' })).field('RateLimit'), '"1h";r=1;t=3600');
  assert.equal((await ask('GET', '/articles', { user: 'bob' })).field('RateLimit'), '');
  assert.equal((await ask('GET', '/articles', { user: 'eve' })).field('RateLimit'), '"1h";r=0;t=3600');
  service.replaceUsers({ ann: { ...ann, quota: '5/1h' }, eve: { secret: 'eve-secret', quota: '1/1h' } });
  assert.equal((await ask('GET', '/articles', { user: 'ann' })).field('RateLimit'), '"1h";r=3;t=3600');
  assert.equal((await ask('GET', '/articles', { user: 'eve' })).status, 429);
});

test('a quota can be added to a user and removed while a service without a quota runs', async () => {
  const { ask, service } = openService();
  service.replaceUsers({ ann: { secret: 'ann-secret', quota: '1/1h' } });
  assert.equal((await ask('GET', '/articles', { user: 'ann' })).field('RateLimit'), '"1h";r=0;t=3600');
  assert.equal((await ask('GET', '/articles')).field('RateLimit'), '');
  assert.equal((await ask('GET', '/articles', { user: 'ann' })).status, 429);
  service.replaceUsers({ ann: { secret: 'ann-secret' } });
  assert.equal((await ask('GET', '/articles', { user: 'ann' })).field('RateLimit'), '');
});

test('behind a trusted proxy, each client address has its own quota', async () => {
  const service = createControllableService({
    quota: '1/1h',
    trustProxy: ['10.0.0.0/8'],
    clock: createManualClock(0),
  });
  const from = async (client: string): Promise<number> => {
    const fields = [['X-Forwarded-For', client]] as const;
    return (
      await service.respond(
        createRequest({ method: 'GET', target: '/articles', peer: '10.0.0.1', headers: fields }),
      )
    ).status;
  };
  assert.deepEqual([await from('192.0.2.1'), await from('192.0.2.2')], [200, 200]);
  assert.deepEqual([await from('192.0.2.1'), await from('192.0.2.2')], [429, 429]);
});

test('the addresses of one IPv6 network share a quota', async () => {
  const service = createControllableService({ quota: '1/1h', clock: createManualClock(0) });
  const from = async (peer: string): Promise<number> =>
    (await service.respond(createRequest({ method: 'GET', target: '/articles', peer }))).status;
  assert.deepEqual([await from('2001:db8::1'), await from('2001:db8::2')], [200, 429]);
  assert.equal(await from('2001:db8:0:1::1'), 200);
});

test('the number of addresses is limited, and the address with the oldest window is dropped first', () => {
  const clock = createManualClock(0);
  const quotas = new Quotas({ quota: '1/1h', clock, max: 2 });
  const take = (peer: string): string => {
    const trace = { principal: undefined, quota: undefined };
    try {
      quotas.take(createRequest({ method: 'GET', target: '/', peer }), trace);
      return 'counted';
    } catch (error) {
      assert.ok(error instanceof Problem);
      return error.type;
    }
  };
  assert.deepEqual(['a', 'b', 'b', 'c', 'b'].map(take), [
    'counted',
    'counted',
    'quota-exceeded',
    'counted',
    'quota-exceeded',
  ]);
  assert.equal(quotas.snapshot().size, 2);
  assert.equal(take('a'), 'counted');
});

test('the rest of a window is whole seconds, whatever fraction of a millisecond the steady clock shows', async () => {
  // Of this time and ten minutes later, the difference of binary fractions is less than ten minutes.
  let steady = 8_107_399.334186;
  const clock = { now: () => 0, steady: () => steady };
  const service = createControllableService({ quota: '2/1h', clock });
  const left = async () => {
    const { headers } = await service.respond(createRequest({ method: 'GET', target: '/articles' }));
    return headers.find(([name]) => name === 'RateLimit')?.[1];
  };
  assert.equal(await left(), '"1h";r=1;t=3600');
  steady += 600_000;
  assert.equal(await left(), '"1h";r=0;t=3000');
});
