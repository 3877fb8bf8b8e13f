import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeclarationError, readCollection } from '../../src/collections/declaration.ts';
import { openService } from '../support/service/open-service.ts';

const fields = {
  title: { type: 'text' },
  price: { type: 'decimal', attributes: { currency: { type: 'currency' }, min: { type: 'integer' } } },
  'size.min': { type: 'text' },
  size: { type: 'integer' },
  limit: { type: 'integer' },
  tags: { type: 'list', of: 'text' },
  maker: { type: 'element', fields: { name: { type: 'text' } } },
} as const;
const plain = { element: 'things', item: 'thing', fields, access: { read: 'anyone' } } as const;

for (const [member, value, message] of [
  ['filter', ['titel'], 'filter[0]: "titel" is not a field; did you mean "title"?'],
  ['filter', ['xyzzy'], 'filter[0]: "xyzzy" is not a field; known are title, price, size.min, size, limit'],
  [
    'filter',
    ['title', 'tags'],
    'filter[1]: tags has a list of values, so it cannot be compared with one value',
  ],
  ['filter', ['maker'], 'filter[0]: maker has fields of its own, so it cannot be compared with one value'],
  ['filter', ['title', 'title'], 'filter[1]: title is listed twice'],
  ['filter', ['limit'], 'filter[0]: the query parameter limit has another meaning in lists'],
  ['filter', ['price'], 'filter[0]: the query parameter price.min would have two meanings'],
  ['filter', ['size.min', 'size'], 'filter[1]: the query parameter size.min would have two meanings'],
  ['filter', 'title', 'filter: must be a list of names of fields, is a string'],
  ['filter', [1], 'filter[0]: must be the name of a field, is 1'],
  ['sort', ['-prise'], 'sort[0]: "prise" is not a field; did you mean "price"?'],
  ['sort', ['modfied'], 'sort[0]: "modfied" is not a field; did you mean "modified"?'],
  ['sort', ['maker'], 'sort[0]: maker has fields of its own, so it cannot be compared with one value'],
  ['sort', ['price', '-price'], 'sort[1]: price is listed twice'],
  ['sort', [''], 'sort[0]: "" is not a field; known are title, price, size.min, size, limit, modified'],
  ['sort', { price: true }, 'sort: must be a list of names of fields, is an object'],
  ['defaultFormat', 'jsno', 'defaultFormat: must be xml or json, is "jsno"; did you mean "json"?'],
  ['defaultFormat', 1, 'defaultFormat: must be xml or json, is 1'],
  ['filters', [], 'filters: is not a key of a collection; did you mean "filter"?'],
] as const) {
  test(`${member} ${JSON.stringify(value)} is rejected with the reason`, () => {
    assert.throws(
      () => readCollection('/things', { ...plain, [member]: value }),
      (error) => error instanceof DeclarationError && error.message === `collections./things.${message}`,
    );
  });
}

test('OPTIONS lists the fields by which a list can be filtered and sorted', async () => {
  const rules = { filter: ['title', 'size'], sort: ['title', '-modified'] };
  const { ask } = openService({ collections: { '/things': { ...plain, ...rules }, '/plain': plain } });
  const json = await ask('OPTIONS', '/things', { fields: { Accept: 'application/json' } });
  const { filter, sort } = JSON.parse(json.text);
  assert.deepEqual({ filter, sort }, rules);
  const xml = await ask('OPTIONS', '/things');
  assert.match(
    xml.text,
    /<filter><item>title<\/item><item>size<\/item><\/filter><sort><item>title<\/item><item>-modified<\/item><\/sort>/,
  );
  for (const target of ['/plain', '/things/1'])
    assert.doesNotMatch((await ask('OPTIONS', target)).text, /filter|sort/);
});

test('a field named modified is sorted by its own value', async () => {
  const own = { ...plain, fields: { modified: { type: 'integer' } }, sort: ['modified'] } as const;
  const seed = { '/things': [{ modified: 2 }, { modified: 1 }] };
  const { ask } = openService({ collections: { '/things': own }, seed });
  const { text } = await ask('GET', '/things?sort=modified', { fields: { Accept: 'application/json' } });
  assert.match(text, /"modified":1.*"modified":2/);
});
