import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { type CollectionDeclaration, defineCollection } from '../../src/index.ts';

const things = {
  element: 'things',
  item: 'thing',
  fields: {
    name: { type: 'text', minLength: 2 },
    mail: { type: 'text', format: 'email' },
    site: { type: 'text', format: 'uri' },
    key: { type: 'text', format: 'uuid' },
    price: { type: 'decimal', fractionDigits: 2, exclusiveMin: '0.00', exclusiveMax: '9.00' },
    count: { type: 'integer', exclusiveMin: 0 },
  },
  access: { read: 'anyone', write: 'authenticated' },
} as const satisfies CollectionDeclaration;

test('a field has a minimum length, a form and exclusive bounds', async () => {
  const users = { ann: { secret: 's3cret of ann' } };
  await using double = await startDouble({ users, https: false, collections: { '/things': things } });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  const violated = async (item: object): Promise<string> => {
    const body = JSON.stringify(item);
    const response = await double.as('ann').fetch('/things', { method: 'POST', headers, body });
    const { errors = [] } = Object(await response.json());
    return [response.status, ...[...errors].map(({ rule }) => rule)].join(' ');
  };
  const good = [
    { name: '茶茶', mail: 'ann+tea@example.com', site: 'https://tea.example/a?b#c' },
    { site: 'urn:isbn:0451450523', key: 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6' },
    { price: '0.01', count: 1 },
    { price: '8.99' },
  ];
  for (const item of good) assert.equal(await violated(item), '201', JSON.stringify(item));
  for (const name of ['', 'a', '🍵']) assert.equal(await violated({ name }), '422 minLength');
  for (const mail of ['', 'ann', 'ann@', '@example.com', 'a b@example.com', 'ann@-example.com'])
    assert.equal(await violated({ mail }), '422 format', mail);
  for (const site of ['', '/tea', 'tea.example', 'http://a b', 'http://[', 'https://tea.example/%zz'])
    assert.equal(await violated({ site }), '422 format', site);
  for (const key of ['', 'f81d4fae7dec11d0a76500a0c91e6bf6', '{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}'])
    assert.equal(await violated({ key }), '422 format', key);
  assert.equal(await violated({ price: '0.00', count: 0 }), '422 exclusiveMin exclusiveMin');
  assert.equal(await violated({ price: '9.00' }), '422 exclusiveMax');
});

test('rules that no value can meet are refused', () => {
  const refusal = (field: CollectionDeclaration['fields'][string]): string => {
    try {
      defineCollection('/things', { ...things, fields: { a: field } });
    } catch (error) {
      if (error instanceof Error) return error.message;
    }
    return 'none';
  };
  assert.equal(
    refusal({ type: 'text', minLength: 3, maxLength: 2 }),
    'collections./things.fields.a.minLength: 3 is greater than maxLength, which is 2',
  );
  assert.equal(
    refusal({ type: 'integer', exclusiveMin: 2, exclusiveMax: 2 }),
    'collections./things.fields.a.exclusiveMin: no value is between 2 and 2',
  );
});

test('a field that is not sent has its default, and a list has its number of values', async () => {
  const orders = {
    element: 'orders',
    item: 'order',
    patch: true,
    fields: {
      status: { type: 'text', enum: ['new', 'paid'], default: 'new', required: true },
      count: { type: 'integer', default: 1 },
      gift: { type: 'boolean', default: false },
      tags: { type: 'list', of: 'text', minItems: 1, maxItems: 2 },
    },
    access: { read: 'anyone', write: 'authenticated' },
  } as const satisfies CollectionDeclaration;
  const users = { ann: { secret: 's3cret of ann' } };
  await using double = await startDouble({ users, https: false, collections: { '/orders': orders } });
  const send = async (method: string, path: string, type: string, body: string): Promise<string> => {
    const headers = { 'Content-Type': type, Accept: 'application/json' };
    const response = await double.as('ann').fetch(path, { method, headers, body });
    const { errors = [] } = Object(response.status < 300 ? {} : await response.json());
    return [response.status, ...[...errors].map(({ rule }) => rule)].join(' ');
  };
  const show = async (id: number): Promise<unknown> => {
    const response = await double.fetch(`/orders/${id}`, { headers: { Accept: 'application/json' } });
    return response.json();
  };
  const [json, xml] = ['application/json', 'application/xml'];
  assert.equal(await send('POST', '/orders', json, '{}'), '201');
  assert.deepEqual(await show(1), { status: 'new', count: 1, gift: false });
  assert.equal(await send('POST', '/orders', xml, '<order><status>paid</status></order>'), '201');
  assert.deepEqual(await show(2), { status: 'paid', count: 1, gift: false });
  assert.equal(await send('PUT', '/orders/1', json, '{"count":7,"gift":true}'), '200');
  assert.deepEqual(await show(1), { status: 'new', count: 7, gift: true });
  assert.equal(await send('PATCH', '/orders/1', 'application/merge-patch+json', '{"tags":["a"]}'), '200');
  assert.deepEqual(await show(1), { status: 'new', count: 7, gift: true, tags: ['a'] });
  assert.equal(await send('POST', '/orders', json, '{"tags":[]}'), '422 minItems');
  assert.equal(await send('POST', '/orders', json, '{"tags":["a","b","c"]}'), '422 maxItems');
  const three = '<order><tags><item>a</item><item>b</item><item>c</item></tags></order>';
  assert.equal(await send('POST', '/orders', xml, three), '422 maxItems');
  assert.equal(await send('POST', '/orders', xml, '<order><tags/></order>'), '422 minItems');
});

test('a default that a field cannot have is refused', () => {
  const refusal = (field: object): string => {
    try {
      defineCollection('/things', Object({ ...things, fields: { a: field } }));
    } catch (error) {
      if (error instanceof Error) return error.message;
    }
    return 'none';
  };
  assert.match(refusal({ type: 'text', enum: ['x'], default: 'y' }), /a\.default: must be one of x; is “y”/);
  assert.match(refusal({ type: 'integer', default: '1' }), /a\.default: must be a JSON number/);
  assert.match(refusal({ type: 'list', of: 'text', default: 'a' }), /a\.default: is not an option of list/);
  assert.match(refusal({ type: 'text', set: 'creator', default: 'a' }), /is for a field that clients send/);
  assert.match(
    refusal({ type: 'list', of: 'text', minItems: 3, maxItems: 2 }),
    /greater than maxItems, which is 2/,
  );
});
