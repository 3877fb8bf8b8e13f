import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { type CollectionDeclaration, defineCollection } from '../../src/index.ts';

const users = {
  ann: { secret: 's3cret of ann' },
  bob: { secret: 's3cret of bob' },
  eve: { secret: 's3cret of eve', roles: ['manager'] },
};
const orders = {
  element: 'orders',
  item: 'order',
  fields: {
    title: { type: 'text' },
    customer: { type: 'text' },
    creator: { type: 'text', set: 'creator' },
  },
  access: { create: 'authenticated', read: ['owner', 'role:manager'], change: ['owner', 'role:manager'] },
  filter: ['title'],
  defaultFormat: 'json',
  patch: true,
} as const satisfies CollectionDeclaration;

const json = { 'Content-Type': 'application/json', Accept: 'application/json' };

function start(declared: CollectionDeclaration = orders) {
  return startDouble({ users, https: false, collections: { '/orders': declared } });
}

type Double = Awaited<ReturnType<typeof start>>;
type Name = keyof typeof users;

function send(double: Double, user: Name, method: string, path: string, item?: object, headers = {}) {
  const body = item === undefined ? {} : { body: JSON.stringify(item) };
  return double.as(user).fetch(path, { method, headers: { ...json, ...headers }, ...body });
}

async function titles(response: Response): Promise<readonly string[]> {
  const { orders: items } = Object(await response.json());
  return [...items].map(({ title }) => title);
}

/** Creates orders of ann and bob in turn. */
async function fill(double: Double, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1)
    await send(double, n % 2 === 1 ? 'ann' : 'bob', 'POST', '/orders', { title: `T${n}` });
}

suite('the access rule "owner"', () => {
  test('permits the user who created the item, and a list has those of the user only', async () => {
    await using double = await start();
    await fill(double, 4);
    assert.deepEqual(await titles(await send(double, 'ann', 'GET', '/orders')), ['T1', 'T3']);
    assert.deepEqual(await titles(await send(double, 'bob', 'GET', '/orders')), ['T2', 'T4']);
    assert.deepEqual(await titles(await send(double, 'eve', 'GET', '/orders')), ['T1', 'T2', 'T3', 'T4']);
    assert.deepEqual(await titles(await send(double, 'bob', 'GET', '/orders?title=T1')), []);
    const statuses = async (user: Name) => {
      const patch = { 'Content-Type': 'application/merge-patch+json' };
      const made = [(await send(double, user, 'PATCH', '/orders/1', {}, patch)).status];
      for (const [method, item] of [['GET'], ['HEAD'], ['POST', {}], ['PUT', {}], ['DELETE']] as const)
        made.push((await send(double, user, method, '/orders/1', item)).status);
      return made;
    };
    assert.deepEqual(await statuses('bob'), [403, 403, 403, 403, 403, 403]);
    assert.deepEqual(await statuses('ann'), [200, 200, 200, 200, 200, 204]);
    assert.equal((await send(double, 'eve', 'DELETE', '/orders/2')).status, 204);
    assert.equal((await double.fetch('/orders')).status, 401);
    assert.equal((await double.fetch('/orders/3')).status, 401);
  });

  test('makes pages, links and entity tags of the items of the user', async () => {
    await using double = await start();
    await fill(double, 6);
    const first = await send(double, 'ann', 'GET', '/orders?limit=2');
    assert.deepEqual(await titles(first.clone()), ['T1', 'T3']);
    const next = /<([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await send(double, 'ann', 'GET', next);
    assert.deepEqual(await titles(second), ['T5']);
    assert.doesNotMatch(second.headers.get('link') ?? '', /next/);
    const tag = async (user: Name) => (await send(double, user, 'GET', '/orders')).headers.get('etag');
    const before = await tag('ann');
    await send(double, 'bob', 'POST', '/orders', { title: 'more' });
    assert.equal(await tag('ann'), before);
    await send(double, 'ann', 'POST', '/orders', { title: 'more' });
    assert.notEqual(await tag('ann'), before);
    const unmodified = { 'If-None-Match': (await tag('ann')) ?? '' };
    assert.equal((await send(double, 'ann', 'GET', '/orders', undefined, unmodified)).status, 304);
    assert.equal((await send(double, 'bob', 'GET', '/orders', undefined, unmodified)).status, 200);
  });

  test('permits with a field the user whom it names, who cannot store items of others', async () => {
    const access = { read: ['owner:customer'], write: 'owner:customer' } as const;
    await using double = await start({ ...orders, access });
    const status = async (...sent: readonly [Name, string, string, object?]) =>
      (await send(double, ...sent)).status;
    assert.equal(await status('ann', 'POST', '/orders', { customer: 'bob' }), 403);
    assert.equal(await status('ann', 'POST', '/orders', {}), 403);
    assert.equal(await status('ann', 'POST', '/orders', { customer: 'ann', title: 'a' }), 201);
    assert.equal(await status('ann', 'PUT', '/orders/x', { customer: 'bob' }), 403);
    assert.equal(await status('ann', 'PUT', '/orders/x', { customer: 'ann', title: 'x' }), 201);
    assert.equal(await status('ann', 'POST', '/orders/x', { customer: 'bob' }), 403);
    assert.equal(await status('bob', 'POST', '/orders/x', { customer: 'bob' }), 403);
    assert.deepEqual(await titles(await send(double, 'ann', 'GET', '/orders')), ['a', 'x']);
    assert.deepEqual(await titles(await send(double, 'bob', 'GET', '/orders')), []);
  });

  test('does not read a name with a colon in a field as another rule', async () => {
    const access = { read: ['owner:customer'], write: 'authenticated' } as const;
    await using double = await start({ ...orders, access });
    await send(double, 'ann', 'POST', '/orders', { customer: 'role:manager' });
    assert.equal((await send(double, 'eve', 'GET', '/orders/1')).status, 403);
  });

  test('hides items from others with hide: 404 in place of 403', async () => {
    await using double = await start({ ...orders, hide: true });
    await fill(double, 1);
    for (const [method, item] of [['GET'], ['POST', {}], ['PUT', {}], ['DELETE']] as const) {
      const hidden = await send(double, 'bob', method, '/orders/1', item);
      const absent = await send(double, 'bob', 'GET', '/orders/2');
      const { detail, status } = Object(await hidden.json());
      assert.deepEqual([status, detail], [404, Object(await absent.json()).detail], method);
    }
    assert.equal((await send(double, 'ann', 'GET', '/orders/1')).status, 200);
  });
});

test('a role permits the users who have it', async () => {
  const access = { read: 'role:manager', write: ['role:manager', 'ann'] } as const;
  await using double = await start({ ...orders, access });
  assert.equal((await send(double, 'ann', 'POST', '/orders', {})).status, 201);
  assert.equal((await send(double, 'bob', 'POST', '/orders', {})).status, 403);
  assert.equal((await send(double, 'ann', 'GET', '/orders')).status, 403);
  assert.equal((await send(double, 'eve', 'GET', '/orders')).status, 200);
  const options = await send(double, 'eve', 'OPTIONS', '/orders/1');
  assert.match(options.headers.get('allow') ?? '', /DELETE/);
});

test('an access rule that means nothing is refused with the nearest one', () => {
  const refusal = (access: object, fields: CollectionDeclaration['fields'] = orders.fields): string => {
    try {
      defineCollection('/{shop}/orders', { ...orders, fields, access });
    } catch (error) {
      if (error instanceof Error) return error.message;
    }
    return 'none';
  };
  const at = 'collections./{shop}/orders.access.read';
  const fields = { title: { type: 'text' }, count: { type: 'integer' } } as const;
  assert.equal(refusal({ read: 'owner' }, fields), `${at}: "owner" requires a field with "set": "creator"`);
  assert.match(refusal({ read: 'owner:costumer' }), /did you mean "customer"\?/);
  assert.match(refusal({ read: ['owner:shopp'] }), /did you mean "shop"\?/);
  assert.match(refusal({ read: 'owner:count' }, fields), /no parameter "count"/);
  assert.match(refusal({ read: ['rolle:manager'] }), /did you mean "role:manager"\?/);
  assert.equal(refusal({ read: 'role:a b' }), `${at}: "a b" is not the name of a role`);
});
