// The explanation of a refusal is made when its entry is read, from what was known when the request was refused.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { defineScheme } from '../../../src/index.ts';

const secret = 'the-secret-of-ann-with-32-letters';
const hexOf = (key: string, message: string): string =>
  createHmac('sha256', key).update(message).digest('hex');

async function open(context: TestContext, options: DoubleOptions): Promise<Double> {
  const double = await startDouble({ https: false, users: { ann: { secret } }, ...options });
  context.after(() => double.close());
  return double;
}

/** A scheme in code that signs the method, and the number of signatures that it computed. */
function createCountedScheme() {
  const count = { signatures: 0 };
  const scheme = defineScheme({
    headers: ['X-Counted'],
    parse: ({ headers }) => ({ user: 'ann', signature: headers.get('X-Counted') }),
    message: ({ method }) => [['method', method]],
    sign(message, key) {
      count.signatures += 1;
      // No HMAC of its own, so that every try calls this function.
      return `v1=${createHmac('sha256', key).update(message).digest('hex')}`;
    },
    format: ({ signature }) => ({ headers: { 'X-Counted': signature } }),
  });
  return { scheme, count };
}

/** A double with a declared scheme over the target and the content, and a function that posts to it. */
async function openDeclared(context: TestContext, options: DoubleOptions = {}) {
  const schemes = { hook: { message: '{target} {body}', user: 'ann', signature: { field: 'X-Sig' } } };
  const double = await open(context, { strictQuery: false, ...options, schemes });
  double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
  const post = (content: string, signed: string, key = secret): Promise<Response> =>
    double.fetch('/hook?page=2', {
      method: 'POST',
      body: content,
      headers: { 'X-Sig': hexOf(key, signed), 'Content-Type': 'application/json' },
    });
  return { double, post };
}

test('a refusal whose entry nobody reads tries no mistakes, and one that is read tries them once', async (context) => {
  const { scheme, count } = createCountedScheme();
  const double = await open(context, { schemes: { counted: scheme } });
  const heard: number[] = [];
  double.on('request', ({ number }) => heard.push(number));
  const refused = async (): Promise<number> => {
    const before = count.signatures;
    const headers = { 'X-Counted': `v1=${hexOf(secret, 'get')}` };
    assert.equal((await double.fetch('/articles', { headers })).status, 401);
    return count.signatures - before;
  };
  await refused();
  assert.equal(await refused(), 2, 'only the verification computes signatures, with two keys');
  const verified = count.signatures;
  const entry = double.journal.last({ status: 401, problem: 'credentials-refused', user: 'ann' });
  assert.equal(entry.problem?.type, 'credentials-refused');
  assert.equal(double.journal.all({ path: '/articles' }).length, 2);
  assert.equal(count.signatures, verified, 'members that are no explanation make none');
  assert.equal(entry.auth?.hint, 'the method was signed in lower case');
  const tried = count.signatures;
  assert.ok(tried > verified);
  assert.match(String(entry), /signed in lower case/);
  assert.match(JSON.stringify(entry), /signed in lower case/);
  assert.equal(count.signatures, tried, 'the explanation was made once');
  assert.deepEqual(heard, [1, 2]);
});

test('with explain: true, the response contains the hint', async (context) => {
  const { double, post } = await openDeclared(context, { explain: true });
  assert.match(await (await post('{}', '/hook {}')).text(), /the query was left out/);
  assert.equal(double.journal.last().auth?.hint, 'the query was left out');
});

test('a hint depends on nothing that happens after the request', async (context) => {
  const { double, post } = await openDeclared(context, { now: '2026-03-01T12:00:00Z' });
  const later = 'the secret that ann has later';
  const hints = ['the target was left out of the message', 'a line feed was signed at the end'];
  const saved = double.snapshot();
  await post('{}', '{}');
  await post('{}', '/hook?page=2 {}\n');
  await post('{}', '/hook?page=2 {}', later);
  const [first, second, third] = double.journal.all();
  double.auth.rotateSecret('ann', { secret: later });
  double.clock.advance('2d');
  double.restore(saved);
  double.reset();
  assert.ok(first?.auth?.hint?.includes(hints[0] ?? '-'), first?.auth?.hint);
  assert.ok(second?.auth?.hint?.includes(hints[1] ?? '-'), second?.auth?.hint);
  assert.match(third?.auth?.hint ?? '', /the secret is different/);
});

test('an entry that was not read shows no secret', async (context) => {
  const { double, post } = await openDeclared(context);
  await post('{}', '{}');
  const entry = double.journal.last();
  const shown = inspect(entry, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  assert.ok(!shown.includes(secret));
  assert.ok(!JSON.stringify(entry).includes(secret));
  assert.match(shown, /hint: 'the target was left out/);
});

for (const size of [2_000, 23_600, 60_000, 500_000])
  test(`the usual mistakes in content of ${size} bytes are named`, async (context) => {
    const { double, post } = await openDeclared(context);
    const items = Array.from({ length: size / 50 }, (_, id) => ({ id, url: 'https://api.example/x' }));
    const value = { action: 'opened', items };
    const content = JSON.stringify(value, null, 1);
    for (const [signed, hint] of [
      [JSON.stringify(value), /serialized again/],
      [JSON.stringify(value, null, 2), /serialized again/],
      [`${content}\n`, /line feed was signed at the end/],
    ] as const) {
      await post(content, `/hook?page=2 ${signed}`);
      assert.match(double.journal.last().auth?.hint ?? '', hint);
    }
  });

test('the hint names the size of content for which no mistakes were tried', async (context) => {
  const { double, post } = await openDeclared(context, {
    limits: { body: 4_000_000, unverifiedContent: 4_000_000 },
  });
  const content = JSON.stringify('x'.repeat(2_000_000));
  await post(content, `/hook?page=2 ${content}\n`);
  const hint = double.journal.last().auth?.hint ?? '';
  assert.equal(
    hint,
    'the secret is different, or the message differs; the usual mistakes were not tried: the content has 2 MB',
  );
});

test('a signature that is too long or too short for RSA is refused without a verification', async (context) => {
  let verified = 0;
  const scheme = defineScheme({
    headers: ['X-Key', 'X-Sig'],
    algorithms: ['rsa-v1_5-sha256'],
    parse: ({ headers }) => ({ user: headers.get('X-Key'), signature: headers.get('X-Sig') }),
    message: ({ method }) => [['method', method]],
    sign: () => '',
    verify() {
      verified += 1;
      return false;
    },
    format: ({ user, signature }) => ({ headers: { 'X-Key': user, 'X-Sig': signature } }),
  });
  const double = await open(context, { schemes: { rsa: scheme } });
  const rows = { 128: 0, 255: 0, 256: 2, 384: 2, 512: 2, 513: 0, 2048: 0 };
  for (const [length, expected] of Object.entries(rows))
    for (const user of ['ann', 'nobody']) {
      verified = 0;
      const headers = { 'X-Key': user, 'X-Sig': Buffer.alloc(Number(length), 7).toString('base64') };
      assert.equal((await double.fetch('/articles', { headers })).status, 401);
      assert.equal(verified, expected, `${user}, ${length} bytes`);
    }
});
