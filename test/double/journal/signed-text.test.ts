import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { type Double, explainSignature, startDouble } from '../../../src/double/index.ts';

const secret = 'the secret of ann';
const body = '{"id":7,"total":12.5}';
const declared = {
  message: '{method}\n{target}\n{timestamp}.{body}',
  signature: { field: 'X-Sig' },
  user: { field: 'X-User' },
  timestamp: { field: 'X-Time', unit: 's', window: 300 },
} as const;

async function open(t: TestContext): Promise<Double> {
  const double = await startDouble({
    https: false,
    now: '2026-03-01T12:00:00Z',
    users: { ann: { secret, keys: { AKIDANN: { algorithm: 'aws4', secret: 'the AWS secret of ann' } } } },
    schemes: { own: declared, aws4: { region: 'eu-west-1', service: 'execute-api' } },
  });
  double.stub({ path: '/orders' }, { status: 204 });
  t.after(() => double.close());
  return double;
}

const time = String(Date.parse('2026-03-01T12:00:00Z') / 1000);
const message = `POST\n/orders?a=1&b=2\n${time}.${body}`;

/** Sends an order with the signature of a text, and returns the entry. */
async function send(double: Double, signed: string, key = secret) {
  await double.fetch('/orders?a=1&b=2', {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-User': 'ann',
      'X-Time': time,
      'X-Sig': createHmac('sha256', key).update(signed).digest('hex'),
    },
  });
  return double.journal.last();
}

test('the entry of a wrong signature has the whole message that was expected', async (t) => {
  const double = await open(t);
  const entry = await send(double, 'something else');
  assert.equal(entry.expected, message);
  assert.equal(entry.auth?.expected, message);
});

const logged: readonly (readonly [what: string, signed: string, differs: string, value: string])[] = [
  ['another method', message.replace('POST', 'post'), 'method', 'post'],
  ['a target without its query', message.replace('?a=1&b=2', ''), 'target', '/orders'],
  ['parameters in another order', message.replace('a=1&b=2', 'b=2&a=1'), 'target', '/orders?b=2&a=1'],
  ['milliseconds', message.replace(time, `${time}000`), 'timestamp', `${time}000`],
  [
    'content that was serialized again',
    message.replace('12.5', '12.50'),
    'body',
    body.replace('12.5', '12.50'),
  ],
  ['no content', message.replace(body, ''), 'body', ''],
];
for (const [what, signed, differs, value] of logged)
  test(`a logged text with ${what} is compared part by part`, async (t) => {
    const double = await open(t);
    const found = explainSignature(await send(double, signed), signed);
    assert.deepEqual([found.same, found.differs], [false, differs]);
    assert.equal(found.parts.find(({ name }) => name === differs)?.signed, value);
    assert.deepEqual(
      found.parts.filter((part) => part.signed !== undefined).map(({ name }) => name),
      [differs],
    );
    assert.match(found.text, new RegExp(`^the ${differs} differs: `));
  });

test('several parts that differ are told apart by what stands between them', async (t) => {
  const double = await open(t);
  const signed = `PUT\n/orders\n${time}.${body}`;
  const { parts } = explainSignature(await send(double, signed), signed);
  assert.deepEqual(
    parts.flatMap(({ name, signed: value }) => (value === undefined ? [] : [[name, value]])),
    [
      ['method', 'PUT'],
      ['target', '/orders'],
    ],
  );
});

test('a difference between the parts is shown by its place', async (t) => {
  const double = await open(t);
  const signed = `${message}\n`;
  const found = explainSignature(await send(double, signed), signed);
  assert.equal(found.same, false);
  assert.match(found.text, /differ/);
});

test('the same text shows that the key differs', async (t) => {
  const double = await open(t);
  const found = explainSignature(await send(double, message, 'another secret'), message);
  assert.deepEqual([found.same, found.differs], [true, undefined]);
  assert.match(found.text, /the key differs/);
});

test('the message of AWS Signature Version 4 is the canonical request', async (t) => {
  const double = await open(t);
  const sent = await double.as('ann', { scheme: 'aws4' }).signRequest({ method: 'GET', url: '/orders?a=1' });
  await double.fetch('/orders?a=2', { headers: sent });
  const entry = double.journal.last();
  assert.match(entry.expected ?? '', /^GET\n\/orders\na=2\nhost:/);
  const found = explainSignature(entry, (entry.expected ?? '').replace('a=2', 'a=1'));
  assert.equal(found.differs, 'canonical query');
  assert.match(found.text, /"a=2" is expected, "a=1" was signed/);
});

test('an accepted entry, and one that was refused before its signature, have no message to compare', async (t) => {
  const double = await open(t);
  for (const entry of [
    await send(double, message),
    (await double.fetch('/orders')) && double.journal.last(),
  ]) {
    assert.equal(entry.expected, undefined);
    assert.throws(() => explainSignature(entry, message), { name: 'RangeError' });
  }
});

test('the secret in the message of a plain digest is not shown, and the texts differ after it', async (t) => {
  const double = await startDouble({
    https: false,
    users: { ann: { secret } },
    schemes: {
      old: {
        algorithm: 'digest',
        hash: 'sha256',
        message: '{secret}.{method}.{target}',
        signature: { field: 'X-Sig' },
        user: { field: 'X-User' },
      },
    },
  });
  double.stub({ path: '/orders' }, { status: 204 });
  t.after(() => double.close());
  const digest = createHash('sha256').update(`${secret}.GET./orders`).digest('hex');
  await double.fetch('/orders?a=1', { headers: { 'X-User': 'ann', 'X-Sig': digest } });
  const { auth } = double.journal.last();
  assert.equal(auth?.expected, '(not shown).GET./orders?a=1');
  assert.equal(auth.received, '(not shown).GET./orders');
  assert.equal(auth.firstDifference?.at, auth.received.length);
  assert.doesNotMatch(JSON.stringify(double.journal.last()), /place of the secret|secret of ann/);
});
