import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import type { CollectionDeclaration } from '../../src/collections/declaration.ts';
import { ListIndexes } from '../../src/collections/lists/indexes.ts';
import { indexField } from '../../src/collections/lists/order.ts';
import { ScanQueue } from '../../src/collections/lists/scan-queue.ts';
import { createRequest, type Response } from '../../src/http/message.ts';
import { createMemoryStore, type MemoryStore } from '../../src/store/memory.ts';
import type { Store, StoredRecord } from '../../src/store/store.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { type Answer, openService, start } from '../support/service/open-service.ts';

const declaration = {
  element: 'things',
  item: 'thing',
  fields: {
    title: { type: 'text' },
    price: { type: 'decimal', attributes: { currency: { type: 'currency' } } },
    count: { type: 'integer' },
    open: { type: 'boolean' },
    at: { type: 'dateTime' },
  },
  access: { read: 'anyone', write: 'anyone' },
  filter: ['title', 'price', 'count', 'open', 'at'],
  sort: ['title', 'price', 'count', 'open', 'at', 'modified'],
} as const satisfies CollectionDeclaration;

const path = '/things';
const collections = { [path]: declaration };
/** More than one step of a search reads. */
const size = 1000;

const long = 'x'.repeat(250);
const titles = ['', 'a', 'b', 'B', 'é', '\u{1f600}', long, `${long}a`, `${long}b`];

function randomValue(random: Seeded): StoredRecord {
  const digits = `${random.below(60)}.${random.pick(['0', '5', '50'])}`;
  const fields: StoredRecord = {
    title: random.pick(titles),
    price: { value: digits, ...(random.below(2) === 0 && { currency: random.pick(['EUR', 'USD']) }) },
    count: random.below(1500) - 750,
    open: random.below(9) === 0,
    at:
      `2024-01-${random.below(28) + 1}`.replace(/-(\d)$/, '-0$1') +
      random.pick(['T10:00:00Z', 'T09:00:00-01:00']),
    // Stored under another declaration.
    ...(random.below(50) === 0 && { count: 'none' }),
  };
  return Object.fromEntries(Object.entries(fields).filter(() => random.below(8) > 0));
}

function randomChange(random: Seeded, store: MemoryStore, at: number): void {
  const id = String(random.below(size + 200) + 1);
  const former = store.read(path, id);
  assert.ok(former === undefined || 'revision' in former);
  const value = randomValue(random);
  if (former === undefined || random.below(6) === 0)
    store.applyNow({ kind: 'create', collection: path, value, at });
  else if (random.below(4) === 0)
    store.applyNow({ kind: 'delete', collection: path, id, expected: former.revision, at });
  else store.applyNow({ kind: 'put', collection: path, id, expected: former.revision, value, at });
}

function randomQuery(random: Seeded): string {
  const values: Readonly<Record<string, () => string>> = {
    title: () => random.pick(titles),
    price: () => `${random.below(60)}.5`,
    'price.currency': () => random.pick(['EUR', 'CHF']),
    count: () => String(random.below(1500) - 750),
    open: () => random.pick(['true', 'false']),
    at: () => `2024-01-1${random.below(9)}T10:00:00Z`,
  };
  const parameters: string[] = [];
  for (const [name, make] of Object.entries(values)) {
    if (random.below(4) > 0) continue;
    const isRanged = name === 'price' || name === 'count' || name === 'at';
    const comparisons = isRanged ? random.pick([[''], ['.min'], ['.max'], ['.min', '.max']]) : [''];
    for (const comparison of comparisons)
      parameters.push(`${name}${comparison}=${encodeURIComponent(make())}`);
  }
  const sort = `sort=${random.pick(['', '-'])}${random.pick(declaration.sort)}`;
  if (parameters.length === 0 || random.below(3) > 0) parameters.push(sort);
  return parameters.join('&');
}

/** Returns the store without its method `watch`, so that no index is built. */
function unwatched({ watch: _, ...store }: MemoryStore): Store {
  return store;
}

/** Returns the store with a count of its calls of `list`. */
function counted(store: MemoryStore): { readonly store: Store; readonly lists: () => number } {
  let lists = 0;
  const list: Store['list'] = (...wanted) => {
    lists += 1;
    return store.list(...wanted);
  };
  return { store: { ...store, list }, lists: () => lists };
}

function filledStore(random: Seeded): MemoryStore {
  const store = createMemoryStore({ storeId: 'test' });
  for (let count = 0; count < size; count += 1)
    store.applyNow({ kind: 'create', collection: path, value: randomValue(random), at: start + count });
  return store;
}

function opened(store: Store): { get(target: string): Promise<Answer> } {
  const service = openService({ collections, store });
  return { get: (target) => service.ask('GET', target, { fields: { Accept: 'application/json' } }) };
}

function nextPage(answer: Answer): string | undefined {
  return /<([^>]*)>; rel="?next/.exec(answer.field('Link'))?.[1];
}

test('pages from an index equal those of a scan, under random changes', async () => {
  const random = seeded();
  const store = filledStore(random);
  const [indexed, scanned] = [opened(store), opened(unwatched(store))];
  for (let round = 0; round < 120; round += 1) {
    const message = `SEED=${random.seed} round ${round}`;
    const query = `${randomQuery(random)}&limit=${random.pick([1, 7, 50, 500])}`;
    let next: string | undefined = `${path}?${query}`;
    for (let pages = random.below(6) + 1; pages > 0 && next !== undefined; pages -= 1) {
      const [one, other]: readonly Answer[] = await Promise.all([indexed.get(next), scanned.get(next)]);
      assert.equal(one?.status, 200, `${message} ${next}`);
      assert.equal(one.text, other?.text, `${message} ${next}`);
      for (const name of ['ETag', 'Link', 'Last-Modified'])
        assert.equal(one.field(name), other?.field(name), `${message} ${next}`);
      next = nextPage(one);
      for (let changes = random.below(40); changes > 0; changes -= 1)
        randomChange(random, store, start + size + round);
    }
  }
});

test('an index is correct after the store is restored from a snapshot', async () => {
  const random = seeded();
  const store = filledStore(random);
  const { get } = opened(store);
  const target = `${path}?sort=count&limit=20`;
  const copy = store.snapshot();
  const before = await get(target);
  for (let change = 0; change < 100; change += 1) randomChange(random, store, start + size);
  // The first item of the page, whatever changed at random.
  const addFirst = () =>
    store.applyNow({ kind: 'create', collection: path, value: { count: -9999 }, at: start });
  const first = /^\{"things":\[\{"href":"[^"]*","count":-9999\}/;
  addFirst();
  assert.match((await get(target)).text, first);
  store.restore(copy);
  assert.equal((await get(target)).text, before.text, `SEED=${random.seed}`);
  addFirst();
  assert.match((await get(target)).text, first);
});

test('a page from an index reads only its own items, at any position', async () => {
  const { store, lists } = counted(filledStore(seeded(1)));
  const { get } = opened(store);
  for (const query of ['sort=count', 'sort=-open', 'count.min=0', 'count.min=-700&sort=-count']) {
    await get(`${path}?${query}&limit=20`);
    let next: string | undefined = `${path}?${query}&limit=20`;
    for (let page = 0; page < 10 && next !== undefined; page += 1) {
      const before = lists();
      const answer: Answer = await get(next);
      assert.equal(answer.status, 200);
      assert.ok(lists() - before <= 24, `${query}: ${lists() - before} reads`);
      next = nextPage(answer);
    }
  }
});

test('concurrent searches share the build of one index', async () => {
  const { store, lists } = counted(filledStore(seeded(1)));
  const { get } = opened(store);
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(`${path}?sort=count&limit=1`)));
  for (const { text } of answers) assert.equal(text, answers[0]?.text);
  // Each search reads the state, then one step, and its page of two items from the index.
  assert.ok(lists() <= 20 * 5 + 10, `${lists()} reads`);
});

test('items with decimals of more than 1,000 characters are sorted last, and found by their value', async () => {
  const store = filledStore(seeded(1));
  store.applyNow({
    kind: 'create',
    collection: path,
    value: { price: { value: '1'.repeat(1001) } },
    at: start,
  });
  const { get } = opened(store);
  const found = await get(`${path}?price.min=1000`);
  assert.match(found.text, /^\{"things":\[\{"href":"\/things\/1001",[^[]*\]\}$/);
  const first = await get(`${path}?sort=-price&limit=1`);
  assert.doesNotMatch(first.text, /1001/);
});

test('the build of an index stops if all waiting clients disconnect, and the next search builds it again', async () => {
  const memory = filledStore(seeded(1));
  let isOpen = true;
  let lists = 0;
  const list: Store['list'] = (...wanted) => {
    lists += 1;
    if (lists === 7) isOpen = false;
    return memory.list(...wanted);
  };
  const { service } = openService({ collections, store: { ...memory, list } });
  const request = createRequest({ method: 'GET', target: `${path}?sort=count` });
  const search = (): Promise<Response> =>
    service.respond({ ...request, connection: { ...request.connection, isOpen: () => isOpen } });
  const left = await Promise.all([search(), search()]);
  assert.deepEqual(
    left.map(({ status }) => status),
    [503, 503],
  );
  assert.ok(lists <= 7, `${lists} reads`);
  isOpen = true;
  assert.equal((await search()).status, 200);
});

test('a field is not indexed if its index exceeds the limit, and the other indexes are unchanged', async () => {
  const store = filledStore(seeded(1));
  const { watch } = store;
  assert.ok(watch !== undefined);
  const indexes = new ListIndexes(
    { list: store.list, watch },
    new ScanQueue(createManualClock(0)),
    1.5 * size,
  );
  const [count, title] = [
    indexField('count', 'integer', ({ value }) => value['count']),
    indexField('title', 'text', ({ value }) => value['title']),
  ];
  const { revision } = await store.list(path, 0, 0);
  const isOpen = (): boolean => true;
  assert.equal(await indexes.build(path, revision, [count], isOpen), true);
  assert.equal(await indexes.build(path, revision, [title], isOpen), false);
  assert.deepEqual([...(indexes.find(path, revision, [count])?.keys() ?? [])], ['count']);
  assert.equal(indexes.find(path, revision, [title]), undefined);
});
