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
