import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { type CollectionDeclaration, createMemoryStore, type Store, StoreError } from '../../src/index.ts';
import { article, openService } from '../support/service/open-service.ts';

const ann = { user: 'ann' };

test('POST to the collection assigns increasing ids, and never reuses an id', async () => {
  const { ask } = openService();
  const post = async () =>
    (await ask('POST', '/articles', { ...ann, content: article('Tea') })).field('Location');
  assert.deepEqual([await post(), await post()], ['/articles/1', '/articles/2']);
  assert.equal((await ask('DELETE', '/articles/2', ann)).status, 204);
  assert.equal(await post(), '/articles/3');
  assert.equal((await ask('PUT', '/articles/4', { ...ann, content: article('Mine') })).status, 201);
  assert.equal(await post(), '/articles/5');
});

test('POST to the collection returns the Content-Location and the entity tag of the item', async () => {
  const { ask } = openService();
  const posted = await ask('POST', '/articles', { ...ann, content: article('Tea') });
  assert.equal(posted.field('Content-Location'), '/articles/1');
  assert.equal(posted.field('ETag'), (await ask('GET', '/articles/1')).field('ETag'));
});

test('POST to an item changes only the fields that were sent', async () => {
  const { ask } = openService();
  await ask('PUT', '/articles/1', { ...ann, content: article('Tea', '1.00') });
  const changed = await ask('POST', '/articles/1', {
    ...ann,
    content: '<article><title>Mate</title></article>',
  });
  assert.equal(changed.status, 200);
  assert.equal(changed.text, article('Mate', '1.00'));
  assert.equal((await ask('GET', '/articles/1')).text, article('Mate', '1.00'));
});

test('POST to an item that does not exist returns 404 and creates nothing', async () => {
  const { ask } = openService();
  assert.equal((await ask('POST', '/articles/9', { ...ann, content: article('Tea') })).status, 404);
  assert.equal((await ask('GET', '/articles/9')).status, 404);
});

test('the response to PUT has validators if the content was stored byte for byte (RFC 9110 §9.3.4)', async () => {
  const { ask } = openService();
  const put = (fields: Record<string, string> = {}, content = article('Tea')) =>
    ask('PUT', '/articles/1', { ...ann, content, fields });
  const created = await put();
  assert.equal(created.status, 201);
  const replies = [created, await put(), await put({ Prefer: 'return=minimal' })];
  const get = await ask('GET', '/articles/1');
  assert.deepEqual(
    replies.map(({ status }) => status),
    [201, 200, 204],
  );
  assert.equal(replies.at(-1)?.field('ETag'), get.field('ETag'));
  for (const reply of replies) {
    assert.match(reply.field('ETag'), /^"[^"]+\.x"$/);
    assert.notEqual(reply.field('Last-Modified'), '');
  }
  const again = await put({ 'If-Match': get.field('ETag') }, article('Mate'));
  assert.equal(again.status, 200);
  assert.equal((await put({ 'If-Match': get.field('ETag') })).status, 412);
  assert.equal((await put({ 'If-Match': again.field('ETag') })).status, 200);
});

test('the response to PUT has no validators if the content was stored differently (RFC 9110 §9.3.4)', async () => {
  const { ask } = openService();
  const cases: readonly (readonly [
    name: string,
    content: string | Uint8Array,
    fields: Record<string, string>,
  ])[] = [
    ['white space', `${article('Tea')}\n`, {}],
    ['an XML declaration', `<?xml version="1.0"?>${article('Tea')}`, {}],
    ['a comment', article('Tea').replace('><', '><!-- c --><'), {}],
    ['another preferred format', article('Tea'), { Accept: 'application/json' }],
    ['compressed content', gzipSync(article('Tea')), { 'Content-Encoding': 'gzip' }],
    ['a compressed response', article('Tea'.repeat(2000)), { 'Accept-Encoding': 'gzip' }],
  ];
  for (const [name, content, fields] of cases) {
    const reply = await ask('PUT', '/articles/1', { ...ann, content, fields });
    assert.ok([200, 201].includes(reply.status), name);
    assert.deepEqual([reply.field('ETag'), reply.field('Last-Modified')], ['', ''], name);
  }
});

test('Prefer: return=minimal omits the representation', async () => {
  const { ask } = openService();
  const fields = { Prefer: 'return=minimal' };
  const statuses = [
    await ask('PUT', '/articles/1', { ...ann, fields, content: article('Tea') }),
    await ask('PUT', '/articles/1', { ...ann, fields, content: article('Mate') }),
    await ask('POST', '/articles/1', { ...ann, fields, content: article('Maté') }),
    await ask('POST', '/articles', { ...ann, fields, content: article('More') }),
  ];
  assert.deepEqual(
    statuses.map((reply) => [reply.status, reply.text, reply.field('Preference-Applied')]),
    [201, 204, 204, 201].map((status) => [status, '', 'return=minimal']),
  );
});

test('Prefer: return=representation is confirmed by Preference-Applied', async () => {
  const { ask } = openService();
  const fields = { Prefer: 'return=representation' };
  const reply = await ask('PUT', '/articles/1', { ...ann, fields, content: article('Tea') });
  assert.equal(reply.field('Preference-Applied'), 'return=representation');
  assert.equal(reply.field('Content-Location'), '/articles/1');
  assert.equal(reply.text, article('Tea'));
});

test('with createWithPut: false, PUT to a new URL returns 404', async () => {
  const { ask } = openService({
    collections: {
      '/notes': {
        element: 'notes',
        item: 'note',
        fields: { text: { type: 'text' } },
        access: { read: 'anyone', write: 'authenticated' },
        createWithPut: false,
      },
    },
  });
  const content = '<note><text>a</text></note>';
  assert.equal((await ask('PUT', '/notes/1', { ...ann, content })).status, 404);
  assert.equal((await ask('POST', '/notes', { ...ann, content })).status, 201);
  assert.equal((await ask('PUT', '/notes/1', { ...ann, content })).status, 200);
});

test('an id that a client chooses must be one segment of 1 to 128 bytes without control characters', async () => {
  const { ask } = openService();
  const put = (id: string) => ask('PUT', `/articles/${id}`, { ...ann, content: article('Tea') });
  const good = [
    'a',
    '__proto__',
    'constructor',
    'toString',
    'a%20b',
    '%C3%BC',
    'a:b@c',
    '...',
    'x'.repeat(128),
    '0',
  ];
  for (const id of good) {
    const reply = await put(id);
    assert.equal(reply.status, 201, id);
    assert.equal(reply.field('Location'), `/articles/${id}`);
    assert.equal((await ask('GET', `/articles/${id}`)).status, 200, id);
  }
  for (const id of ['a%2Fb', 'a%00b', 'a%7Fb', '%C2%85', 'x'.repeat(129), '%C3%BC'.repeat(65)]) {
    const reply = await put(id);
    assert.equal(`${reply.status} ${reply.member('type')}`, '400 /problems/invalid-id', id);
    assert.equal((await ask('GET', `/articles/${id}`)).status, 404, id);
  }
});

test('a path with other percent-encoding of the same octets identifies the same item', async () => {
  const { ask } = openService();
  await ask('PUT', '/articles/%7ea%2db', { ...ann, content: article('Tea') });
  assert.equal((await ask('GET', '/articles/~a-b')).status, 200);
});

test('a user without access receives the same 403 for an existing and a missing item', async () => {
  const { ask } = openService({ seed: { '/users/ann/financialrecords': [{ description: 'x' }] } });
  const there = await ask('GET', '/users/ann/financialrecords/1', { user: 'bob' });
  const absent = await ask('GET', '/users/ann/financialrecords/2', { user: 'bob' });
  assert.equal(there.status, 403);
  assert.equal(there.text.replaceAll('/1', '/2'), absent.text);
});

test('exactly one of concurrent PUTs with If-Match succeeds, and its content is stored', async () => {
  const { ask } = openService();
  await ask('PUT', '/articles/1', { ...ann, content: article('Tea', '0.00') });
  const tag = (await ask('GET', '/articles/1')).field('ETag');
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      ask('PUT', '/articles/1', {
        ...ann,
        fields: { 'If-Match': tag },
        content: article(`n${at}`, `${at}.00`),
      }),
    ),
  );
  const winners = replies.filter(({ status }) => status === 200);
  assert.equal(winners.length, 1);
  assert.equal(replies.filter(({ status }) => status === 412).length, 49);
  assert.equal((await ask('GET', '/articles/1')).text, winners[0]?.text);
});

test('concurrent PUTs without preconditions all succeed, one after the other', async () => {
  const { ask } = openService();
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, at) => ask('PUT', '/articles/1', { ...ann, content: article(`n${at}`) })),
  );
  assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(19).fill(200), 201]);
});

test('concurrent POSTs to one item lose no field', async () => {
  const { ask } = openService();
  await ask('PUT', '/articles/1', { ...ann, content: article('Tea', '1.00') });
  await Promise.all([
    ask('POST', '/articles/1', { ...ann, content: '<article><title>Mate</title></article>' }),
    ask('POST', '/articles/1', { ...ann, content: '<article><price currency="USD">2.00</price></article>' }),
  ]);
  const { text } = await ask('GET', '/articles/1');
  assert.equal(text, '<article><title>Mate</title><price currency="USD">2.00</price></article>');
});

const notes = (fields: CollectionDeclaration['fields']) =>
  ({
    '/notes': { element: 'notes', item: 'note', fields, access: { read: 'anyone', write: 'anyone' } },
  }) as const;

test('an item has another entity tag if a new declaration changes its representation', async () => {
  const store = createMemoryStore({ storeId: 'abc' });
  const wide = openService({ store, collections: notes({ x: { type: 'text' }, y: { type: 'text' } }) });
  await wide.ask('PUT', '/notes/1', { content: '<note><x>1</x><y>2</y></note>' });
  const before = (await wide.ask('GET', '/notes/1')).field('ETag');
  const narrow = openService({ store, collections: notes({ x: { type: 'text' } }) });
  const after = await narrow.ask('GET', '/notes/1', { fields: { 'If-None-Match': before } });
  assert.equal(`${after.status} ${after.text}`, '200 <note><x>1</x></note>');
  assert.notEqual(after.field('ETag'), before);
});

test('a partial change preserves the fields of an earlier declaration', async () => {
  const store = createMemoryStore({ storeId: 'abc' });
  const wide = openService({ store, collections: notes({ x: { type: 'text' }, y: { type: 'text' } }) });
  await wide.ask('PUT', '/notes/1', { content: '<note><x>1</x><y>2</y></note>' });
  const narrow = openService({ store, collections: notes({ x: { type: 'text' } }) });
  assert.equal((await narrow.ask('POST', '/notes/1', { content: '<note><x>3</x></note>' })).status, 200);
  assert.equal((await wide.ask('GET', '/notes/1')).text, '<note><x>3</x><y>2</y></note>');
});

test('an attribute of 300,000 characters is accepted and returned', async () => {
  const { ask } = openService({
    collections: notes({ x: { type: 'text', attributes: { a: { type: 'text' } } } }),
  });
  const content = `<note><x a="${'y'.repeat(300_000)}">1</x></note>`;
  assert.equal((await ask('PUT', '/notes/1', { content })).status, 201);
  assert.equal((await ask('GET', '/notes/1')).text, content);
});

test('the href of each item in a list identifies the item, for any id', async () => {
  const { ask } = openService();
  for (const id of ['a%20b', '%C3%BC', 'a:b@c!$&()*+,;=', '100%25', '%22%3C']) {
    await ask('PUT', `/articles/${id}`, { ...ann, content: article(id.length.toString()) });
  }
  const { text } = await ask('GET', '/articles', { fields: { Accept: 'application/json' } });
  const items: { href: string; title: string }[] = JSON.parse(text).articles;
  assert.equal(items.length, 5);
  for (const { href, title } of items) {
    assert.equal((await ask('GET', href)).text, article(title), href);
  }
});

test('a change that the store rejects returns 507 or 503, and reading still succeeds', async () => {
  for (const [code, status, type] of [
    ['full', 507, 'store-full'],
    ['failed', 503, 'store-unavailable'],
  ] as const) {
    const memory = createMemoryStore({ storeId: 'abc' });
    const faults: unknown[] = [];
    const store: Store = { ...memory, apply: () => Promise.reject(new StoreError(code, 'no disk')) };
    const { ask } = openService({ store, onError: (error) => faults.push(error) });
    const reply = await ask('POST', '/articles', { ...ann, content: article('Tea') });
    assert.equal(`${reply.status} ${reply.member('type')}`, `${status} /problems/${type}`);
    assert.equal(faults.length, 1);
    assert.equal((await ask('GET', '/articles')).status, 200);
    store.apply = () => Promise.reject(new StoreError(code, 'no disk', { reported: true }));
    assert.equal((await ask('POST', '/articles', { ...ann, content: article('Tea') })).status, status);
    assert.equal(faults.length, 1, 'the store told of it itself');
  }
});

test('the problem of a failed change reports whether the change may have been made', async () => {
  for (const uncertain of [true, false]) {
    const failure = new StoreError('failed', 'no connection', { reported: true, uncertain });
    const store: Store = {
      ...createMemoryStore({ storeId: 'abc' }),
      apply: () => Promise.reject(failure),
    };
    const { ask } = openService({ store });
    const reply = await ask('POST', '/articles', { ...ann, content: article('Tea') });
    assert.equal(reply.status, 503);
    assert.match(reply.text, uncertain ? /The change may have been made:/ : /The change was not made:/);
  }
});
