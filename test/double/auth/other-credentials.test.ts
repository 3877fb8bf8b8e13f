import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

const secret = 's3cret-of-ann';
const users = { ann: { secret, password: 'pw of ann' } };

test('of three API keys the one that the route accepts is verified', async () => {
  const schemes = {
    first: { secret: { field: 'X-First' } },
    second: { secret: { query: 'second' } },
    third: { secret: { cookie: 'third' } },
  };
  await using double = await startDouble({ users, schemes, maxAuthFailures: 1 });
  const ask = async (values: Readonly<Record<keyof typeof schemes, string>>): Promise<number> => {
    const headers = { 'X-First': values.first, Cookie: `third=${values.third}`, Authorization: 'Bearer x' };
    return (await double.fetch(`${double.secureUrl}/keys?second=${values.second}`, { headers })).status;
  };
  const wrong = { first: 'wrong', second: 'wrong', third: 'wrong' };
  double.stub({ path: '/keys' }, { status: 204 });
  assert.equal(await ask({ ...wrong, first: secret }), 400, 'without schemes, they are several');
  double.clock.advance('60s');
  for (const name of ['first', 'second', 'third'] as const) {
    double.stub({ path: '/keys' }, { status: 204 }, { schemes: [name] });
    assert.equal(await ask({ ...wrong, [name]: secret }), 204, name);
  }
});

test('wrong signatures in the content for a user are limited, whichever place names the user', async () => {
  const signature = { form: 'sig' };
  const base = { message: '{timestamp}', timestamp: { field: 'X-Timestamp' }, signature } as const;
  const schemes = {
    fixed: { ...base, user: 'ann' },
    named: { ...base, user: { form: 'merchant' } },
  };
  for (const scheme of ['fixed', 'named'] as const) {
    await using double = await startDouble({
      users,
      schemes: { [scheme]: schemes[scheme] },
      maxAuthFailures: 3,
      now: '2026-03-01T12:00:00Z', // a minute of a clock that runs could end between the failures
    });
    double.stub({ method: 'POST', path: '/pay' }, { status: 204 });
    const post = async (key: string): Promise<number> => {
      const timestamp = String(Math.floor(double.clock.now() / 1000));
      const sig = createHmac('sha256', key).update(timestamp).digest('hex');
      const body = new URLSearchParams({ merchant: 'ann', amount: '5', sig });
      return (await double.fetch('/pay', { method: 'POST', body, headers: { 'X-Timestamp': timestamp } }))
        .status;
    };
    assert.equal(await post(secret), 204, scheme);
    for (let sent = 0; sent < 4; sent += 1) await post('wrong');
    double.clock.advance('1s');
    assert.equal(await post(secret), 429, scheme);
    double.clock.advance('60s');
    assert.equal(await post(secret), 204, scheme);
  }
});

test('Vary names Cookie and the fields of API keys', async () => {
  const schemes = { own: { secret: { cookie: 'session' } }, other: { secret: { field: 'X-Own-Key' } } };
  await using double = await startDouble({ users, schemes });
  double.stub({ path: '/a' }, { body: {} }, { access: 'anyone' });
  for (const path of ['/a', '/articles', '/none']) {
    const vary = (await double.fetch(path)).headers.get('vary') ?? '';
    assert.match(vary, /Cookie/, path);
    assert.match(vary, /x-own-key/i, path);
  }
});
