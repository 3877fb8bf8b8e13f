import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Double, type PartnerOptions, startDouble } from '../../../src/double/index.ts';
import { createConsole } from '../../support/double/control-client.ts';
import { ordersDocument } from '../../support/double/orders-document.ts';

const users = { ann: { secret: 's3cret of ann', password: 'pw of ann' } };

/** Starts a double, and collects what it reports. */
async function open(validation: PartnerOptions['validation']) {
  const reported: string[] = [];
  const double = await startDouble({
    users,
    partner: { document: ordersDocument(), validation },
    randomSeed: 1,
    onError: (error) => reported.push(String(error)),
  });
  after(() => double.close());
  return { double, reported };
}

const order = { 'Content-Type': 'application/json' };

/** Sends what the document does not allow, in each part of a request. */
async function sendWrong(double: Double): Promise<readonly number[]> {
  const { fetch } = double.as('ann', { scheme: 'key' });
  const post = (headers: Record<string, string>, body?: string) =>
    fetch('/orders', { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
  const responses = [
    await fetch('/orders?limit=0&page=2'),
    await fetch('/orders', { headers: { 'X-Trace': 'none' } }),
    await fetch('/orders/1'),
    await post(order, '{"count":"many"}'),
    await post({ 'Content-Type': 'text/csv' }, 'sku,count'),
    await post({}),
  ];
  return responses.map(({ status }) => status);
}

/** Returns what the journal notes of each request. */
function notes(double: Double): readonly (readonly string[])[] {
  return double.journal.all().map(({ warnings }) => warnings);
}

test('with on, which is the default, a request that the document does not allow is refused', async () => {
  for (const validation of [undefined, 'on', {}, { request: 'on' }, { response: 'off' }] as const) {
    const { double } = await open(validation);
    assert.deepEqual(await sendWrong(double), [400, 400, 400, 422, 415, 415]);
  }
});

test('with warn, a request that the document does not allow is answered, and the journal names all that is wrong', async () => {
  const { double, reported } = await open('warn');
  assert.deepEqual(await sendWrong(double), [200, 200, 200, 201, 201, 201]);
  const [query, field, path, content, type, missing] = notes(double);
  assert.equal(query?.length, 2);
  assert.match(
    query?.[0] ?? '',
    /^request: query\.limit .*\(#\/paths\/~1orders\/get\/parameters\/0\/schema\/minimum\)\.$/,
  );
  assert.match(query?.[1] ?? '', /^request: query\.page is not a parameter of this operation/);
  assert.match(field?.join() ?? '', /^request: header\.X-Trace /);
  assert.match(path?.join() ?? '', /^request: path\.order-id /);
  assert.match(
    content?.join('\n') ?? '',
    /^request: \/sku is missing .*\n.*\nrequest: \/count must be integer/,
  );
  assert.match(
    type?.join() ?? '',
    /^request: The Content-Type is not one of this operation: application\/json\.$/,
  );
  assert.match(missing?.join() ?? '', /^request: createOrder requires content/);
  assert.match(String(double.journal.all()[0]), /\n {2}warning: request: query\.limit /);
  assert.deepEqual(reported, []);
});

test('with off, a request is not compared with the document', async () => {
  for (const validation of ['off', { request: 'off' }] as const) {
    const { double } = await open(validation);
    assert.deepEqual(await sendWrong(double), [200, 200, 200, 201, 201, 201]);
    assert.deepEqual(notes(double), [[], [], [], [], [], []]);
  }
});

test('credentials are verified with every validation', async () => {
  const { double } = await open('off');
  assert.equal((await double.fetch('/orders?limit=0')).status, 401);
});

test('a response of a test that the document does not allow is reported with on, noted with warn, and sent with off', async () => {
  const rows = [
    ['on', 1, 1],
    ['warn', 1, 0],
    ['off', 0, 0],
    [{ response: 'warn' }, 1, 0],
    [{ request: 'off' }, 1, 1],
  ] as const;
  for (const [validation, noted, reports] of rows) {
    const { double, reported } = await open(validation);
    double.partner.respond('getOrder', { status: 200, body: { id: 'ord_1', total: 'much' } });
    assert.equal((await double.fetch('/orders/ord_1')).status, 200);
    assert.deepEqual(
      [double.journal.last().warnings.length > 0, reported.length > 0],
      [noted > 0, reports > 0],
      JSON.stringify(validation),
    );
  }
});

test('stubs over an operation are compared as the document is', async () => {
  const { double, reported } = await open('warn');
  double.stub({ path: '/orders/{id}' }, { status: 200, body: { id: 'other' } }, { access: 'anyone' });
  assert.equal((await double.fetch('/orders/none')).status, 200);
  const { warnings } = double.journal.last();
  assert.match(warnings[0] ?? '', /^request: path\.order-id /);
  assert.ok(
    warnings.some((warning) => /^\/id must match/.test(warning)),
    String(warnings),
  );
  assert.deepEqual(reported, []);
});

test('a response that a test chooses has its own validation, for the requests that get it', async () => {
  const { double, reported } = await open('on');
  const wrong = { status: 200, body: { id: 'other' } };
  double.partner.respond('getOrder', wrong, { times: 1, validation: 'off' });
  assert.equal((await double.fetch('/orders/none')).status, 200);
  assert.deepEqual(double.journal.last().warnings, []);
  assert.equal((await double.fetch('/orders/none')).status, 400);
  double.partner.respond('getOrder', 200, { times: 1, validation: { request: 'warn' } });
  assert.equal((await double.fetch('/orders/none')).status, 200);
  assert.match(String(double.journal.last().warnings), /^request: path\.order-id /);
  double.partner.respond('getOrder', wrong, { times: 1, validation: { response: 'off' } });
  assert.equal((await double.fetch('/orders/none')).status, 400);
  assert.equal((await double.fetch('/orders/ord_1')).status, 200);
  assert.deepEqual([double.journal.last().warnings, reported], [[], []]);
});

test('the control interface chooses the validation of a response', async () => {
  const { double } = await open('on');
  const control = await double.openControl();
  const { send, refused } = createConsole(control);
  const choice = { operationId: 'getOrder', response: 200, times: 1 };
  await send('POST', '/partner/respond', { ...choice, validation: { request: 'off' } });
  assert.equal((await double.fetch('/orders/none')).status, 200);
  await refused(422, 'POST', '/partner/respond', { ...choice, validation: 'loose' });
});

test('a wrong validation is refused with what is expected', async () => {
  const start = (partner: object) => startDouble({ users, partner });
  const document = ordersDocument();
  const rows: readonly (readonly [partner: object, message: RegExp])[] = [
    [
      { document, validation: 'warm' },
      /^validation must be one of on, warn, off, is "warm"; did you mean "warn"\?$/,
    ],
    [{ document, validation: true }, /validation must be an object, is a boolean/],
    [
      { document, validation: { reqest: 'off' } },
      /reqest is not a member of validation; did you mean "request"\?/,
    ],
    [{ document, validation: { request: 1 } }, /validation\.request must be one of on, warn, off, is 1/],
    [{ document, validate: 'off' }, /validate is not an option of partner; known are document, validation/],
    [{ document: 7 }, /document must be a document or the path of a file, is 7/],
  ];
  for (const [partner, message] of rows)
    await assert.rejects(start(partner), { name: 'RangeError', message });
  const { double } = await open('on');
  const options: object = { validation: 'warm' };
  assert.throws(() => double.partner.respond('getOrder', 200, options), /validation must be one of .*"warm"/);
});
