import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { defineScheme, type Scheme } from '../../../src/index.ts';

const start = Date.UTC(2026, 10, 22, 12);
const secret = 'a secret of ann';

/** Opens a double whose only scheme is this one, with a resource of the users. */
async function open(context: TestContext, scheme: Scheme): Promise<Double> {
  const double = await startDouble({
    https: false,
    now: start,
    users: { ann: { secret } },
    schemes: { scheme },
  });
  context.after(() => double.close());
  double.stub({ path: '/a' }, { body: {} });
  return double;
}

/** Signs a request with times (ms) and a nonce that the client chose, and returns the type of the answer. */
async function send(double: Double, times: Readonly<Record<string, string>>): Promise<string> {
  const message = `GET größer ${JSON.stringify(times)}`;
  const signature = createHmac('sha256', secret).update(message).digest('hex');
  await double.fetch('/a', { headers: { 'X-Key': 'ann', 'X-Sig': signature, ...times } });
  return double.journal.last()?.problem?.type ?? 'accepted';
}

interface Fields {
  readonly date?: string;
  readonly expires?: string;
  readonly nonce?: string;
}

/** Returns a nonce as it was sent, a date as one, and an expiry as a number. */
function readMember(member: string, value: string | undefined): string | number | Date | undefined {
  if (member === 'nonce') return value;
  return member === 'date' ? new Date(Number(value)) : Number(value);
}

/** A scheme whose times and nonce are in fields that `format` does not write: requests of others are verified only. */
function verifying(fields: Fields, replay: 'accept' | 'refuse' = 'accept'): Scheme {
  const named = Object.entries(fields);
  return defineScheme({
    headers: ['X-Key', 'X-Sig', ...named.map(([, name]) => name)],
    replay,
    nonce: fields.nonce === undefined ? 'off' : 'required',
    parse: ({ headers }) => ({
      user: headers.get('X-Key'),
      signature: headers.get('X-Sig'),
      ...Object.fromEntries(named.map(([member, name]) => [member, readMember(member, headers.get(name))])),
    }),
    message: ({ method, headers }) => [
      ['method', method],
      ['', ' größer '],
      ['times', JSON.stringify(Object.fromEntries(named.map(([, name]) => [name, headers.get(name) ?? ''])))],
    ],
    join: (parts) => parts.map(([, value]) => String(value)).join(''),
    sign: (message, key) => createHmac('sha256', key).update(message).digest('hex'),
    format: () => ({ headers: {} }),
  });
}

test('a date that format does not write has the usual window', async (context) => {
  const double = await open(context, verifying({ date: 'X-Time' }));
  const times = { 'X-Time': String(start) };
  for (const [advance, expected] of [
    ['4m', 'accepted'],
    ['1m', 'accepted'],
    ['1s', 'date-out-of-window'],
    ['1h', 'date-out-of-window'],
  ] as const) {
    double.clock.advance(advance);
    assert.equal(await send(double, times), expected, advance);
  }
});

test('a signature without a date is refused after its expiry, and explained', async (context) => {
  const double = await open(context, verifying({ expires: 'X-Expires' }));
  const times = { 'X-Expires': String(start + 3_600_000) };
  assert.equal(await send(double, times), 'accepted');
  double.clock.advance('1h');
  assert.equal(await send(double, times), 'accepted', 'the expiry itself');
  double.clock.advance('1s');
  assert.equal(await send(double, times), 'date-out-of-window');
  assert.match(double.journal.last()?.problem?.detail ?? '', /^The signature expired 1 s ago\.$/);
  assert.match(double.journal.last()?.auth?.hint ?? '', /lifetime is over/);
});

test('a signature with a date and an expiry is refused after either', async (context) => {
  const double = await open(context, verifying({ date: 'X-Time', expires: 'X-Expires' }));
  const dated = (expires: number) => ({ 'X-Time': String(start), 'X-Expires': String(expires) });
  double.clock.advance('2m');
  assert.equal(await send(double, dated(start + 60_000)), 'date-out-of-window', 'expired within the window');
  assert.equal(await send(double, dated(start + 7_200_000)), 'accepted');
  double.clock.advance('4m');
  assert.equal(await send(double, dated(start + 7_200_000)), 'date-out-of-window', 'the window still counts');
});

for (const [what, fields, replay] of [
  ['a nonce', { expires: 'X-Expires', nonce: 'X-Nonce' }, 'accept'],
  ['a message that is accepted once', { expires: 'X-Expires' }, 'refuse'],
] as const)
  test(`${what} without a date is remembered until the signature expires`, async (context) => {
    const double = await open(context, verifying(fields, replay));
    const nonce = replay === 'accept' ? { 'X-Nonce': 'n-1' } : {};
    const times = { 'X-Expires': String(start + 3 * 86_400_000), ...nonce };
    assert.equal(await send(double, times), 'accepted');
    for (const advance of ['1d', '1d', '23h'] as const) {
      double.clock.advance(advance);
      assert.equal(await send(double, times), 'nonce-replayed', advance);
    }
    double.clock.advance('2h');
    assert.equal(await send(double, times), 'date-out-of-window');
  });

test('a time beyond what a Date can hold cannot be read', async (context) => {
  const double = await open(context, verifying({ expires: 'X-Expires' }));
  assert.equal(await send(double, { 'X-Expires': '1e300' }), 'malformed-credentials');
});
