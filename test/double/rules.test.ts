// Stubs, faults and the responses of a partner are rules of one kind: what each selects, in which order, and how often.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Double, type DoubleOptions, type RequestMatch, startDouble } from '../../src/double/index.ts';
import { createConsole } from '../support/double/control-client.ts';
import { ordersDocument } from '../support/double/orders-document.ts';

const users = { ann: { secret: 's3cret of ann', password: 'pw of ann' } };
const anyone = { access: 'anyone' } as const;
const json = { 'Content-Type': 'application/json' };

function start(options: DoubleOptions = {}): Promise<Double> {
  return startDouble({ https: false, users, ...options });
}

/** Starts a double with a document that has an operation without credentials and one with a query. */
function startPartner(options: DoubleOptions = {}): Promise<Double> {
  const responses = { 200: { description: 'ok' }, 409: { description: 'conflict' } };
  return start({
    partner: {
      openapi: '3.1.0',
      servers: [{ url: 'https://api.example/v1' }],
      paths: {
        '/orders': {
          get: {
            operationId: 'listOrders',
            parameters: [{ name: 'limit', in: 'query', schema: { type: 'string' } }],
            responses,
          },
          post: { operationId: 'addOrder', requestBody: { content: { 'application/json': {} } }, responses },
        },
        '/orders/{id}': { get: { responses } },
        '/reports?kind=daily': { get: { operationId: 'daily', responses } },
      },
    },
    ...options,
  });
}

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function send(double: Double, { path = '/orders', ...init }: Sent): Promise<number> {
  return (await double.fetch(path, init)).status;
}

/** Sends a request that nothing answers, and returns the reason in the journal. */
async function reasonOf(double: Double, sent: Sent): Promise<string | undefined> {
  await send(double, sent);
  return double.journal.last().problem?.detail;
}

const posted: Sent = { method: 'POST', headers: json, body: '{"sku":"tea","buyer":{"id":7}}' };

test('a response of an operation is for the requests that its match selects, also by their content', async () => {
  await using double = await startPartner();
  const chosen = double.partner.respond('listOrders', 409, { match: { query: { limit: '1' } }, times: 2 });
  const limited = (limit: number): Sent => ({ path: `/orders?limit=${limit}` });
  assert.deepEqual([await send(double, limited(1)), await send(double, limited(2))], [409, 200]);
  assert.deepEqual([chosen.count, chosen.remaining], [1, 1]);
  for (const match of [
    { body: { buyer: { id: 7 } } },
    { body: (body: { sku?: string }) => body.sku === 'tea' },
    ({ body }: { body: unknown }) => JSON.stringify(body).includes('tea'),
    { path: '/v1/orders', headers: { 'Content-Type': /json/ } },
  ] as const satisfies readonly RequestMatch[]) {
    using _ = double.partner.respond('addOrder', 409, { match });
    const path = typeof match === 'object' && 'path' in match ? match.path : '/orders';
    const other =
      typeof match === 'object' && 'path' in match ? posted : { ...posted, body: '{"sku":"milk"}' };
    assert.deepEqual([await send(double, { ...posted, path }), await send(double, other)], [409, 200]);
  }
  const respond = (match: object) => double.partner.respond('addOrder', 409, { match });
  assert.throws(() => respond({ querry: {} }), /querry.*did you mean "query"/);
});

test('the last response that was chosen wins, and the one before it answers when its times are used up', async () => {
  await using double = await startPartner();
  double.partner.respond('listOrders', { status: 501 });
  double.partner.respond('listOrders', { status: 502 }, { match: { query: { limit: /./ } } });
  double.partner.respond('listOrders', { status: 503 }, { times: 1 });
  const sent = { path: '/orders?limit=1' };
  assert.deepEqual(
    [await send(double, sent), await send(double, sent), await send(double, {})],
    [503, 502, 501],
  );
  const state = double.snapshot();
  double.reset();
  assert.equal(await send(double, {}), 200);
  double.restore(state);
  assert.deepEqual([await send(double, sent), await send(double, {})], [502, 501]);
});

test('a response that a stub precedes is reported', async () => {
  const errors: unknown[] = [];
  await using double = await startPartner({ onError: (error) => errors.push(error) });
  double.stub({ method: 'GET', path: '/orders' }, {}, anyone);
  double.partner.respond('listOrders', 409, { match: { query: { limit: /./ } } });
  assert.equal(await send(double, {}), 200);
  assert.deepEqual(double.journal.last().warnings, []);
  assert.equal(await send(double, { path: '/orders?limit=1' }), 200);
  const reason =
    'the response that respond chose for listOrders was not sent, because the stub GET /orders answered';
  assert.deepEqual(double.journal.last().warnings, [`${reason}.`]);
  assert.deepEqual(
    errors.map((error) => String(error)),
    [`Error: ${reason}`],
  );
});

test('planned faults apply in their order, and those for always when no other is left, the last one first', async () => {
  await using double = await start();
  double.faults.always({}, { status: 501 });
  double.faults.always({}, { status: 502 });
  double.faults.next({}, { status: 503 });
  double.faults.next({}, { status: 504 });
  const statuses = [];
  for (const sent of [{}, {}, {}, {}]) statuses.push(await send(double, sent));
  assert.deepEqual(statuses, [503, 504, 502, 502]);
});

test('a request that the document refuses does not use up a stub', async () => {
  await using double = await startDouble({ users, partner: ordersDocument(), randomSeed: 1, onError() {} });
  const stub = double.stub({ method: 'POST', path: '/orders' }, { status: 418 }, { ...anyone, times: 1 });
  assert.equal(await send(double, { ...posted, body: '{}' }), 422);
  assert.deepEqual([stub.count, stub.remaining], [0, 1]);
});

test('a stub whose request is refused while another one is answered still answers the next one', async () => {
  await using double = await start();
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const stub = double.stub(
    { path: '/x' },
    async () => {
      await answered;
      return {};
    },
    { times: 2 },
  );
  const accepted = double.as('ann').fetch('/x');
  assert.equal(await send(double, { path: '/x' }), 401);
  answer();
  assert.equal((await accepted).status, 200);
  assert.deepEqual([stub.count, stub.remaining], [1, 1]);
  assert.equal((await double.as('ann').fetch('/x')).status, 200);
  assert.deepEqual([stub.count, stub.remaining], [2, 0]);
});

test('a request in progress does not count for a stub that was removed or restored', async () => {
  await using double = await start();
  const stub = double.stub({ path: '/x' }, {}, { times: 1 });
  const before = double.snapshot();
  const refused = send(double, { path: '/x' });
  double.restore(before);
  assert.equal(await refused, 401);
  assert.deepEqual([stub.count, stub.remaining], [0, 1]);
  const again = send(double, { path: '/x' });
  stub.remove();
  await again;
  assert.deepEqual([stub.count, stub.remaining], [0, 0]);
});

describe('a request that nothing answers is explained', () => {
  test('by a stub whose times are used up', async () => {
    await using double = await start();
    double.stub({ method: 'GET', path: '/x', query: { page: '1' } }, {}, anyone);
    double.stub({ method: 'GET', path: '/x' }, {}, { ...anyone, times: 2 });
    const sent = { path: '/x' };
    assert.deepEqual([await send(double, sent), await send(double, sent)], [200, 200]);
    const used = 'The nearest stub is GET /x, but it has answered its 2 requests, and times permits no more.';
    assert.equal(await reasonOf(double, sent), `Nothing is at this address. ${used}`);
    const state = double.snapshot();
    double.reset();
    assert.equal(await reasonOf(double, sent), 'Nothing is at this address.');
    double.restore(state);
    assert.equal(await reasonOf(double, { ...sent, method: 'HEAD' }), `Nothing is at this address. ${used}`);
  });

  test('but not by one that selects everything, if another stub is near', async () => {
    await using double = await start();
    double.stub({ method: 'GET', path: '/x', query: { page: '1' } }, {}, anyone);
    double.stub({ method: 'GET', path: /^\/orders\/\d+$/ }, {}, anyone);
    double.stub({ method: 'GET' }, {}, { ...anyone, fallback: true, times: 1 });
    assert.equal(await send(double, { path: '/y' }), 200);
    for (const [path, reason] of [
      ['/x', /stub is GET \/x, query page=1, but the query parameter page is missing\.$/],
      ['/orders/new', /stub is GET \/\^.*, but the path is \/orders\/new, not \/\^/],
      ['/other', /stub is GET any path, but it has answered its request/],
    ] as const)
      assert.match((await reasonOf(double, { path })) ?? '', reason);
  });

  test('and by one that selects by content, only if its content fits', async () => {
    await using double = await start();
    double.stub({ path: '/x', body: { sku: 'tea' } }, {}, { ...anyone, times: 1 });
    const sent = { ...posted, path: '/x' };
    assert.equal(await send(double, sent), 200);
    assert.match((await reasonOf(double, sent)) ?? '', /it has answered its request/);
    const other = { ...sent, body: '{"sku":"milk"}' };
    assert.match((await reasonOf(double, other)) ?? '', /the member \/sku of the content is another one\.$/);
  });

  test('also where another method is answered', async () => {
    await using double = await start();
    double.stub({ method: 'GET', path: '/x' }, {}, anyone);
    double.stub({ method: 'POST', path: '/x' }, {}, { ...anyone, times: 1 });
    const sent = { path: '/x', method: 'POST' };
    assert.equal(await send(double, sent), 200);
    assert.equal(
      await reasonOf(double, sent),
      'This resource does not implement POST. The nearest stub is POST /x, but it has answered its request, and times permits no more.',
    );
    assert.equal(
      await reasonOf(double, { path: '/x', method: 'PUT' }),
      'This resource does not implement PUT. The nearest stub is GET /x, but the method is PUT, not GET.',
    );
  });

  test('without another call of a function', async () => {
    await using double = await start();
    const calls: string[] = [];
    const note = (name: string) => () => calls.push(name) < 0;
    double.stub({ path: '/x', body: note('body') }, {}, anyone);
    double.stub(note('request'), {}, anyone);
    double.stub(note('fallback'), {}, { ...anyone, fallback: true });
    const once = double.stub({ path: '/y', body: () => calls.push('used') > 0 }, {}, { ...anyone, times: 1 });
    assert.equal(
      await reasonOf(double, { path: '/x', method: 'POST', body: 'a' }),
      'Nothing is at this address. The nearest stub is any method /x, content by a function, but the function does not match the content.',
    );
    assert.deepEqual(calls.toSorted(), ['body', 'fallback', 'request']);
    await send(double, { path: '/y' });
    assert.equal(once.remaining, 0);
    calls.length = 0;
    assert.match((await reasonOf(double, { path: '/y' })) ?? '', /it has answered its request/);
    assert.deepEqual(calls.toSorted(), ['fallback', 'request']);
  });

  test('by a stub with a function, if there is no other', async () => {
    await using double = await start();
    double.stub(() => false, {}, anyone);
    assert.equal(
      await reasonOf(double, { path: '/x' }),
      'Nothing is at this address. The nearest stub is the function, but the function does not match the request.',
    );
  });

  test('by nothing that has only a parameter in common', async () => {
    await using double = await startPartner();
    assert.equal(await reasonOf(double, { path: '/nothing' }), 'Nothing is at this address.');
  });

  for (const [sent, nearest] of [
    [{ path: '/order' }, 'listOrders (GET /orders), but the path is /order, not /orders'],
    [{ path: '/order/7' }, 'GET /orders/{id}, but the path is /order/7, not /orders/{id}'],
    [{ path: '/v2/orders/7' }, 'GET /orders/{id}, but the path is /v2/orders/7, not /v1/orders/{id}'],
    [{ path: '/api/rest/orders' }, 'listOrders (GET /orders), but the path is /api/rest/orders, not /orders'],
    [{ path: '/orders/7/items' }, 'GET /orders/{id}, but the path is /orders/7/items, not /orders/{id}'],
    [{ path: '/orders/' }, 'listOrders (GET /orders), but the path is /orders/, not /orders'],
    [{ path: '/reports' }, 'daily (GET /reports?kind=daily), but the query parameter kind is missing'],
    [{ path: '/orders/7', method: 'PUT' }, 'GET /orders/{id}, but the method is PUT, not GET'],
  ] as const)
    test(`by the operation ${nearest}`, async () => {
      await using double = await startPartner();
      const reason = await reasonOf(double, sent);
      assert.ok(reason?.endsWith(` The nearest operation is ${nearest}.`), reason);
    });
});

test('the control interface chooses a response by a match', async () => {
  await using double = await startPartner();
  const control = createConsole(await double.openControl());
  const match = { body: { sku: 'tea' } };
  await control.send('POST', '/partner/respond', { operationId: 'addOrder', response: 409, match });
  assert.deepEqual(
    [await send(double, posted), await send(double, { ...posted, body: '{"sku":"milk"}' })],
    [409, 200],
  );
});

/** Returns the status of a request to a double with one stub. */
async function statusOf(match: RequestMatch, { path = '/x', ...init }: Sent): Promise<number> {
  await using double = await start();
  double.stub(match, { status: 299 }, anyone);
  return (await double.fetch(path, init)).status;
}

const order = JSON.stringify({ type: 'order', customer: { id: 7, name: 'Ann' }, lines: [{ sku: 'a' }] });
const ordered: Sent = { method: 'POST', headers: json, body: order };
const form: Sent = {
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: 'type=order&total=5',
};

const multipart = {
  method: 'POST',
  headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
  body: '--x\r\nContent-Disposition: form-data; name="total"\r\n\r\nVALUE\r\n--x--\r\n',
};

describe('a stub is for requests', () => {
  for (const [what, match, fitting, other] of [
    ['at paths of a pattern', { path: /^\/v\d\//g }, { path: '/v2/orders' }, { path: '/orders' }],
    ['at any path', {}, { path: '/a/b/c' }, { method: 'PURGE' }],
    ['of a method at any path', { method: 'POST' }, { method: 'POST' }, { method: 'PUT' }],
    ['with a parameter of the query', { query: { q: 'a b' } }, { path: '/x?q=a+b' }, { path: '/x?q=a' }],
    ['with one of its values', { query: { q: '2' } }, { path: '/x?q=1&q=%32' }, { path: '/x?q=1&q=22' }],
    [
      'with parameters that fit a pattern',
      { query: { limit: /^[0-9]+$/g, after: /./ } },
      { path: '/x?limit=10&after=a' },
      { path: '/x?limit=10' },
    ],
    [
      'with a header in any case',
      { headers: { 'X-Foo': 'bar' } },
      { headers: { 'x-foo': 'bar' } },
      { headers: { 'X-Foo': 'barn' } },
    ],
    [
      'with a header that fits a pattern',
      { headers: { 'x-foo': /^bar/ } },
      { headers: { 'X-Foo': 'barn' } },
      {},
    ],
    [
      'without a parameter of the query',
      { path: '/x', query: { page: null } },
      { path: '/x?limit=1' },
      { path: '/x?page=1' },
    ],
    ['without a header', { path: '/x', headers: { 'X-Trace': null } }, {}, { headers: { 'X-Trace': '1' } }],
    [
      'with a part of JSON',
      { body: { type: 'order', customer: { id: 7 } } },
      ordered,
      { ...ordered, body: order.replace('7', '8') },
    ],
    [
      'with an item of JSON',
      { body: { lines: [{ sku: 'a' }] } },
      ordered,
      { ...ordered, body: '{"lines":[]}' },
    ],
    ['with a member that fits a pattern', { body: { customer: { name: /^A/ } } }, ordered, form],
    ['with a parameter of a form', { body: { total: '5' } }, form, { ...form, body: 'total=6' }],
    [
      'with one of the values of a form',
      { body: { tag: 'b', total: null } },
      { ...form, body: 'tag=a&tag=b' },
      { ...form, body: 'tag=b&total=1' },
    ],
    [
      'with a field of multipart',
      { body: { total: '5' } },
      { ...multipart, body: multipart.body.replace('VALUE', '5') },
      { ...multipart, body: multipart.body.replace('VALUE', '6') },
    ],
    [
      'without a member of JSON',
      { body: { customer: { email: null } } },
      ordered,
      { ...ordered, body: order.replace('"name"', '"email"') },
    ],
    ['with a text', { body: /"sku":"a"/ }, ordered, { ...ordered, body: '{}' }],
    ['without content', { body: '' }, { method: 'POST' }, ordered],
    [
      'by a function of the content',
      { body: (body: unknown) => body instanceof URLSearchParams },
      form,
      ordered,
    ],
    [
      'by a function of the request',
      ({ body, path, query }: { body: unknown; path: string; query: URLSearchParams }) =>
        path === '/x' && query.get('a') === '1' && body === undefined,
      { path: '/x?a=1' },
      { path: '/x?a=2' },
    ],
  ] as const satisfies readonly (readonly [string, RequestMatch, Sent, Sent])[])
    test(what, async () => {
      for (const each of [fitting, fitting]) assert.equal(await statusOf(match, each), 299);
      assert.notEqual(await statusOf(match, other), 299);
    });

  test('of a user, and with credentials of a scheme', async () => {
    await using double = await startDouble({ users });
    double.stub({ user: 'ann' }, { status: 298 }, anyone);
    double.stub({ scheme: 'basic' }, { status: 299 }, anyone);
    assert.equal((await double.as('ann').fetch('/x')).status, 298);
    assert.equal((await double.as('ann', { scheme: 'basic' }).fetch('/x')).status, 299);
    assert.equal((await double.fetch('/x')).status, 404);
  });
});

test('the content that a stub selects by reaches its function, and a signature that covers it is verified', async () => {
  await using double = await start();
  double.stub({ path: '/x', body: { type: 'order' } }, ({ body }) => ({ body }));
  const response = await double.as('ann').fetch('/x', ordered);
  assert.deepEqual(await response.json(), JSON.parse(order));
  assert.equal((await double.fetch('/x', ordered)).status, 401);
});

test('a fault selects requests by their content, too', async () => {
  await using double = await start();
  double.stub({ path: '/x' }, { status: 204 }, anyone);
  double.faults.next({ body: { customer: { id: 7 } } }, { status: 503 });
  double.faults.next(({ body }) => body instanceof URLSearchParams, { status: 502 });
  const sendX = (sent: Sent): Promise<number> => send(double, { ...sent, path: '/x' });
  assert.deepEqual(
    [await sendX({}), await sendX(form), await sendX(ordered), await sendX(ordered)],
    [204, 502, 503, 204],
  );
});

test('a fallback answers what nothing else does', async () => {
  const notes = { element: 'notes', item: 'note', fields: { name: { type: 'text' } } } as const;
  await using double = await startDouble({
    https: false,
    collections: { '/notes': { ...notes, access: { read: 'anyone' } } },
    partner: {
      openapi: '3.1.0',
      paths: { '/pets': { get: { responses: { 200: { description: 'pets' } } } } },
    },
  });
  double.stub({}, { status: 299 }, { ...anyone, fallback: true });
  double.stub({ path: '/x' }, { status: 298 }, anyone);
  const ask = (path: string, method = 'GET'): Promise<number> => send(double, { path, method });
  assert.deepEqual(
    [await ask('/x'), await ask('/notes'), await ask('/pets'), await ask('/pets', 'POST'), await ask('/y')],
    [298, 200, 200, 299, 299],
  );
  const state = double.snapshot();
  double.reset();
  assert.equal(await ask('/y'), 404);
  double.restore(state);
  assert.equal(await ask('/y'), 299);
});

describe('a request that nothing matched is told the nearest stub and the first difference', () => {
  const cases: readonly (readonly [RequestMatch, Sent, string])[] = [
    [{ path: '/orders' }, { path: '/order' }, 'the path is /order, not /orders'],
    [{ path: '/x', query: { page: '1' } }, { path: '/x?page=2' }, 'the query parameter page is not 1'],
    [{ path: '/x', query: { page: '1' } }, {}, 'the query parameter page is missing'],
    [{ path: '/x', headers: { 'X-A': null } }, { headers: { 'X-A': '1' } }, 'the header X-A is there'],
    [
      { path: '/x', body: { customer: { id: 8 } } },
      ordered,
      'the member /customer/id of the content is another one',
    ],
    [
      { path: '/x', body: { customer: { email: 'a@b' } } },
      ordered,
      'the member /customer/email of the content is missing',
    ],
    [{ path: '/x', body: { customer: null } }, ordered, 'the member /customer of the content is there'],
    [{ path: '/x', user: 'ann' }, {}, 'the user is nobody, not ann'],
    [{ path: '/x', scheme: 'basic' }, {}, 'the scheme is none, not basic'],
  ];
  for (const [match, sent, difference] of cases)
    test(difference, async () => {
      await using double = await start();
      double.stub({ path: '/far/away' }, {}, anyone);
      double.stub(match, {}, anyone);
      const { path = '/x', ...init } = sent;
      const response = await double.fetch(path, init);
      assert.equal(response.status, 404);
      const { detail } = double.journal.last().problem ?? assert.fail();
      assert.match(detail, /^Nothing is at this address\. The nearest stub is .*, but /);
      assert.ok(detail.endsWith(`${difference}.`), detail);
      assert.ok(String(double.journal.last()).includes(difference), String(double.journal.last()));
    });
});

test('the control interface adds stubs by content, absence and as a fallback', async () => {
  await using double = await start();
  const control = createConsole(await double.openControl());
  const add = (match: object, status: number, more = {}) =>
    control.send('POST', '/stubs', { match, response: { status }, access: 'anyone', ...more });
  await add({ body: { type: 'order' }, query: { page: null } }, 298);
  const fallback = await add({}, 299, { fallback: true });
  assert.deepEqual(fallback.match, {});
  assert.equal((await double.fetch('/any', ordered)).status, 298);
  assert.equal((await double.fetch('/any?page=1', ordered)).status, 299);
  const { stubs } = await control.send('GET', '/stubs');
  assert.deepEqual(stubs[0].match, { body: { type: 'order' }, query: { page: null } });
});
