import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import {
  type CollectionDeclaration,
  createMemoryStore,
  createService,
  DeclarationError,
  defineCollection,
} from '../../src/index.ts';

const users = { ann: { secret: 's3cret of ann' } };
const products = {
  element: 'products',
  item: 'product',
  fields: {
    sku: { type: 'text', unique: true },
    name: { type: 'text' },
    shop: { type: 'text' },
  },
  unique: ['name', 'shop'],
  access: { read: 'anyone', write: 'authenticated' },
  defaultFormat: 'json',
  patch: true,
} as const satisfies CollectionDeclaration;

const json = { 'Content-Type': 'application/json', Accept: 'application/json' };

function start(declared: CollectionDeclaration = products) {
  return startDouble({ users, https: false, collections: { '/products': declared } });
}

type Double = Awaited<ReturnType<typeof start>>;

async function send(double: Double, method: string, path: string, item: object, type = json['Content-Type']) {
  const headers = { ...json, 'Content-Type': type };
  const response = await double.as('ann').fetch(path, { method, headers, body: JSON.stringify(item) });
  const { type: problem, fields, href } = Object(await response.json());
  return response.ok ? response.status : [response.status, problem, fields, href];
}

suite('a unique field', () => {
  const taken = [409, '/problems/conflict', ['sku'], '/products/1'];

  test('is refused with 409 by POST, PUT and PATCH if another item has its value', async () => {
    await using double = await start();
    assert.equal(await send(double, 'POST', '/products', { sku: 'a' }), 201);
    assert.equal(await send(double, 'POST', '/products', { sku: 'b' }), 201);
    assert.deepEqual(await send(double, 'POST', '/products', { sku: 'a' }), taken);
    assert.deepEqual(await send(double, 'PUT', '/products/tea', { sku: 'a' }), taken);
    assert.deepEqual(await send(double, 'PUT', '/products/2', { sku: 'a' }), taken);
    assert.deepEqual(await send(double, 'POST', '/products/2', { sku: 'a' }), taken);
    const patch = 'application/merge-patch+json';
    assert.deepEqual(await send(double, 'PATCH', '/products/2', { sku: 'a' }, patch), taken);
    assert.equal(await send(double, 'PUT', '/products/1', { sku: 'a', name: 'Tea' }), 200);
  });

  test('may be a list of fields, which are compared together', async () => {
    await using double = await start();
    assert.equal(await send(double, 'POST', '/products', { name: 'Tea', shop: 'a' }), 201);
    assert.equal(await send(double, 'POST', '/products', { name: 'Tea', shop: 'b' }), 201);
    const both = [409, '/problems/conflict', ['name', 'shop'], '/products/1'];
    assert.deepEqual(await send(double, 'POST', '/products', { name: 'Tea', shop: 'a' }), both);
  });

  test('does not reveal the address of an item that the user cannot read', async () => {
    await using double = await start({ ...products, access: { write: 'authenticated' } });
    await send(double, 'POST', '/products', { sku: 'a' });
    const hidden = [409, '/problems/conflict', ['sku'], undefined];
    assert.deepEqual(await send(double, 'POST', '/products', { sku: 'a' }), hidden);
  });

  test('is checked in a seed, with the items that are stored', async () => {
    const seed = { '/products': [{ sku: 'a' }, { sku: 'a' }] };
    const collections = { '/products': products };
    await assert.rejects(startDouble({ users, collections, seed }), (error) => {
      assert.ok(error instanceof DeclarationError);
      assert.equal(error.message, 'seed./products[1].sku: seed./products[0] has the same sku');
      return true;
    });
    await using double = await start();
    double.seed({ '/products': [{ sku: 'a' }] });
    assert.throws(
      () => double.seed({ '/products': [{ sku: 'b' }, { sku: 'a' }] }),
      /seed\.\/products: \/products\/1 has the same sku/,
    );
    assert.equal(await send(double, 'POST', '/products', { sku: 'b' }), 201);
  });

  test('requires a type with comparable values, and a store that checks it', () => {
    const refuse = (fields: CollectionDeclaration['fields'], unique?: readonly string[]) => {
      const { message } = assertThrows(() =>
        defineCollection('/things', { element: 'things', item: 'thing', fields, unique }),
      );
      return message;
    };
    const types = 'unique is for text, decimal, integer, date, currency, reference without attributes';
    assert.equal(
      refuse({ a: { type: 'boolean', unique: true } }),
      `collections./things.fields.a.unique: ${types}`,
    );
    assert.equal(
      refuse({ a: { type: 'text', set: 'id', unique: true } }),
      'collections./things.fields.a.unique: the id is unique',
    );
    assert.equal(
      refuse({ sku: { type: 'text' } }, ['skus']),
      'collections./things.unique[0]: "skus" is not a field; did you mean "sku"?',
    );
    const { checksUnique: _, ...store } = createMemoryStore({ storeId: 'm' });
    assert.throws(
      () => createService({ store, collections: { '/products': products } }),
      new RangeError('collections./products.unique requires a store with `checksUnique`'),
    );
  });
});

function assertThrows(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}
