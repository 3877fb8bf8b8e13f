// What a stub can be for, beside a path and a method.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Double, type RequestMatch, startDouble } from '../../src/double/index.ts';
import { createConsole } from '../support/double/control-client.ts';

const users = { ann: { secret: 'a-secret-of-ann', password: 'pw' } };
const anyone = { access: 'anyone' } as const;
const json = { 'Content-Type': 'application/json' };

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Returns the status of a request to a double with one stub. */
async function statusOf(match: RequestMatch, { path = '/x', ...init }: Sent): Promise<number> {
  await using double = await startDouble({ https: false, users });
  double.stub(match, { status: 299 }, anyone);
  return (await double.fetch(path, init)).status;
}

const order = JSON.stringify({ type: 'order', customer: { id: 7, name: 'Ann' }, lines: [{ sku: 'a' }] });
const posted: Sent = { method: 'POST', headers: json, body: order };
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
      posted,
      { ...posted, body: order.replace('7', '8') },
    ],
    [
      'with an item of JSON',
      { body: { lines: [{ sku: 'a' }] } },
      posted,
      { ...posted, body: '{"lines":[]}' },
    ],
    ['with a member that fits a pattern', { body: { customer: { name: /^A/ } } }, posted, form],
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
      posted,
      { ...posted, body: order.replace('"name"', '"email"') },
    ],
    ['with a text', { body: /"sku":"a"/ }, posted, { ...posted, body: '{}' }],
    ['without content', { body: '' }, { method: 'POST' }, posted],
    [
      'by a function of the content',
      { body: (body: unknown) => body instanceof URLSearchParams },
      form,
      posted,
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
  await using double = await startDouble({ https: false, users });
  double.stub({ path: '/x', body: { type: 'order' } }, ({ body }) => ({ body }));
  const response = await double.as('ann').fetch('/x', posted);
  assert.deepEqual(await response.json(), JSON.parse(order));
  assert.equal((await double.fetch('/x', posted)).status, 401);
});

test('a fault selects requests by their content, too', async () => {
  await using double = await startDouble({ https: false });
  double.stub({ path: '/x' }, { status: 204 }, anyone);
  double.faults.next({ body: { customer: { id: 7 } } }, { status: 503 });
  double.faults.next(({ body }) => body instanceof URLSearchParams, { status: 502 });
  const send = async (sent: Sent): Promise<number> => (await double.fetch('/x', sent)).status;
  assert.deepEqual(
    [await send({}), await send(form), await send(posted), await send(posted)],
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
  const send = async (path: string, method = 'GET'): Promise<number> =>
    (await double.fetch(path, { method })).status;
  assert.deepEqual(
    [
      await send('/x'),
      await send('/notes'),
      await send('/pets'),
      await send('/pets', 'POST'),
      await send('/y'),
    ],
    [298, 200, 200, 299, 299],
  );
  const state = double.snapshot();
  double.reset();
  assert.equal(await send('/y'), 404);
  double.restore(state);
  assert.equal(await send('/y'), 299);
});

describe('a request that nothing matched is told the nearest stub and the first difference', () => {
  const cases: readonly (readonly [RequestMatch, Sent, string])[] = [
    [{ path: '/orders' }, { path: '/order' }, 'the path is /order, not /orders'],
    [{ path: '/x', query: { page: '1' } }, { path: '/x?page=2' }, 'the query parameter page is not 1'],
    [{ path: '/x', query: { page: '1' } }, {}, 'the query parameter page is missing'],
    [{ path: '/x', headers: { 'X-A': null } }, { headers: { 'X-A': '1' } }, 'the header X-A is there'],
    [
      { path: '/x', body: { customer: { id: 8 } } },
      posted,
      'the member /customer/id of the content is another one',
    ],
    [
      { path: '/x', body: { customer: { email: 'a@b' } } },
      posted,
      'the member /customer/email of the content is missing',
    ],
    [{ path: '/x', body: { customer: null } }, posted, 'the member /customer of the content is there'],
    [{ path: '/x', user: 'ann' }, {}, 'the user is nobody, not ann'],
  ];
  for (const [match, sent, difference] of cases)
    test(difference, async () => {
      await using double = await startDouble({ https: false, users });
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

  test('nothing is said without stubs', async () => {
    await using double: Double = await startDouble({ https: false });
    await double.fetch('/x');
    assert.equal(double.journal.last().problem?.detail, 'Nothing is at this address.');
  });
});

test('the control interface adds stubs by content, absence and as a fallback', async () => {
  await using double = await startDouble({ https: false });
  const control = createConsole(await double.openControl());
  const add = (match: object, status: number, more = {}) =>
    control.send('POST', '/stubs', { match, response: { status }, access: 'anyone', ...more });
  await add({ body: { type: 'order' }, query: { page: null } }, 298);
  const fallback = await add({}, 299, { fallback: true });
  assert.deepEqual(fallback.match, {});
  assert.equal((await double.fetch('/any', posted)).status, 298);
  assert.equal((await double.fetch('/any?page=1', posted)).status, 299);
  const { stubs } = await control.send('GET', '/stubs');
  assert.deepEqual(stubs[0].match, { body: { type: 'order' }, query: { page: null } });
});
