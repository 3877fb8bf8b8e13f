// Signatures in several fields, one of which is enough.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { defineScheme } from '../../src/index.ts';
import { keepSecret } from '../support/transcript.ts';

const [secret, other] = ['primary-key-of-box-0001', 'another-key-of-box-0002'];
keepSecret(secret);
const body = '{"trigger":"FILE.UPLOADED"}';
/** The key of a signature in another form. */
const malformed = 'malformed';
const sign = (key: string, text: string): string =>
  key === malformed ? 'none' : createHmac('sha256', key).update(text).digest('base64');

const declared = {
  message: '{body}{timestamp}',
  encoding: 'base64',
  user: 'box',
  timestamp: { field: 'BOX-TIME', unit: 'rfc3339' },
  signature: { field: ['BOX-SIGNATURE-PRIMARY', 'BOX-SIGNATURE-SECONDARY'] },
} as const;

const inCode = defineScheme({
  headers: ['BOX-TIME', 'BOX-SIGNATURE-PRIMARY', 'BOX-SIGNATURE-SECONDARY'],
  needsBody: true,
  nonce: 'off',
  parse: ({ headers }) =>
    ['BOX-SIGNATURE-PRIMARY', 'BOX-SIGNATURE-SECONDARY']
      .filter((name) => headers.has(name))
      .map((name) => ({ user: 'box', signature: headers.get(name), date: headers.get('BOX-TIME') })),
  message: ({ body: content, headers }) => [
    ['body', content],
    ['time', headers.get('BOX-TIME') ?? ''],
  ],
  sign: (message, key) => createHmac('sha256', key).update(message).digest('base64'),
  format: ({ date, signature }) => ({
    headers: { 'BOX-TIME': new Date(date).toISOString(), 'BOX-SIGNATURE-PRIMARY': signature },
  }),
});

async function open(box: NonNullable<DoubleOptions['schemes']>[string]): Promise<Double> {
  const double = await startDouble({ https: false, users: { box: { secret } }, schemes: { box } });
  double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
  after(() => double.close());
  return double;
}

interface Keys {
  readonly primary?: string;
  readonly secondary?: string;
}

/** Sends a request with signatures by these keys. Returns the text of its entry. */
async function send(double: Double, keys: Keys, sent = body, time?: string): Promise<string> {
  await deliver(double, keys, sent, time);
  return String(double.journal.last());
}

/** Sends a request with signatures by these keys. */
async function deliver(
  double: Double,
  keys: Keys,
  sent = body,
  time = new Date(double.clock.now()).toISOString(),
): Promise<void> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'BOX-TIME': time };
  for (const [name, key] of Object.entries(keys))
    headers[`BOX-SIGNATURE-${name.toUpperCase()}`] = sign(key, body + time);
  await double.fetch('/hook', { method: 'POST', headers, body: sent });
}

for (const [what, scheme] of [
  ['a declared scheme', declared],
  ['a scheme in code', inCode],
] as const)
  describe(`one valid signature in several fields of ${what}`, () => {
    for (const [which, keys] of [
      ['in both fields', { primary: secret, secondary: secret }],
      ['in the first one, beside a wrong one', { primary: secret, secondary: other }],
      ['in the second one, behind a wrong one', { primary: other, secondary: secret }],
      ['in the second one, behind a malformed one', { primary: malformed, secondary: secret }],
      ['in the first one alone', { primary: secret }],
      ['in the second one alone', { secondary: secret }],
    ] as const)
      test(`is enough ${which}`, async () => {
        assert.match(await send(await open(scheme), keys), / by box: 204,/);
      });

    test('is required', async () => {
      const double = await open(scheme);
      assert.match(await send(double, { primary: other, secondary: other }), /401, credentials-refused/);
      assert.match(await send(double, {}), /40[01]/);
    });
  });

describe('signatures of two schemes that differ in their field and user', () => {
  const scheme = (name: string, user: string) => ({
    ...declared,
    user,
    signature: { field: `BOX-SIGNATURE-${name}` },
    replay: 'refuse' as const,
  });
  const openTwo = async (schemes?: readonly string[]): Promise<Double> => {
    const double = await startDouble({
      https: false,
      users: { box: { secret }, rotated: { secret: other } },
      schemes: { primary: scheme('PRIMARY', 'box'), secondary: scheme('SECONDARY', 'rotated') },
    });
    double.stub({ method: 'POST', path: '/hook' }, { status: 204 }, schemes === undefined ? {} : { schemes });
    after(() => double.close());
    return double;
  };

  for (const accepted of [undefined, ['primary', 'secondary']] as const)
    test(`need one that is valid where ${accepted === undefined ? 'all schemes are' : 'both are'} accepted`, async () => {
      const double = await openTwo(accepted);
      assert.match(await send(double, { primary: secret, secondary: other }), / by box: 204,/);
      double.clock.advance('1s');
      assert.match(await send(double, { primary: 'wrong', secondary: other }), / by rotated: 204,/);
      double.clock.advance('1s');
      const refused = await send(double, { primary: 'wrong', secondary: 'wrong' });
      assert.match(refused, /401, credentials-refused.*secret is different/s);
    });

  test('are accepted once, each of them', async () => {
    const double = await openTwo();
    const time = new Date(double.clock.now()).toISOString();
    const again = (keys: Keys): Promise<string> => send(double, keys, body, time);
    assert.match(await again({ primary: secret, secondary: other }), / by box: 204,/);
    assert.match(await again({ primary: secret, secondary: other }), /401, nonce-replayed/);
    assert.match(await again({ secondary: other }), /401, nonce-replayed/);
    assert.match(await again({ primary: 'wrong', secondary: other }), /401, nonce-replayed/);
  });

  test('are counted as one failure if none is valid', async () => {
    const double = await openTwo();
    for (let at = 0; at < 99; at += 1) await deliver(double, { primary: 'wrong', secondary: 'wrong' });
    assert.match(await send(double, { primary: secret, secondary: other }), / by box: 204,/);
  });
});

test('a signature in several fields is written into the first one', async () => {
  const double = await open(declared);
  assert.equal(
    (await double.as('box', { scheme: 'box' }).fetch('/hook', { method: 'POST', body })).status,
    204,
  );
  assert.match(JSON.stringify(double.journal.last().request), /BOX-SIGNATURE-PRIMARY/i);
});

test('the fields of a signature are a list of 1 to 16 names', async () => {
  for (const field of [[], ['X-A', 'Authorization'], Array.from({ length: 17 }, (_, at) => `X-${at}`)])
    await assert.rejects(
      startDouble({ schemes: { box: { ...declared, signature: { field } } } }),
      /schemes\.box\.signature\.field/,
    );
});
