import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { defineCollection } from '../../src/collections/declaration.ts';
import { StoredDataCheck } from '../../src/collections/stored-data-check.ts';
import { createRequest } from '../../src/http/message.ts';
import { createControllableService } from '../../src/service/service.ts';

import { createMemoryStore, type MemoryStore } from '../../src/store/memory.ts';
import type { StoredRecord } from '../../src/store/store.ts';
import { call, startServer } from '../support/cli/command.ts';
import { begun, History } from '../support/store/history.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const open = { read: 'anyone', write: 'anyone' } as const;
const articles = {
  element: 'articles',
  item: 'article',
  fields: {
    title: { type: 'text' },
    price: {
      type: 'decimal',
      fractionDigits: 2,
      required: true,
      attributes: { currency: { type: 'currency' } },
    },
  },
} as const;

/** Returns a function that sends requests in JSON. */
function sender(url: string) {
  return async (
    method: string,
    path: string,
    content?: StoredRecord,
  ): Promise<{ status: number; text: string }> => {
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const body = content === undefined ? {} : { body: JSON.stringify(content) };
    const reply = await fetch(`${url}${path}`, { method, headers, ...body });
    return { status: reply.status, text: await reply.text() };
  };
}

/** Returns a store with these articles. */
function openedWith(...values: readonly StoredRecord[]): MemoryStore {
  const store = createMemoryStore({ storeId: 'k3x9' });
  for (const value of values) store.applyNow({ kind: 'create', collection: '/articles', value, at: begun });
  return store;
}

/** Creates a data directory with these articles. */
function createDirectory(...values: readonly StoredRecord[]): string {
  const data = temporaryDirectory();
  const made = new History();
  for (const value of values) made.add({ kind: 'create', collection: '/articles', value, at: begun });
  made.snapshot();
  for (const [name, content] of made.files) writeFileSync(join(data, name), content, { mode: 0o600 });
  return data;
}

const price = { value: '1.00', currency: 'EUR' };
const warning =
  "2 items break today's rules: title of /articles/2 must be a JSON string (not shown); price of /articles/1 is missing; field tags is no longer shown (in 1 item of /articles)";
const mixed: readonly StoredRecord[] = [
  { title: 'a' },
  { title: ['secret'], price, tags: 'b' },
  { title: 'c', price },
];

test('check and serve exit with 1 if an item cannot be shown, and do not change the data', async () => {
  const data = createDirectory(...mixed);
  const before = readFileSync(join(data, 'store.jsonl'), 'utf8');
  const message = `countersign: ${warning}. 1 item cannot be shown: restore the declaration, or edit or remove the item with "countersign export" and "countersign import", or start with --on-mismatch warn\n`;
  for (const args of [[], ['--on-mismatch', 'refuse']]) {
    const checked = await call(['check', '--data', data, ...args]);
    assert.deepEqual([checked.status, checked.stderr, checked.stdout], [1, message, '']);
  }
  const started = await call(['--data', data, '--port', '0']);
  assert.deepEqual([started.status, started.stderr, started.stdout], [1, message, '']);
  assert.equal(readFileSync(join(data, 'store.jsonl'), 'utf8'), before);
});

test('with --on-mismatch warn, the server starts and reports the mismatches, and check exits with 0', async () => {
  const data = createDirectory(...mixed);
  const checked = await call(['check', '--data', data, '--on-mismatch', 'warn']);
  assert.equal(checked.status, 0);
  assert.ok(checked.stderr.includes(`countersign: ${warning}\n`), checked.stderr);
  const config = join(temporaryDirectory(), 'config.json');
  writeFileSync(config, JSON.stringify({ collections: { '/articles': { ...articles, access: open } } }));
  const options = ['--config', config, '--data', data, '--on-mismatch', 'warn', '--port', '0', '--no-tls'];
  const server = await startServer(options);
  assert.ok((await server.awaitStderr(/break/)).includes(`countersign: ${warning}\n`));
  const send = sender(server.url);
  for (let round = 0; round < 2; round += 1) {
    const hidden = await send('GET', '/articles/2');
    assert.equal(hidden.status, 404);
    assert.match(hidden.text, /"type":"\/problems\/not-found"/);
    assert.match(hidden.text, /does not match the declaration of its collection, so it is not shown/);
    const list = await send('GET', '/articles');
    assert.deepEqual(
      [list.status, list.text],
      [
        200,
        '{"articles":[{"href":"/articles/1","title":"a"},{"href":"/articles/3","title":"c","price":{"value":"1.00","currency":"EUR"}}]}',
      ],
    );
  }
  assert.equal(
    (await send('GET', '/articles?limit=1')).text,
    '{"articles":[{"href":"/articles/1","title":"a"}]}',
  );
  assert.equal((await send('HEAD', '/articles/2')).status, 404);
  assert.equal((await send('POST', '/articles/2', { price })).status, 404, 'a change of other fields');
  assert.equal((await send('PUT', '/articles/2', { title: 'b', price })).status, 200);
  assert.equal((await send('GET', '/articles/2')).status, 200);
  const ended = await server.stop();
  assert.equal(ended.status, 0);
  assert.doesNotMatch(ended.stderr, /Error/);
});

test('an item that is not shown can be deleted, and corrected by a POST of the mismatched field', async () => {
  const service = createControllableService({
    store: openedWith({ title: ['a'], price }, { title: ['b'], price }),
    collections: { '/articles': { ...articles, access: open } },
  });
  const request = (method: string, path: string, content?: string) =>
    service.respond(
      createRequest({
        method,
        target: path,
        headers: [['Content-Type', 'application/json']],
        ...(content === undefined ? {} : { body: content }),
      }),
    );
  assert.equal((await request('GET', '/articles/1')).status, 404);
  assert.equal((await request('POST', '/articles/1', '{"title":"c"}')).status, 200);
  assert.equal((await request('GET', '/articles/1')).status, 200);
  assert.equal((await request('DELETE', '/articles/2')).status, 204);
  await service.close();
});

test('violations of a rule that was added later are reported, and do not prevent a start', async () => {
  const data = createDirectory({ title: 'a' });
  const checked = await call(['check', '--data', data]);
  assert.equal(checked.status, 0, checked.stderr);
  const found = "1 item breaks today's rules: price of /articles/1 is missing";
  assert.ok(checked.stderr.includes(`countersign: ${found}\n`), checked.stderr);
  const server = await startServer(['--data', data, '--port', '0', '--no-tls']);
  assert.ok((await server.awaitStderr(/breaks/)).includes(`countersign: ${found}\n`));
  assert.equal((await fetch(`${server.url}/articles/1`)).status, 200);
  assert.equal((await server.stop()).status, 0);
});

test('at most three items and three fields are named, without their values', () => {
  const fields = {
    size: { type: 'integer', min: 5 },
    code: { type: 'text', pattern: '[a-z]+' },
    tags: { type: 'list', of: { type: 'element', fields: {} } },
  } as const;
  const collection = defineCollection('/users/{name}/notes', { element: 'notes', item: 'note', fields });
  const check = new StoredDataCheck([collection]);
  assert.equal(check.result(), undefined);
  const add = (id: number, value: StoredRecord): void =>
    check.add('/users/ann/notes', { id: String(id), sequence: id, revision: id, modified: 0, value });
  add(1, { size: 4, a: 'x', b: 'x', c: 'x', d: 'x', e: 'x' });
  add(2, { size: 7, code: 'secret, is 1', a: 'y' });
  add(3, { size: 7, tags: [{ inner: 'z' }, { inner: 'z' }] });
  for (let id = 4; id < 8; id += 1) add(id, { size: 1 });
  assert.deepEqual(check.result(), {
    items: 6,
    misfits: 0,
    hidden: 0,
    summary:
      "6 items break today's rules: size of /users/ann/notes/1 must be at least 5; code of /users/ann/notes/2 must match the pattern [a-z]+; size of /users/ann/notes/4 must be at least 5; and 3 more; " +
      'field a is no longer shown (in 2 items of /users/{name}/notes); field b is no longer shown (in 1 item of /users/{name}/notes); field c is no longer shown (in 1 item of /users/{name}/notes); and 3 other fields',
  });
});

test('a value that its field no longer permits prevents a start, even if it can be serialized', async () => {
  const data = createDirectory({ title: 'hello', price });
  const config = join(temporaryDirectory(), 'config.json');
  const { title: _, ...others } = articles.fields;
  const changed = { ...articles, access: open, fields: { title: { type: 'integer' }, ...others } };
  writeFileSync(config, JSON.stringify({ collections: { '/articles': changed } }));
  const options = ['--data', data, '--config', config, '--port', '0', '--no-tls'];
  const message =
    'countersign: 1 item breaks today\'s rules: title of /articles/1 must be a JSON number. 1 item cannot be shown as declared: restore the declaration, or edit or remove the item with "countersign export" and "countersign import", or start with --on-mismatch warn\n';
  const checked = await call(['check', ...options]);
  assert.deepEqual([checked.status, checked.stderr, checked.stdout], [1, message, '']);
  const started = await call(options);
  assert.deepEqual([started.status, started.stderr, started.stdout], [1, message, '']);
  const server = await startServer([...options, '--on-mismatch', 'warn']);
  assert.equal((await sender(server.url)('GET', '/articles/1')).status, 200);
  await server.stop();
});

test('items of a collection that is no longer declared are reported at a start, and check exits with 1', async () => {
  const data = createDirectory({ title: 'a', price }, { title: 'b', price });
  const config = join(temporaryDirectory(), 'config.json');
  writeFileSync(config, JSON.stringify({ collections: { '/books': { ...articles, access: open } } }));
  const options = ['--data', data, '--config', config, '--port', '0', '--no-tls'];
  const message =
    'countersign: not declared, so that requests get 404: /articles (2 items); restore the declaration, or edit or remove the items with "countersign export" and "countersign import"\n';
  const checked = await call(['check', ...options]);
  assert.deepEqual([checked.status, checked.stderr], [1, message]);
  assert.match(checked.stdout, /^items {8}\/articles: 2$/m);
  const server = await startServer(options);
  await server.awaitStderr(/not declared/);
  const ended = await server.stop();
  assert.equal(ended.status, 0);
  assert.ok(ended.stderr.includes(message), ended.stderr);
});

test('items with the same unique values are listed by check and refused by import', async () => {
  const unique = { ...articles, fields: { title: { type: 'text', unique: true } } };
  const config = join(temporaryDirectory(), 'countersign.json');
  writeFileSync(config, JSON.stringify({ collections: { '/articles': unique } }), { mode: 0o600 });
  const data = createDirectory({ title: 'a' }, { title: 'b' }, { title: 'a' });
  const checked = await call(['check', '--data', data, '--config', config]);
  assert.match(
    checked.stderr,
    /1 item breaks today's rules: title of \/articles\/3 equals that of \/articles\/1\n/,
  );
  const exported = await call(['export', '--data', data]);
  const file = join(temporaryDirectory(), 'export.jsonl');
  writeFileSync(file, exported.stdout);
  const imported = await call([
    'import',
    '--input',
    file,
    '--data',
    join(temporaryDirectory(), 'new'),
    '--config',
    config,
  ]);
  assert.equal(imported.status, 1);
  assert.match(
    imported.stderr,
    /\/articles\/3 does not match its declaration: title equals that of \/articles\/1/,
  );
});

test('items that refer to none are listed by check and refused by import', async () => {
  const reference = { type: 'reference', to: '/articles' };
  const collections = {
    '/articles': { ...articles, fields: { title: reference } },
  };
  const config = join(temporaryDirectory(), 'countersign.json');
  writeFileSync(config, JSON.stringify({ collections }), { mode: 0o600 });
  const data = createDirectory({ title: '2' }, { title: '1' }, { title: '9' });
  const checked = await call(['check', '--data', data, '--config', config]);
  const broken = 'title of \\/articles\\/3 refers to no item of \\/articles';
  assert.match(checked.stderr, new RegExp(`1 item breaks today's rules: ${broken}\\n`));
  const exported = await call(['export', '--data', data]);
  const file = join(temporaryDirectory(), 'export.jsonl');
  writeFileSync(file, exported.stdout);
  const target = join(temporaryDirectory(), 'new');
  const read = ['import', '--input', file, '--data', target, '--config', config];
  const refused = await call(read);
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /\/articles\/3 does not match its declaration: title refers to no item of \/articles\n/,
  );
  const imported = await call([...read, '--on-mismatch', 'warn']);
  assert.equal(imported.status, 0);
  assert.match(imported.stderr, new RegExp(broken));
});
