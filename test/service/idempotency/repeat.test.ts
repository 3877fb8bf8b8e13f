import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import { defaultDeclarations } from '../../../src/collections/declaration.ts';
import type { CollectionDeclaration, ServiceOptions } from '../../../src/index.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  type Answer,
  type Asking,
  article,
  type OpenedService,
  openService,
} from '../../support/service/open-service.ts';

const day = 86_400_000;
const articles = defaultDeclarations['/articles'] ?? assert.fail();

function declared(more: Partial<CollectionDeclaration>): ServiceOptions {
  return { collections: { '/articles': { ...articles, ...more } } };
}

const accepted = declared({ idempotency: 'accepted' });
const required = declared({ idempotency: 'required' });

/** A request of ann with a key. */
function keyed(key: string, content?: string, more: Record<string, string> = {}): Asking {
  const asking = { user: 'ann', fields: { 'Idempotency-Key': `"${key}"`, ...more } };
  return content === undefined ? asking : { ...asking, content };
}

async function countArticles({ ask }: OpenedService): Promise<number> {
  const list = await ask('GET', '/articles', { fields: { Accept: 'application/json' } });
  return JSON.parse(list.text).articles.length;
}

/** The parts of a response that a client relies on. */
function seen(answer: Answer): unknown {
  const names = [
    ...['Location', 'Content-Location', 'ETag', 'Last-Modified', 'Content-Type', 'Preference-Applied'],
  ];
  return [answer.status, answer.text, ...names.map((name) => answer.field(name))];
}

describe('a repeated POST to a collection', () => {
  test('creates one item, and gets the first response again', async () => {
    const service = openService(accepted);
    const first = await service.ask('POST', '/articles', keyed('k', article('Tea')));
    service.clock.advance(60_000);
    const second = await service.ask('POST', '/articles', keyed('k', article('Tea')));
    assert.equal(first.status, 201);
    assert.equal(first.field('Location'), '/articles/1');
    assert.deepEqual(seen(second), seen(first));
    assert.equal(await countArticles(service), 1);
  });

  test('gets the first response unchanged, even if the item was changed or deleted since', async () => {
    const service = openService(accepted);
    const first = await service.ask('POST', '/articles', keyed('k', article('Tea')));
    await service.ask('PUT', '/articles/1', { user: 'ann', content: article('Coffee') });
    assert.deepEqual(seen(await service.ask('POST', '/articles', keyed('k', article('Tea')))), seen(first));
    await service.ask('DELETE', '/articles/1', { user: 'ann' });
    assert.deepEqual(seen(await service.ask('POST', '/articles', keyed('k', article('Tea')))), seen(first));
    assert.equal(await countArticles(service), 0);
  });

  test('is recognized in another format, with other white space or another order of members', async () => {
    const service = openService(accepted);
    await service.ask('POST', '/articles', keyed('k', article('Tea')));
    const content = '{ "price": { "currency": "EUR", "value": "9.99" }, "title": "Tea" }';
    const again = await service.ask('POST', '/articles', {
      ...keyed('k', content),
      type: 'application/json',
    });
    assert.equal(again.status, 201);
    assert.equal(again.field('Location'), '/articles/1');
    assert.equal(await countArticles(service), 1);
  });

  test('is rejected with 422 if its content differs, and changes nothing', async () => {
    const service = openService(accepted);
    await service.ask('POST', '/articles', keyed('k', article('Tea')));
    const other = await service.ask('POST', '/articles', keyed('k', article('Coffee')));
    assert.equal(other.status, 422);
    assert.equal(other.member('type'), '/problems/idempotency-key-reused');
    assert.equal(await countArticles(service), 1);
  });

  test('creates another item if another user sends the same key', async () => {
    const service = openService(accepted);
    const first = await service.ask('POST', '/articles', keyed('k', article('Tea')));
    const other = await service.ask('POST', '/articles', { ...keyed('k', article('Tea')), user: 'bob' });
    assert.deepEqual([first.field('Location'), other.field('Location')], ['/articles/1', '/articles/2']);
  });

  test('creates another item once the key has expired', async () => {
    const service = openService(accepted);
    await service.ask('POST', '/articles', keyed('k', article('Tea')));
    service.clock.advance(day - 1);
    assert.equal(
      (await service.ask('POST', '/articles', keyed('k', article('Tea')))).field('Location'),
      '/articles/1',
    );
    service.clock.advance(1);
    assert.equal(
      (await service.ask('POST', '/articles', keyed('k', article('Tea')))).field('Location'),
      '/articles/2',
    );
  });

  test('is performed with corrected content if the first one was rejected', async () => {
    const service = openService(accepted);
    const wrong = await service.ask('POST', '/articles', keyed('k', '<article><title>Tea</title></article>'));
    assert.equal(wrong.status, 422);
    assert.equal(wrong.member('type'), '/problems/invalid-content');
    const right = await service.ask('POST', '/articles', keyed('k', article('Tea')));
    assert.equal(right.status, 201);
  });

  test('is performed if the first one could not be stored', async () => {
    const memory = createMemoryStore({ storeId: 's' });
    let attempts = 0;
    const store = {
      ...memory,
      async apply(change: Parameters<typeof memory.apply>[0]) {
        attempts += 1;
        if (attempts === 1) throw new StoreError('failed', 'the disk failed');
        return memory.apply(change);
      },
    };
    const service = openService({ ...accepted, store, onError: () => {} });
    assert.equal((await service.ask('POST', '/articles', keyed('k', article('Tea')))).status, 503);
    assert.equal((await service.ask('POST', '/articles', keyed('k', article('Tea')))).status, 201);
    assert.equal(await countArticles(service), 1);
  });
});

describe('a repeated change of an item', () => {
  test('a repeated PUT with If-Match gets 200 again, although the entity tag has changed', async () => {
    const service = openService(accepted);
    const { ask } = service;
    const created = await ask('PUT', '/articles/1', keyed('a', article('Tea')));
    const tag = (await ask('GET', '/articles/1')).field('ETag');
    const first = await ask('PUT', '/articles/1', keyed('b', article('Coffee'), { 'If-Match': tag }));
    assert.deepEqual([created.status, first.status], [201, 200]);
    const second = await ask('PUT', '/articles/1', keyed('b', article('Coffee'), { 'If-Match': tag }));
    assert.deepEqual(seen(second), seen(first));
    assert.equal(
      (await ask('PUT', '/articles/1', keyed('c', article('Milk'), { 'If-Match': tag }))).status,
      412,
    );
  });

  test('a repeated PUT does not undo a later change', async () => {
    const { ask } = openService(accepted);
    await ask('PUT', '/articles/1', keyed('k', article('Tea')));
    await ask('PUT', '/articles/1', { user: 'bob', content: article('Coffee') });
    assert.equal((await ask('PUT', '/articles/1', keyed('k', article('Tea')))).status, 201);
    assert.match((await ask('GET', '/articles/1')).text, /Coffee/);
  });

  test('a repeated POST gets the first merged item again', async () => {
    const { ask } = openService(accepted);
    await ask('PUT', '/articles/1', { user: 'ann', content: article('Tea') });
    const change = keyed('k', '<article><title>Milk</title></article>');
    const first = await ask('POST', '/articles/1', change);
    await ask('PUT', '/articles/1', { user: 'ann', content: article('Coffee', '1.00') });
    const second = await ask('POST', '/articles/1', change);
    assert.equal(first.status, 200);
    assert.match(second.text, /<title>Milk<\/title><price currency="EUR">9\.99</);
    assert.deepEqual(seen(second), seen(first));
  });

  test('a repeated DELETE gets 204 again instead of 404', async () => {
    const { ask } = openService(accepted);
    await ask('PUT', '/articles/1', { user: 'ann', content: article('Tea') });
    assert.equal((await ask('DELETE', '/articles/1', keyed('k'))).status, 204);
    assert.equal((await ask('DELETE', '/articles/1', keyed('k'))).status, 204);
    assert.equal((await ask('DELETE', '/articles/1', keyed('other'))).status, 404);
  });

  test('the same key with another method or precondition is rejected with 422', async () => {
    const { ask } = openService(accepted);
    await ask('PUT', '/articles/1', keyed('k', article('Tea')));
    const requests = [
      ['POST', keyed('k', article('Tea'))],
      ['DELETE', keyed('k')],
      ['PUT', keyed('k', article('Tea'), { 'If-Match': '*' })],
    ] as const;
    for (const [method, asking] of requests) {
      const answer = await ask(method, '/articles/1', asking);
      assert.equal(answer.status, 422, method);
      assert.equal(answer.member('type'), '/problems/idempotency-key-reused');
    }
  });

  test('a PUT to another path with the same key is performed', async () => {
    const service = openService(accepted);
    for (const path of ['/articles/a', '/articles/b'])
      assert.equal((await service.ask('PUT', path, keyed('k', article('Tea')))).status, 201);
    assert.equal(await countArticles(service), 2);
  });
});

describe('Idempotency-Key', () => {
  test('is required only for POST, and a POST without it is rejected with 400', async () => {
    const { ask } = openService(required);
    const missing = await ask('POST', '/articles', { user: 'ann', content: article('Tea') });
    assert.equal(missing.status, 400);
    assert.equal(missing.member('type'), '/problems/idempotency-key-missing');
    assert.equal((await ask('PUT', '/articles/1', { user: 'ann', content: article('Tea') })).status, 201);
    const item = await ask('POST', '/articles/1', { user: 'ann', content: article('Tea') });
    assert.equal(item.member('type'), '/problems/idempotency-key-missing');
    assert.equal((await ask('DELETE', '/articles/1', { user: 'ann' })).status, 204);
  });

  for (const [what, value] of [
    ['a token', 'abc'],
    ['a number', '12'],
    ['empty', ''],
    ['an empty string', '""'],
    ['a string without an end', '"abc'],
    ['two strings', '"a", "b"'],
    ['bytes', ':YWJj:'],
    ['a string of 256 characters', `"${'x'.repeat(256)}"`],
  ] as const) {
    test(`is rejected with 400 if it is ${what}, and nothing is changed`, async () => {
      const service = openService(accepted);
      const fields = { 'Idempotency-Key': value };
      const answer = await service.ask('POST', '/articles', { user: 'ann', fields, content: article('Tea') });
      assert.equal(answer.status, 400);
      assert.equal(answer.member('type'), '/problems/malformed-idempotency-key');
      assert.equal(await countArticles(service), 0);
    });
  }

  test('is checked after access: a POST without credentials gets 401 even if the key is malformed', async () => {
    const { ask } = openService(accepted);
    const fields = { 'Idempotency-Key': 'x' };
    assert.equal((await ask('POST', '/articles', { fields, content: article('Tea') })).status, 401);
  });

  test('is rejected with 400 in an anonymous request, even if anyone may write', async () => {
    const { ask } = openService(
      declared({ idempotency: 'accepted', access: { read: 'anyone', write: 'anyone' } }),
    );
    const fields = { 'Idempotency-Key': '"k"' };
    const answer = await ask('POST', '/articles', { fields, content: article('Tea') });
    assert.equal(answer.status, 400);
    assert.equal(answer.member('type'), '/problems/idempotency-key-anonymous');
    assert.equal((await ask('POST', '/articles', { content: article('Tea') })).status, 201);
  });

  test('is ignored on GET, and by a collection without idempotency', async () => {
    const off = openService(declared({}));
    for (let sent = 0; sent < 2; sent += 1) await off.ask('POST', '/articles', keyed('k', article('Tea')));
    assert.equal(await countArticles(off), 2);
    const { ask } = openService(required);
    assert.equal((await ask('GET', '/articles', { fields: { 'Idempotency-Key': 'malformed' } })).status, 200);
  });

  test('is described by OPTIONS', async () => {
    const { ask } = openService(required);
    for (const path of ['/articles', '/articles/1'])
      assert.equal((await ask('OPTIONS', path)).member('idempotency'), 'required');
    assert.equal((await openService(declared({})).ask('OPTIONS', '/articles')).member('idempotency'), '');
  });

  test('is limited in number per user, and one above the limit gets 429 until the oldest expires', async () => {
    const { ask, clock } = openService({ ...accepted, maxIdempotencyKeysPerUser: 2 });
    await ask('POST', '/articles', keyed('a', article('Tea')));
    clock.advance(1000);
    await ask('POST', '/articles', keyed('b', article('Tea')));
    const refused = await ask('POST', '/articles', keyed('c', article('Tea')));
    assert.equal(refused.status, 429);
    assert.equal(refused.member('type'), '/problems/too-many-idempotency-keys');
    assert.equal(refused.field('Retry-After'), String(day / 1000 - 1));
    const repeated = await ask('POST', '/articles', keyed('a', article('Tea')));
    assert.equal(repeated.field('Location'), '/articles/1');
    assert.equal(
      (await ask('POST', '/articles', { ...keyed('c', article('Tea')), user: 'bob' })).status,
      201,
    );
    clock.advance(day - 1000);
    assert.equal((await ask('POST', '/articles', keyed('c', article('Tea')))).status, 201);
  });
});

describe('the limit of keys of a user', () => {
  for (const [name, wait] of [
    ['in memory', undefined],
    ['on another host', () => new Promise<void>((resolve) => setImmediate(resolve))],
  ] as const) {
    test(`is exact for simultaneous requests to a store ${name}`, async () => {
      const memory = createMemoryStore({ storeId: 'test' });
      const store: Store = {
        ...memory,
        async apply(change) {
          await wait?.();
          return memory.apply(change);
        },
        async receiptsOf(user, now) {
          await wait?.();
          const count = await memory.receiptsOf?.(user, now);
          await wait?.();
          return count ?? { count: 0, freeAt: undefined };
        },
      };
      const { ask } = openService({ ...accepted, store, maxIdempotencyKeysPerUser: 10 });
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) => ask('POST', '/articles', keyed(`k${n}`, article('Tea')))),
      );
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 201).length, 10);
      assert.equal(statuses.filter((status) => status === 429).length, 90);
    });
  }

  test('also applies to the total size of the stored items', async () => {
    const memory = createMemoryStore({ storeId: 'test' });
    const sizes = new Map([['ann', 33_554_432]]);
    const store: Store = {
      ...memory,
      receiptsOf: (user) => ({ count: 1, size: sizes.get(user) ?? 0, freeAt: undefined }),
    };
    const { ask } = openService({ ...accepted, store });
    const refused = await ask('POST', '/articles', keyed('a', article('Tea')));
    assert.equal(refused.status, 429);
    assert.equal(refused.member('type'), '/problems/too-many-idempotency-keys');
    const other = { ...keyed('a', article('Tea')), user: 'bob' };
    assert.equal((await ask('POST', '/articles', other)).status, 201);
  });

  test('does not count a simultaneous change that could not be stored', async () => {
    const memory = createMemoryStore({ storeId: 'test' });
    let changes = 0;
    const store: Store = {
      ...memory,
      async apply(change) {
        changes += 1;
        if (changes > 1) return memory.apply(change);
        await new Promise((resolve) => setImmediate(resolve));
        throw new StoreError('full', 'the disk is full');
      },
    };
    const { ask } = openService({
      ...accepted,
      store,
      maxIdempotencyKeysPerUser: 1,
      onError: () => undefined,
    });
    const answers = await Promise.all(
      ['a', 'b'].map((key) => ask('POST', '/articles', keyed(key, article('Tea')))),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [507, 201],
    );
  });
});

describe('simultaneous requests with one key', () => {
  for (const method of ['POST', 'PUT', 'DELETE'] as const) {
    test(`make one change for 100 ${method} requests, and each gets its response or 409`, async () => {
      const service = openService(accepted);
      const path = method === 'POST' ? '/articles' : '/articles/1';
      if (method === 'DELETE') await service.ask('PUT', path, { user: 'ann', content: article('Tea') });
      const asking = keyed('k', method === 'DELETE' ? undefined : article('Tea'));
      const answers = await Promise.all(Array.from({ length: 100 }, () => service.ask(method, path, asking)));
      const status = { POST: 201, PUT: 201, DELETE: 204 }[method];
      const succeeded = answers.filter((answer) => answer.status === status);
      assert.ok(succeeded.length > 0);
      for (const answer of succeeded) assert.deepEqual(seen(answer), seen(succeeded[0] ?? answer));
      for (const answer of answers) {
        if (answer.status === status) continue;
        assert.equal(answer.member('type'), '/problems/idempotency-key-in-progress');
        assert.deepEqual([answer.status, answer.field('Retry-After')], [409, '1']);
      }
      assert.equal(await countArticles(service), method === 'DELETE' ? 0 : 1);
      assert.deepEqual(seen(await service.ask(method, path, asking)), seen(succeeded[0] ?? assert.fail()));
    });
  }

  test('get 409 while the store is writing, or 422 with other content, and the response afterwards', async () => {
    const memory = createMemoryStore({ storeId: 's' });
    const gate = new EventEmitter();
    const [writing, written] = [once(gate, 'writing'), once(gate, 'written')];
    const store = {
      ...memory,
      apply: async (change: Parameters<typeof memory.apply>[0]) => {
        gate.emit('writing');
        await written;
        return memory.apply(change);
      },
    };
    const { ask } = openService({ ...accepted, store });
    const first = ask('POST', '/articles', keyed('k', article('Tea')));
    await writing;
    assert.equal((await ask('POST', '/articles', keyed('k', article('Tea')))).status, 409);
    assert.equal((await ask('POST', '/articles', keyed('k', article('Milk')))).status, 422);
    gate.emit('written');
    assert.equal((await first).status, 201);
    assert.deepEqual(seen(await ask('POST', '/articles', keyed('k', article('Tea')))), seen(await first));
  });
});

test('a store without receipts is rejected for a collection with idempotency', () => {
  const { receipt: _, ...store } = createMemoryStore({ storeId: 's' });
  assert.throws(
    () => openService({ ...accepted, store }),
    /collections\.\/articles\.idempotency requires a store/,
  );
  openService({ ...declared({}), store });
});
