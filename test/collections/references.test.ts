import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type DoubleOptions, startDouble } from '../../src/double/index.ts';
import {
  type CollectionDeclaration,
  createMemoryStore,
  createService,
  type FieldDeclaration,
} from '../../src/index.ts';

const users = {
  ann: { secret: 's3cret of ann' },
  eve: { secret: 's3cret of eve' },
};
const json = { 'Content-Type': 'application/json', Accept: 'application/json' };

/** Declares a collection. */
function declare(
  item: string,
  fields: CollectionDeclaration['fields'],
  further: Partial<CollectionDeclaration> = {},
): CollectionDeclaration {
  const access = { read: 'anyone', write: 'authenticated' } as const;
  return { element: `${item}s`, item, fields, access, defaultFormat: 'json', patch: true, ...further };
}

/** A reference to a product. */
function product(onDelete?: 'restrict' | 'cascade' | 'clear'): FieldDeclaration {
  return { type: 'reference', to: '/products', onDelete };
}

const products = declare('product', { title: { type: 'text' } });
const orders = declare('order', { product: product(), title: { type: 'text' } }, { filter: ['product'] });

function start(
  collections: Readonly<Record<string, CollectionDeclaration>> = { '/orders': orders, '/products': products },
  options: DoubleOptions = {},
) {
  return startDouble({ users, https: false, collections, ...options });
}

type Double = Awaited<ReturnType<typeof start>>;

/** Sends a request of ann. Returns the status, and the parsed content. */
async function send(
  double: Double,
  method: string,
  path: string,
  item?: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = item === undefined ? {} : { body: JSON.stringify(item) };
  const response = await double.as('ann').fetch(path, { method, headers: { ...json, ...headers }, ...body });
  const text = await response.text();
  return [response.status, text === '' ? undefined : JSON.parse(text)] as const;
}

async function statusOf(...sent: Parameters<typeof send>): Promise<number> {
  return (await send(...sent))[0];
}

suite('a reference', () => {
  test('may be sent as the id, the path or the URL of an item, and is stored as the id', async () => {
    await using double = await start();
    assert.equal(await statusOf(double, 'PUT', '/products/green%20tea', { title: 'Tea' }), 201);
    const { host } = new URL(double.url);
    for (const sent of ['green tea', '/products/green%20tea', `http://${host}/products/green%20tea`]) {
      const [status, order] = await send(double, 'POST', '/orders', { product: sent });
      assert.deepEqual([status, order], [201, { product: 'green tea' }]);
    }
    const xml = await double.fetch('/orders/2', { headers: { Accept: 'application/xml' } });
    assert.match(await xml.text(), /<product>green tea<\/product>/);
  });

  test('to no item is a 422 that names the field, with each method', async () => {
    await using double = await start();
    await send(double, 'POST', '/products', {});
    await send(double, 'POST', '/orders', { product: '1' });
    const patch = { 'Content-Type': 'application/merge-patch+json' };
    const addresses = [
      '9',
      '/products/9',
      '/orders/1',
      '/products/1/x',
      '/products/',
      'https://a.example/products/1',
    ];
    for (const sent of addresses)
      for (const [method, path, headers] of [
        ['POST', '/orders'],
        ['PUT', '/orders/new'],
        ['PUT', '/orders/1'],
        ['POST', '/orders/1'],
        ['PATCH', '/orders/1', patch],
      ] as const) {
        const [status, { type, field, errors }] = await send(
          double,
          method,
          path,
          { product: sent },
          headers,
        );
        assert.deepEqual(
          [status, type, field],
          [422, '/problems/invalid-content', 'product'],
          `${method} ${sent}`,
        );
        assert.equal(errors[0].rule, 'reference');
      }
    assert.deepEqual(await send(double, 'GET', '/orders/1'), [200, { product: '1' }]);
    assert.equal(await statusOf(double, 'GET', '/orders/new'), 404);
  });

  test('in XML is read in the same way', async () => {
    await using double = await start();
    await send(double, 'POST', '/products', {});
    const add = (sent: string) =>
      double.as('ann').fetch('/orders', {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml', Accept: 'application/json' },
        body: `<order><product>${sent}</product></order>`,
      });
    assert.deepEqual(await (await add('/products/1')).json(), { product: '1' });
    assert.equal((await add('2')).status, 422);
  });

  test('prevents the deletion of its item, with the address of the item that has it', async () => {
    await using double = await start();
    await send(double, 'POST', '/products', {});
    await send(double, 'POST', '/orders', { product: '1' });
    const [status, { type, field, href }] = await send(double, 'DELETE', '/products/1');
    assert.deepEqual([status, type, field, href], [409, '/problems/conflict', 'product', '/orders/1']);
    assert.equal(await statusOf(double, 'DELETE', '/orders/1'), 204);
    assert.equal(await statusOf(double, 'DELETE', '/products/1'), 204);
  });

  test('does not reveal the address of an item that the user may not read', async () => {
    const hidden = { ...orders, access: { write: 'authenticated' } } as const;
    await using double = await start({ '/orders': hidden, '/products': products });
    await send(double, 'POST', '/products', {});
    await send(double, 'POST', '/orders', { product: '1' });
    const [status, { href }] = await send(double, 'DELETE', '/products/1');
    assert.deepEqual([status, href], [409, undefined]);
  });

  test('to an item that is hidden from the user is a 422, unless it stays as it was', async () => {
    const fields = { owner: { type: 'text' } } as const;
    const access = { read: 'owner:owner', write: 'authenticated' } as const;
    const secret = declare('product', fields, { hide: true, access });
    await using double = await start(
      { '/orders': orders, '/products': secret },
      { seed: { '/products': [{ owner: 'eve' }, { owner: 'ann' }], '/orders': [{ product: '1' }] } },
    );
    assert.equal(await statusOf(double, 'POST', '/orders', { product: '1' }), 422);
    assert.equal(await statusOf(double, 'POST', '/orders', { product: '2' }), 201);
    assert.equal(await statusOf(double, 'POST', '/orders/1', { title: 'Tea' }), 200);
  });

  test('with cascade is deleted with its item, through several collections', async () => {
    const lines = declare('line', { order: { type: 'reference', to: '/orders', onDelete: 'cascade' } });
    const cascading = declare('order', { product: product('cascade') });
    await using double = await start({ '/lines': lines, '/orders': cascading, '/products': products });
    await send(double, 'POST', '/products', {});
    for (const sent of ['1', '1']) await send(double, 'POST', '/orders', { product: sent });
    await send(double, 'POST', '/lines', { order: '2' });
    assert.equal(await statusOf(double, 'DELETE', '/products/1'), 204);
    for (const path of ['/orders/1', '/orders/2', '/lines/1', '/products/1'])
      assert.equal(await statusOf(double, 'GET', path), 404);
  });

  test('that restricts an item of a cascade prevents the whole deletion', async () => {
    const lines = declare('line', { order: { type: 'reference', to: '/orders' } });
    const cascading = declare('order', { product: product('cascade') });
    await using double = await start({ '/lines': lines, '/orders': cascading, '/products': products });
    await send(double, 'POST', '/products', {});
    for (const sent of ['1', '1']) await send(double, 'POST', '/orders', { product: sent });
    await send(double, 'POST', '/lines', { order: '2' });
    const [status, { href }] = await send(double, 'DELETE', '/products/1');
    assert.deepEqual([status, href], [409, '/lines/1']);
    assert.equal(await statusOf(double, 'GET', '/orders/1'), 200);
  });

  test('with clear is removed from the item that has it, which changes', async () => {
    const fields = {
      product: product('clear'),
      title: { type: 'text' },
      changed: { type: 'dateTime', set: 'modified' },
    } as const;
    await using double = await start({ '/orders': declare('order', fields), '/products': products });
    await send(double, 'POST', '/products', {});
    await send(double, 'POST', '/orders', { product: '1', title: 'Tea' });
    const before = await double.fetch('/orders/1');
    double.clock.advance('1m');
    assert.equal(await statusOf(double, 'DELETE', '/products/1'), 204);
    const after = await double.fetch('/orders/1');
    const { changed: first } = Object(await before.json());
    const { changed, ...others } = Object(await after.json());
    assert.deepEqual(others, { title: 'Tea' });
    assert.ok(Date.parse(changed) - Date.parse(first) >= 60_000);
    assert.notEqual(after.headers.get('etag'), before.headers.get('etag'));
  });

  test('to the item itself, and in a circle, ends', async () => {
    const nodes = declare('node', { parent: { type: 'reference', to: '/nodes', onDelete: 'cascade' } });
    await using double = await start({ '/nodes': nodes });
    assert.equal(await statusOf(double, 'PUT', '/nodes/a', { parent: 'a' }), 201);
    assert.equal(await statusOf(double, 'PUT', '/nodes/b', { parent: 'a' }), 201);
    assert.equal(await statusOf(double, 'PUT', '/nodes/a', { parent: 'b' }), 200);
    assert.equal(await statusOf(double, 'DELETE', '/nodes/a'), 204);
    assert.deepEqual(await send(double, 'GET', '/nodes'), [200, { nodes: [] }]);
  });

  test('is not deleted with more than 1000 others', async () => {
    const cascading = declare('order', { product: product('cascade') });
    const seed = { '/products': [{}], '/orders': Array.from({ length: 1001 }, () => ({ product: '1' })) };
    await using double = await start({ '/orders': cascading, '/products': products }, { seed });
    const [status, { type, detail }] = await send(double, 'DELETE', '/products/1');
    assert.deepEqual([status, type], [409, '/problems/conflict']);
    assert.match(detail, /more than 1000 items/);
    assert.equal(await statusOf(double, 'DELETE', '/orders/1'), 204);
    assert.equal(await statusOf(double, 'DELETE', '/products/1'), 204);
    assert.deepEqual(await send(double, 'GET', '/orders'), [200, { orders: [] }]);
  });

  test('from collections with parameters in the path is found in all of them', async () => {
    const path = '/users/{name}/orders';
    await using double = await start({ [path]: orders, '/products': products });
    await send(double, 'POST', '/products', {});
    assert.equal(await statusOf(double, 'POST', '/users/a%20b/orders', { product: '1' }), 201);
    const [status, { href }] = await send(double, 'DELETE', '/products/1');
    assert.deepEqual([status, href], [409, '/users/a%20b/orders/1']);
  });

  test('selects the items of a list by id or address', async () => {
    await using double = await start();
    for (const _ of [1, 2]) await send(double, 'POST', '/products', {});
    for (const sent of ['1', '2', '1']) await send(double, 'POST', '/orders', { product: sent });
    for (const sought of ['1', encodeURIComponent('/products/1'), '/products/1']) {
      const [, { orders: found }] = await send(double, 'GET', `/orders?product=${sought}`);
      assert.deepEqual(
        found.map(({ href }: { href: string }) => href),
        ['/orders/1', '/orders/3'],
      );
    }
    assert.equal(await statusOf(double, 'GET', '/orders?product=/orders/1'), 400);
  });

  test('is checked in a seed, in which the order of collections does not matter', async () => {
    const collections = { '/orders': orders, '/products': products };
    const seed = { '/orders': [{ product: '/products/1' }, { product: '2' }], '/products': [{}] };
    await assert.rejects(startDouble({ users, collections, seed }), {
      name: 'DeclarationError',
      message: /seed\.\/orders.*product: must be the id or address of an item of \/products, is “2”/,
    });
    const service = createService({ users, collections, seed });
    await assert.rejects(service.ready, {
      name: 'DeclarationError',
      message: 'seed./orders[1].product: must be the id or address of an item of /products, is “2”',
    });
    await using double = await start(undefined, { seed: { ...seed, '/products': [{}, {}] } });
    assert.deepEqual(await send(double, 'GET', '/orders/1'), [200, { product: '1' }]);
    assert.throws(() => double.seed({ '/orders': [{}, { product: '3' }] }), /is “3”/);
    assert.equal(await statusOf(double, 'GET', '/orders/3'), 404);
  });

  test('is deleted once if the request is repeated with its key', async () => {
    const cascading = declare('order', { product: product('cascade') });
    const repeatable = { ...products, idempotency: 'accepted' } as const;
    await using double = await start({ '/orders': cascading, '/products': repeatable });
    await send(double, 'POST', '/products', {});
    await send(double, 'POST', '/orders', { product: '1' });
    const key = { 'Idempotency-Key': '"k1"' };
    assert.equal(await statusOf(double, 'DELETE', '/products/1', undefined, key), 204);
    assert.equal(await statusOf(double, 'DELETE', '/products/1', undefined, key), 204);
    assert.equal(await statusOf(double, 'GET', '/orders/1'), 404);
  });
});

suite('the declaration of a reference', () => {
  const refuse = async (
    field: FieldDeclaration | object,
    further: Readonly<Record<string, CollectionDeclaration>> = { '/products': products },
  ): Promise<string> => {
    const fields: Record<string, FieldDeclaration> = JSON.parse(JSON.stringify({ a: field }));
    try {
      await using _ = await start({ '/orders': declare('order', fields), ...further });
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    return '';
  };

  test('names a declared collection without parameters, with the nearest one', async () => {
    const at = 'collections./orders.fields.a';
    assert.equal(
      await refuse({ type: 'reference', to: '/product' }),
      `${at}.to: "/product" is not the path of a collection; did you mean "/products"?`,
    );
    assert.match(
      await refuse({ type: 'reference' }),
      /fields\.a\.to: must be the path of a collection, is missing/,
    );
    assert.equal(
      await refuse({ type: 'reference', to: '/users/{name}/x' }, { '/users/{name}/x': products }),
      `${at}.to: a reference is to a collection without parameters in its path`,
    );
  });

  test('is for a field of the item itself without attributes, which clear requires to be optional', async () => {
    const reference = { type: 'reference', to: '/products' };
    const own = /reference is for fields of the item itself/;
    assert.match(await refuse({ type: 'list', of: reference }), own);
    assert.match(await refuse({ type: 'element', fields: { b: reference } }), own);
    assert.match(await refuse({ type: 'text', attributes: { b: reference } }), own);
    assert.match(
      await refuse({ ...reference, attributes: { b: { type: 'text' } } }),
      /a\.attributes: a reference has no attributes/,
    );
    assert.match(
      await refuse({ ...reference, required: true, onDelete: 'clear' }),
      /a\.onDelete: clear is for a field that is not required/,
    );
    assert.match(await refuse({ ...reference, onDelete: 'cascad' }), /a\.onDelete: .*did you mean "cascade"/);
  });

  test('requires a store that checks references', () => {
    const { referrers: _, ...store } = createMemoryStore({ storeId: 'm' });
    assert.throws(
      () => createService({ store, collections: { '/orders': orders, '/products': products } }),
      new RangeError('collections./orders.fields.product: a reference requires a store with `referrers`'),
    );
  });

  test('is part of the OpenAPI document, with the conflict of a deletion', async () => {
    await using double = await start();
    const { paths, components } = Object(await double.openapi());
    const { description } = components.schemas.Order.properties.product;
    assert.equal(description, 'The id of an item of /products; requests can have its address');
    const responses = (path: string) => Object.keys(paths[path].delete.responses);
    assert.ok(responses('/products/{id}').includes('409'));
    assert.ok(!responses('/orders/{id}').includes('409'));
  });
});
