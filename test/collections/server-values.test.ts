import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { type CollectionDeclaration, DeclarationError, defineCollection } from '../../src/index.ts';

const users = { ann: { secret: 's3cret of ann' }, bob: { secret: 's3cret of bob' } };
const now = '2026-11-27T09:00:00Z';
const tasks = {
  element: 'tasks',
  item: 'task',
  fields: {
    number: { type: 'text', set: 'id' },
    title: { type: 'text', required: true },
    approved: { type: 'boolean', readOnly: true },
    creator: { type: 'text', required: true, set: 'creator' },
    created: { type: 'dateTime', set: 'created' },
    changed: { type: 'dateTime', set: 'modified' },
  },
  access: { read: 'anyone', write: 'authenticated' },
  sort: ['created', 'changed'],
  filter: ['creator'],
  defaultFormat: 'json',
} as const satisfies CollectionDeclaration;

const json = { 'Content-Type': 'application/json', Accept: 'application/json' };

function start(collection: CollectionDeclaration = tasks, seed: readonly object[] = []) {
  const options = { users, now, https: false, collections: { '/tasks': collection } };
  return startDouble(seed.length === 0 ? options : { ...options, seed: { '/tasks': seed } });
}

suite('fields that the server sets', () => {
  test('have the id, the creator and the times of an item', async () => {
    await using double = await start();
    const body = '{"title":"Tea"}';
    const created = await double.as('ann').fetch('/tasks', { method: 'POST', headers: json, body });
    const first = { number: '1', title: 'Tea', creator: 'ann', created: '2026-11-27T09:00:00.000Z' };
    assert.deepEqual(await created.json(), { ...first, changed: '2026-11-27T09:00:00.000Z' });
    double.clock.advance('1m');
    const changed = await double
      .as('bob')
      .fetch('/tasks/1', { method: 'POST', headers: json, body: '{"title":"Mate"}' });
    const later = { ...first, title: 'Mate', changed: '2026-11-27T09:01:00.000Z' };
    assert.deepEqual(await changed.json(), later);
    double.clock.advance('1m');
    const replaced = await double.as('bob').fetch('/tasks/1', { method: 'PUT', headers: json, body });
    const latest = { ...first, changed: '2026-11-27T09:02:00.000Z' };
    assert.deepEqual([replaced.status, await replaced.json()], [200, latest]);
    assert.deepEqual(await (await double.fetch('/tasks/1')).json(), latest);
    const list = await double.fetch('/tasks?creator=ann&sort=-changed');
    assert.deepEqual(await list.json(), { tasks: [{ href: '/tasks/1', ...latest }] });
    const xml = await double.fetch('/tasks', { headers: { Accept: 'application/xml' } });
    assert.match(
      await xml.text(),
      /<task href="\/tasks\/1"><number>1<\/number><title>Tea<\/title><creator>ann</,
    );
  });

  test('have the id that a client chose with PUT', async () => {
    await using double = await start();
    const put = { method: 'PUT', headers: json, body: '{"title":"Tea"}' };
    const item = await (await double.as('ann').fetch('/tasks/tea', put)).json();
    assert.equal(Object(item).number, 'tea');
  });

  test('are refused with 422 if a client sends them, as XML and JSON', async () => {
    await using double = await start();
    const send = async (body: string, type: string) => {
      const headers = { 'Content-Type': type, Accept: 'application/json' };
      const response = await double.as('ann').fetch('/tasks', { method: 'POST', headers, body });
      const { errors } = Object(await response.json());
      return [
        response.status,
        errors.map(({ field, rule, detail }: Record<string, string>) => [field, rule, detail]),
      ];
    };
    const errors = [
      ['approved', 'read-only', 'is read-only'],
      ['creator', 'read-only', 'is set by the server'],
    ];
    const sent = '{"title":"Tea","approved":true,"creator":"bob"}';
    assert.deepEqual(await send(sent, 'application/json'), [422, errors]);
    const xml = '<task><title>Tea</title><approved>true</approved><creator>bob</creator></task>';
    assert.deepEqual(await send(xml, 'application/xml'), [422, errors]);
  });

  test('that are only read-only come from the seed, and survive PUT and POST', async () => {
    await using double = await start(tasks, [{ title: 'Tea', approved: true }]);
    for (const method of ['PUT', 'POST']) {
      const request = { method, headers: json, body: '{"title":"Mate"}' };
      const { approved } = Object(await (await double.as('ann').fetch('/tasks/1', request)).json());
      assert.equal(approved, true, method);
    }
  });

  test('are read-only in the OpenAPI document, and not required', async () => {
    await using double = await start();
    const { components } = await double.openapi();
    const { properties, required } = Object(components).schemas.Task;
    assert.deepEqual(required, ['title']);
    assert.equal(properties.creator.readOnly, true);
    assert.equal(properties.title.readOnly, undefined);
  });

  test('have the right type, at the top of an item', () => {
    const define = (field: object) => () =>
      defineCollection('/tasks', { ...tasks, sort: [], filter: [], fields: { field } } as never);
    const fails = (field: object, message: RegExp): void =>
      assert.throws(
        define(field),
        (error) => error instanceof DeclarationError && message.test(error.message),
      );
    fails({ type: 'text', set: 'created' }, /created is for a field of the type dateTime/);
    fails({ type: 'text', set: 'owner' }, /set/);
    fails({ type: 'text', set: 'creator', readOnly: false }, /a field that the server sets is read-only/);
    const inner = { type: 'text', readOnly: true };
    fails({ type: 'element', fields: { inner } }, /are for fields of the item itself/);
    const filtered = { ...tasks, filter: ['number'] } as const;
    assert.throws(() => defineCollection('/tasks', filtered), /is the id of the item/);
  });
});

suite('showId', () => {
  test('adds id and path to items in JSON, in lists too', async () => {
    const { number: _, ...fields } = tasks.fields;
    await using double = await start({ ...tasks, fields, showId: true }, [{ title: 'Tea', creator: 'ann' }]);
    const item = { id: '1', href: '/tasks/1', title: 'Tea', creator: 'ann' };
    assert.deepEqual(await (await double.fetch('/tasks/1')).json(), item);
    assert.deepEqual(await (await double.fetch('/tasks')).json(), { tasks: [item] });
    assert.deepEqual(await (await double.fetch('/tasks?creator=ann')).json(), { tasks: [item] });
    const xml = await double.fetch('/tasks/1', { headers: { Accept: 'application/xml' } });
    assert.equal(await xml.text(), '<task><title>Tea</title><creator>ann</creator></task>');
    const request = { method: 'POST', headers: json, body: '{"title":"Mate"}' };
    const { id, href } = Object(await (await double.as('ann').fetch('/tasks', request)).json());
    assert.deepEqual([id, href], ['2', '/tasks/2']);
  });

  test('lets PUT, POST and PATCH repeat id and path of the item, but not those of another one', async () => {
    const { number: _, ...fields } = tasks.fields;
    const declared = { ...tasks, fields, showId: true, patch: true };
    await using double = await start(declared, [{ title: 'Tea', creator: 'ann' }]);
    const send = async (method: string, target: string, members: object) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const headers = { ...json, 'Content-Type': type };
      const body = JSON.stringify({ ...members, title: method });
      const response = await double.as('ann').fetch(target, { method, headers, body });
      return { status: response.status, answer: Object(await response.json()) };
    };
    for (const method of ['PUT', 'POST', 'PATCH']) {
      for (const own of [{ id: '1', href: '/tasks/1' }, { id: '1' }, { href: '/tasks/1' }, {}]) {
        const { status, answer } = await send(method, '/tasks/1', own);
        assert.deepEqual([status, answer.id, answer.href, answer.title], [200, '1', '/tasks/1', method]);
      }
      for (const id of ['2', 1, null, { id: '1' }]) {
        const { status, answer } = await send(method, '/tasks/1', { id, href: '/tasks/1' });
        const expected = { field: 'id', rule: 'read-only' };
        assert.deepEqual([status, { field: answer.field, rule: answer.errors[0].rule }], [422, expected]);
        assert.equal(answer.errors[0].detail, 'is set by the server, and is "1" for this item');
      }
      assert.equal((await send(method, '/tasks/1', { href: '/tasks/2' })).answer.field, 'href');
    }
    assert.equal((await send('PUT', '/tasks/a%20b', { id: 'a b', href: '/tasks/a%20b' })).status, 201);
    assert.equal((await send('PUT', '/tasks/new', { id: 'other' })).status, 422);
    assert.equal((await send('POST', '/tasks', { id: '9' })).status, 422);
    const xml = { 'Content-Type': 'application/xml' };
    const body = '<task><id>1</id><title>Tea</title></task>';
    const sent = await double.as('ann').fetch('/tasks/1', { method: 'PUT', headers: xml, body });
    assert.equal(sent.status, 422);
  });

  test('does not let JSON have an id without it', async () => {
    await using double = await start(tasks, [{ title: 'Tea', creator: 'ann' }]);
    const body = '{"id":"1","title":"Tea"}';
    const response = await double.as('ann').fetch('/tasks/1', { method: 'PUT', headers: json, body });
    assert.equal(response.status, 422);
  });

  test('is not possible with a field of that name', () => {
    const fields = { id: { type: 'text' } } as const;
    const clash = { ...tasks, sort: [], filter: [], fields, showId: true };
    assert.throws(() => defineCollection('/tasks', clash), /the name is reserved with showId/);
  });
});
