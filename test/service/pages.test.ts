import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRequest, type Response } from '../../src/http/message.ts';
import { isPromiseLike } from '../../src/maybe-promise.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store, StoredPage, StoredRecord } from '../../src/store/store.ts';
import { seeded } from '../support/seeded.ts';
import { type Answer, openService, start } from '../support/service/open-service.ts';

const mebibyte = 1024 * 1024;

/** A collection whose items have a text and a list. */
const collections = {
  '/things': {
    element: 'things',
    item: 'thing',
    fields: { text: { type: 'text' }, list: { type: 'list', of: { type: 'text' }, item: 'i' } },
    access: { read: 'anyone', write: 'nobody' },
  },
} as const;

async function createStore(values: readonly StoredRecord[]): Promise<Store> {
  const store = createMemoryStore({ storeId: 'test' });
  for (const value of values) await store.apply({ kind: 'create', collection: '/things', value, at: start });
  return store;
}

async function createPagesService(values: readonly StoredRecord[]) {
  return openService({ collections, store: await createStore(values) });
}

function texts(count: number, length: number, character = 'x'): StoredRecord[] {
  return Array.from({ length: count }, () => ({ text: character.repeat(length) }));
}

/** The target of the link to the next page; undefined where there is none. */
function parseNextLink(answer: Answer): string | undefined {
  return /<([^>]*)>; rel="?next/.exec(answer.field('Link'))?.[1];
}

function hrefsIn(answer: Answer): string[] {
  return [...answer.text.matchAll(/href"?[=:]"([^"]*)"/g)].map(([, href]) => href ?? '');
}

const listHrefs = (count: number): string[] => Array.from({ length: count }, (_, at) => `/things/${at + 1}`);

for (const accept of ['application/xml', 'application/json']) {
  describe(`a page of ${accept}`, () => {
    test('has at most 1 MiB, and the following pages contain the other items', async () => {
      const testService = await createPagesService(texts(40, 100_000));
      const hrefs: string[] = [];
      let pages = 0;
      for (let next: string | undefined = '/things?limit=500'; next !== undefined; pages += 1) {
        const page: Answer = await testService.ask('GET', next, { fields: { Accept: accept } });
        assert.equal(page.status, 200);
        assert.ok(page.bytes.length <= mebibyte, `${page.bytes.length} bytes`);
        hrefs.push(...hrefsIn(page));
        next = parseNextLink(page);
        assert.ok(next === undefined || page.bytes.length > mebibyte - 101_000, `${page.bytes.length} bytes`);
      }
      assert.deepEqual(hrefs, listHrefs(40));
      assert.equal(pages, 4);
    });

    test('is limited in bytes, not in characters', async () => {
      const testService = await createPagesService(texts(20, 100_000, '\u20ac'));
      const page = await testService.ask('GET', '/things', { fields: { Accept: accept } });
      assert.deepEqual(hrefsIn(page), listHrefs(3));
    });

    test('has at least one item, however large the item is', async () => {
      const testService = await createPagesService([{ text: 'a' }, ...texts(2, 3 * mebibyte), { text: 'z' }]);
      const found: string[][] = [];
      for (let next: string | undefined = '/things'; next !== undefined; ) {
        const page: Answer = await testService.ask('GET', next, { fields: { Accept: accept } });
        found.push(hrefsIn(page));
        next = parseNextLink(page);
      }
      assert.deepEqual(found, [['/things/1'], ['/things/2'], ['/things/3'], ['/things/4']]);
    });

    test('is the same for HEAD, and returns 304 for a matching If-None-Match', async () => {
      const testService = await createPagesService(texts(40, 100_000));
      const fields = { Accept: accept };
      const page = await testService.ask('GET', '/things?limit=30&after=2', { fields });
      const head = await testService.ask('HEAD', '/things?limit=30&after=2', { fields });
      assert.equal(head.headOnly, true);
      for (const name of ['ETag', 'Link', 'Last-Modified']) assert.equal(head.field(name), page.field(name));
      assert.deepEqual(head.bytes, page.bytes);
      const etag = page.field('ETag');
      const again = await testService.ask('GET', '/things?limit=30&after=2', {
        fields: { ...fields, 'If-None-Match': etag },
      });
      assert.deepEqual([again.status, again.field('ETag')], [304, etag]);
    });
  });
}

test('a last page of exactly 1 MiB has no next link, and one more byte adds a page', async () => {
  const empty = (await (await createPagesService(texts(2, 0))).ask('GET', '/things')).bytes.length;
  for (const [more, links] of [
    [0, undefined],
    [1, '/things?after=1'],
  ] as const) {
    const values = [...texts(1, 1000), ...texts(1, mebibyte - empty - 1000 + more)];
    const page = await (await createPagesService(values)).ask('GET', '/things');
    assert.equal(parseNextLink(page), links);
    if (more === 0) assert.equal(page.bytes.length, mebibyte);
  }
});

test('a page of random items ends only if the next item would exceed 1 MiB', async () => {
  const random = seeded();
  const values = Array.from({ length: 1500 }, () => {
    const length = random.below(random.pick([10, 1000, 60_000]));
    return { text: random.pick(['x', '&', '\u00e9', '\u20ac', '\u{1f600}']).repeat(length) };
  });
  const testService = await createPagesService(values);
  const pages: { bytes: number; items: string[] }[] = [];
  for (let next: string | undefined = '/things?limit=500'; next !== undefined; ) {
    const page: Answer = await testService.ask('GET', next);
    pages.push({ bytes: page.bytes.length, items: page.text.match(/<thing href.*?<\/thing>/g) ?? [] });
    next = parseNextLink(page);
  }
  assert.equal(pages.flatMap(({ items }) => items).length, values.length);
  for (const [at, { bytes, items }] of pages.entries()) {
    const follower = pages[at + 1]?.items[0];
    assert.ok(bytes <= mebibyte || items.length === 1, `SEED=${random.seed}`);
    if (follower !== undefined && items.length < 500)
      assert.ok(bytes + Buffer.byteLength(follower) > mebibyte, `SEED=${random.seed}`);
  }
});

describe('a store that reads a page in pieces', () => {
  /** The same store, of which each piece is what `pieceOf` makes of the page asked for. */
  function inPieces(store: Store, pieceOf: (page: StoredPage) => StoredPage | Promise<StoredPage>): Store {
    return {
      ...store,
      list(collection, after, limit) {
        const page = store.list(collection, after, Math.min(limit, 3));
        assert.ok(!isPromiseLike(page));
        return pieceOf(page);
      },
    };
  }

  test('returns the same page, synchronously or asynchronously', async () => {
    const store = await createStore(texts(20, 100_000));
    const whole = await openService({ collections, store }).ask('GET', '/things?limit=7');
    const large = await openService({ collections, store }).ask('GET', '/things');
    for (const choosePiece of [(page: StoredPage) => page, async (page: StoredPage) => page]) {
      const testService = openService({ collections, store: inPieces(store, choosePiece) });
      const page = await testService.ask('GET', '/things?limit=7');
      assert.deepEqual(hrefsIn(page), listHrefs(7));
      assert.deepEqual(page, { ...whole, field: page.field, member: page.member });
      assert.equal(page.field('Link'), whole.field('Link'));
      assert.deepEqual((await testService.ask('GET', '/things')).bytes, large.bytes);
    }
  });

  test('returns a page of one state, even if an item changes between two pieces', async () => {
    const store = await createStore(texts(8, 10));
    let lists = 0;
    const changing = inPieces(store, async (page) => {
      lists += 1;
      if (lists === 1) {
        const value = { text: 'new' };
        await store.apply({
          kind: 'put',
          collection: '/things',
          id: '1',
          expected: 'present',
          value,
          at: start,
        });
      }
      return page;
    });
    const page = await openService({ collections, store: changing }).ask('GET', '/things');
    assert.deepEqual(hrefsIn(page), listHrefs(8));
    assert.match(page.text, />new</);
    const after = await openService({ collections, store }).ask('GET', '/things');
    assert.equal(page.field('ETag'), after.field('ETag'));
    assert.equal(page.text, after.text);
  });
});

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function memoryInUse(): number {
  if (typeof collect === 'function') collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('unread pages use at most 10 % more memory than their bytes', async () => {
  const list = Array.from({ length: 2000 }, (_, at) => String(at % 10));
  const { service } = await createPagesService(Array.from({ length: 400 }, () => ({ list })));
  const ask = (): Promise<Response> =>
    service.respond(createRequest({ method: 'GET', target: '/things?limit=500' }));
  const unread: Response[] = [await ask()];
  const before = memoryInUse();
  for (let count = 0; count < 20; count += 1) unread.push(await ask());
  const grown = memoryInUse() - before;
  // Only now: to count the bytes of a text may put it together.
  const lengths = unread.slice(1).map(({ body: content }) => Buffer.byteLength(content ?? ''));
  const bytes = lengths.reduce((sum, length) => sum + length, 0);
  assert.ok(bytes > 19 * mebibyte, `${bytes} bytes`);
  assert.ok(grown < 1.1 * bytes, `${unread.length} pages of ${bytes} bytes hold ${grown}`);
});
