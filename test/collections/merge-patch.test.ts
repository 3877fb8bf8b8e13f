import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import type { CollectionDeclaration } from '../../src/index.ts';

const users = { ann: { secret: 's3cret of ann' } };
const shelf = {
  element: 'shelves',
  item: 'shelf',
  fields: {
    title: { type: 'text', required: true },
    note: { type: 'text', maxLength: 5 },
    size: {
      type: 'element',
      fields: { width: { type: 'integer', required: true }, depth: { type: 'integer' } },
    },
    tags: { type: 'list', of: 'text' },
    more: { type: 'json' },
    changed: { type: 'dateTime', set: 'modified' },
  },
  access: { read: 'anyone', write: 'authenticated' },
  defaultFormat: 'json',
  patch: true,
} as const satisfies CollectionDeclaration;
const first = {
  title: 'A',
  note: 'x',
  size: { width: 1, depth: 2 },
  tags: ['a', 'b'],
  more: { a: 1, b: { c: 2 } },
};

function start(collection: CollectionDeclaration = shelf) {
  const collections = { '/shelves': collection };
  return startDouble({
    users,
    https: false,
    now: '2026-11-27T09:00:00Z',
    collections,
    seed: { '/shelves': [first] },
  });
}

const type = { 'Content-Type': 'application/merge-patch+json' };

suite('PATCH of an item with a merge patch', () => {
  test('changes and removes members, also of nested values', async () => {
    await using double = await start();
    const body =
      '{"title":"B","note":null,"size":{"depth":null},"tags":["c"],"more":{"b":{"c":null,"d":1.0}}}';
    const response = await double.as('ann').fetch('/shelves/1', { method: 'PATCH', headers: type, body });
    const changed = { title: 'B', size: { width: 1 }, tags: ['c'], more: { a: 1, b: { d: 1 } } };
    assert.deepEqual(
      [response.status, await response.json()],
      [200, { ...changed, changed: '2026-11-27T09:00:00.000Z' }],
    );
    assert.match(await (await double.fetch('/shelves/1')).text(), /"d":1\.0/, 'numbers keep their digits');
    assert.notEqual(response.headers.get('ETag'), null);
  });

  test('is refused with the field if the item would violate a rule, and changes nothing', async () => {
    await using double = await start();
    for (const [body, field, rule] of [
      ['{"title":null}', 'title', 'required'],
      ['{"note":"too long"}', 'note', 'maxLength'],
      ['{"size":{"width":null}}', 'size/width', 'required'],
      ['{"titel":"B"}', 'titel', 'unknown-element'],
      ['{"changed":"2020-01-01T00:00:00Z"}', 'changed', 'read-only'],
      ['["title"]', 'shelf', 'root'],
    ] as const) {
      const response = await double.as('ann').fetch('/shelves/1', { method: 'PATCH', headers: type, body });
      const { errors } = Object(await response.json());
      assert.deepEqual([response.status, errors[0].field, errors[0].rule], [422, field, rule]);
    }
    const malformed = { method: 'PATCH', headers: type, body: '{"title":"B",}' };
    assert.equal((await double.as('ann').fetch('/shelves/1', malformed)).status, 400);
    assert.deepEqual(await (await double.fetch('/shelves/1')).json(), first);
  });

  test('evaluates preconditions, access and the media type', async () => {
    await using double = await start();
    const patch = (headers: Record<string, string>) => ({ method: 'PATCH', headers, body: '{"title":"B"}' });
    const signed = double.as('ann');
    assert.equal((await double.fetch('/shelves/1', patch(type))).status, 401);
    assert.equal((await signed.fetch('/shelves/1', patch({ ...type, 'If-Match': '"x"' }))).status, 412);
    assert.equal((await signed.fetch('/shelves/9', patch(type))).status, 404);
    const other = await signed.fetch('/shelves/1', patch({ 'Content-Type': 'application/json' }));
    assert.deepEqual(
      [other.status, other.headers.get('Accept-Patch')],
      [415, 'application/merge-patch+json'],
    );
    const options = await signed.fetch('/shelves/1', { method: 'OPTIONS' });
    assert.match(options.headers.get('Allow') ?? '', /\bPATCH\b/);
    assert.equal(options.headers.get('Accept-Patch'), 'application/merge-patch+json');
  });

  test('is in the OpenAPI document, and only of collections that declare it', async () => {
    await using double = await start();
    const { paths } = await double.openapi();
    assert.deepEqual(Object.keys(Object(paths['/shelves/{id}']).patch.requestBody.content), [
      'application/merge-patch+json',
    ]);
    await using plain = await start({ ...shelf, patch: false });
    const response = await plain
      .as('ann')
      .fetch('/shelves/1', { method: 'PATCH', headers: type, body: '{}' });
    assert.equal(response.status, 501);
    assert.match(await response.text(), /POST to an item changes the fields that are sent/);
  });
});
