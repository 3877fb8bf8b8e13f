import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CollectionDeclaration } from '../../src/collections/declaration.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store, StoredRecord } from '../../src/store/store.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { type Answer, type Asking, openService, start } from '../support/service/open-service.ts';

const declaration = {
  element: 'things',
  item: 'thing',
  fields: {
    title: { type: 'text' },
    price: { type: 'decimal', fractionDigits: 2, attributes: { currency: { type: 'currency' } } },
    count: { type: 'integer' },
    open: { type: 'boolean' },
    day: { type: 'date' },
    at: { type: 'dateTime' },
    currency: { type: 'currency' },
  },
  access: { read: 'anyone', write: 'anyone' },
  filter: ['title', 'price', 'count', 'open', 'day', 'at', 'currency'],
  sort: ['title', 'price', 'count', 'open', 'day', 'at', 'currency', '-modified'],
} as const satisfies CollectionDeclaration;

const collections = { '/things': declaration };

/** An item as a client sends it in JSON. */
interface Thing {
  readonly title?: string;
  readonly price?: { readonly value: string; readonly currency?: string };
  readonly count?: number;
  readonly open?: boolean;
  readonly day?: string;
  readonly at?: string;
  readonly currency?: string;
}

const asJson = { fields: { Accept: 'application/json' } };

function parseNextLink(answer: Answer): string | undefined {
  return /<([^>]*)>; rel="?next/.exec(answer.field('Link'))?.[1];
}

function idsIn(answer: Answer): number[] {
  return [...answer.text.matchAll(/"href":"\/things\/([0-9]+)"/g)].map(([, id]) => Number(id));
}

/** A service whose items have the ids 1, 2 and so on. */
function withThings(things: readonly Thing[], options = {}) {
  const service = openService({ collections, seed: { '/things': things }, ...options });
  const ask = (target: string, asking: Asking = asJson): Promise<Answer> =>
    service.ask('GET', target, asking);
  const ids = async (query: string): Promise<number[]> => {
    const answer = await ask(`/things?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return idsIn(answer);
  };
  return { ...service, get: ask, ids };
}

describe('a filter', () => {
  const things: readonly Thing[] = [
    { title: 'Tea', price: { value: '9.50', currency: 'EUR' }, count: 9, open: true, day: '2024-02-29' },
    { title: 'tea', price: { value: '10.00', currency: 'USD' }, count: 10, open: false, day: '2024-03-01' },
    { title: 'a+b & 100% é', price: { value: '-10.00' }, count: -10, at: '2024-01-01T00:30:00+01:00' },
    { title: '', at: '2023-12-31T23:30:00.5Z', currency: 'EUR' },
    {},
  ];
  for (const [query, expected] of [
    ['title=Tea', [1]],
    ['title=', [4]],
    ['title=a%2Bb+%26+100%25%20%C3%A9', [3]],
    ['title=a+b', []],
    ['%74itle=T%65a', [1]],
    ['price=9.5', [1]],
    ['price=9.500', [1]],
    ['price.min=9.499&price.max=10', [1, 2]],
    ['price.min=9.501', [2]],
    ['price.max=-9', [3]],
    ['price.currency=USD', [2]],
    ['price.currency=EUR&price.min=9.51', []],
    ['count=10', [2]],
    ['count.min=9', [1, 2]],
    ['count.max=9', [1, 3]],
    ['open=true', [1]],
    ['open=false', [2]],
    ['day=2024-02-29', [1]],
    ['day.min=2024-02-29&day.max=2024-02-29', [1]],
    ['at=2023-12-31T23:30:00Z', [3]],
    ['at=2024-01-01T01:30:00.500%2B02:00', [4]],
    ['at.min=2023-12-31T23:30:00.1Z', [4]],
    ['currency=EUR', [4]],
    ['price.min=11&price.max=10', []],
    ['sort=count', [3, 1, 2, 4, 5]],
    ['sort=-count', [2, 1, 3, 4, 5]],
    ['sort=price', [3, 1, 2, 4, 5]],
    ['sort=at', [3, 4, 1, 2, 5]],
    ['sort=title', [4, 1, 3, 2, 5]],
    ['sort=open', [2, 1, 3, 4, 5]],
    ['sort=-open', [1, 2, 3, 4, 5]],
  ] as const) {
    test(`${query} selects ${expected.join(', ') || 'nothing'}`, async () => {
      assert.deepEqual(await withThings(things).ids(query), expected);
    });
  }

  for (const [query, message] of [
    ['price=abc', /price must be a decimal such as 9.50, because the field price has the type decimal\.$/],
    ['price.min=1e3', /price\.min must be a decimal/],
    ['price=', /price must be a decimal/],
    [
      'price.currency=eur',
      /price\.currency must be an ISO 4217 .* the field price\/@currency has the type currency/,
    ],
    ['count=1.0', /the type integer/],
    ['count=9007199254740993', /the type integer/],
    ['open=True', /must be true or false, because the field open has the type boolean/],
    ['day=2023-02-29', /the type date\./],
    ['at=2024-01-01', /the type dateTime/],
    ['at=2024-01-01T00:00:00+01:00', /In a query, \+ means a space; send %2B\.$/],
    ['title=%01', /the type text/],
    ['title=%FF', /title must be encoded in UTF-8/],
    ['sort=prize', /sort must be one of title, -title, .*, -modified\. Did you mean price\?$/],
    ['sort=modified', /sort must be one of .*Did you mean -modified\?$/],
    ['sort=', /sort must be one of/],
    ['sort=count&after=2', /after must be a value from a Link/],
    ['count=1&after=2.MQ', /after must be a value from a Link/],
    ['sort=count&after=2.eA', /after must be a value from a Link/],
    ['count=1&limit=0', /limit must be/],
  ] as const) {
    test(`${query} is rejected with malformed-query`, async () => {
      const answer = await withThings(things).get(`/things?${query}`);
      assert.equal(answer.status, 400);
      assert.equal(answer.member('type'), '/problems/malformed-query');
      assert.match(answer.member('detail'), message);
      assert.equal(answer.member('parameter'), query.split('&').at(-1)?.split('=')[0]);
    });
  }

  test('names the field and its type in the problem', async () => {
    const answer = await withThings(things).get('/things?price.min=x');
    assert.deepEqual([answer.member('field'), answer.member('fieldType')], ['price', 'decimal']);
  });

  test('is ignored in a collection that does not declare it', async () => {
    const { filter: _, sort: __, ...plain } = declaration;
    const service = withThings(things, { collections: { '/things': plain } });
    assert.deepEqual(await service.ids('title=Tea&sort=x&price.min=x'), [1, 2, 3, 4, 5]);
  });

  test('requires the permission to read, even if the query is malformed', async () => {
    const access = { read: 'authenticated', write: 'nobody' } as const;
    const service = withThings(things, { collections: { '/things': { ...declaration, access } } });
    assert.equal((await service.get('/things?price=x')).status, 401);
  });

  test('finds U+FFFD if the query encodes it as valid UTF-8', async () => {
    assert.deepEqual(await withThings([{ title: '\ufffd' }]).ids('title=%EF%BF%BD'), [1]);
  });

  test('selects no item that was stored under another declaration', async () => {
    const store = createMemoryStore({ storeId: 'test' });
    for (const value of [{ price: '9.50' }, { price: { value: 9.5 } }, { count: '9' }] as StoredRecord[])
      await store.apply({ kind: 'create', collection: '/things', value, at: start });
    const service = openService({ collections, store });
    for (const query of ['price=9.5', 'count=9', 'price.currency=EUR'])
      assert.deepEqual(idsIn(await service.ask('GET', `/things?${query}`, asJson)), []);
    assert.equal((await service.ask('GET', '/things?sort=price', asJson)).status, 200);
  });
});

describe('a page of a search', () => {
  const things: Thing[] = Array.from({ length: 10 }, (_, at) => ({
    title: at % 2 ? 'odd' : 'a&b c',
    count: at % 3,
  }));

  test('has links that contain the query, whether limit is first or last', async () => {
    const { get } = withThings(things);
    const page = await get('/things?limit=2&sort=-count&title=a%26b+c&x=y');
    const link = '/things?sort=-count&title=a%26b%20c&limit=2';
    assert.equal(page.field('Link'), `<${link}&after=9.Mg>; rel="next", <${link}>; rel="first"`);
    const filtered = await get('/things?title=odd&limit=2');
    const query = '/things?title=odd&limit=2';
    assert.equal(filtered.field('Link'), `<${query}&after=4>; rel="next", <${query}>; rel="first"`);
  });

  test('has no next link if it contains the last item', async () => {
    const { get } = withThings(things);
    assert.equal(parseNextLink(await get('/things?title=odd&limit=5')), undefined);
    assert.equal(parseNextLink(await get('/things?sort=count&limit=10')), undefined);
    assert.equal(parseNextLink(await get('/things?title=odd&limit=4')), '/things?title=odd&limit=4&after=8');
  });

  test('is followed by the next items if its last item is deleted or changed', async () => {
    const service = withThings(things);
    const first = await service.get('/things?sort=count&limit=3');
    assert.deepEqual(idsIn(first), [1, 4, 7]);
    await service.ask('DELETE', '/things/7');
    await service.ask('POST', '/things/4', { content: '{"count":9}', type: 'application/json' });
    await service.ask('POST', '/things', { content: '{"count":0}', type: 'application/json' });
    const second = await service.get(parseNextLink(first) ?? '');
    assert.deepEqual(idsIn(second), [10, 11, 2]);
  });

  test('has its own entity tag, and a conditional request gets 304 while it does not change', async () => {
    const service = withThings(things);
    const targets = ['title=odd', 'title=odd&limit=2', 'sort=count', 'sort=-count', 'count=0&sort=count'];
    const tags = new Set<string>();
    for (const query of targets) {
      const page = await service.get(`/things?${query}`);
      const etag = page.field('ETag');
      tags.add(etag);
      assert.ok(page.field('Last-Modified') !== '');
      const head = await service.ask('HEAD', `/things?${query}`, asJson);
      for (const name of ['ETag', 'Link', 'Last-Modified']) assert.equal(head.field(name), page.field(name));
      assert.equal(head.headOnly, true);
      const fields = { ...asJson.fields, 'If-None-Match': etag };
      assert.equal((await service.ask('GET', `/things?${query}`, { fields })).status, 304);
      const inXml = await service.ask('GET', `/things?${query}`);
      assert.notEqual(inXml.field('ETag'), etag);
    }
    assert.equal(tags.size, targets.length);
    const odd = (await service.get('/things?title=odd')).field('ETag');
    const fields = { ...asJson.fields, 'If-None-Match': odd };
    await service.ask('DELETE', '/things/1');
    assert.equal((await service.ask('GET', '/things?title=odd', { fields })).status, 304);
    await service.ask('POST', '/things/2', { content: '{"count":7}', type: 'application/json' });
    assert.equal((await service.ask('GET', '/things?title=odd', { fields })).status, 200);
  });

  test('has the time of the last change of the collection as Last-Modified', async () => {
    const service = withThings(things);
    service.clock.advance(60_000);
    await service.ask('DELETE', '/things/2');
    const page = await service.get('/things?title=odd');
    assert.equal(page.field('Last-Modified'), new Date(start + 60_000).toUTCString());
    const since = { ...asJson.fields, 'If-Modified-Since': page.field('Last-Modified') };
    service.clock.advance(60_000);
    assert.equal((await service.ask('GET', '/things?title=odd', { fields: since })).status, 304);
    await service.ask('DELETE', '/things/4');
    assert.equal((await service.ask('GET', '/things?title=odd', { fields: since })).status, 200);
  });

  test('has no items and no Last-Modified if the collection is empty', async () => {
    const page = await withThings([]).get('/things?sort=count&title=x');
    assert.deepEqual([page.status, page.text, page.field('Last-Modified')], [200, '{"things":[]}', '']);
  });

  test('can be sorted by the time of the last change', async () => {
    const service = withThings(things.slice(0, 4));
    await service.service.ready;
    for (const id of [3, 1]) {
      service.clock.advance(1000);
      await service.ask('POST', `/things/${id}`, { content: '{"count":7}', type: 'application/json' });
    }
    assert.deepEqual(await service.ids('sort=-modified'), [1, 3, 2, 4]);
  });

  test('has at most 1 MiB, and all pages together contain every item once', async () => {
    const random = seeded();
    const large = Array.from({ length: 30 }, () => ({
      title: random.pick(['x', '&', '\u20ac']).repeat(random.below(200_000)),
      count: random.below(5),
    }));
    const service = withThings(large);
    for (const query of ['count.min=0', 'sort=count', 'sort=-title']) {
      const seen: number[] = [];
      for (let next: string | undefined = `/things?${query}`; next !== undefined; ) {
        const page: Answer = await service.get(next);
        const ids = idsIn(page);
        assert.ok(page.bytes.length <= 1024 * 1024 || ids.length === 1, `SEED=${random.seed}`);
        seen.push(...ids);
        next = parseNextLink(page);
      }
      assert.equal(seen.length, 30, `SEED=${random.seed}`);
      assert.equal(new Set(seen).size, 30, `SEED=${random.seed}`);
    }
  });

  test('has links of a bounded length, even for long texts with a common prefix', async () => {
    const title = '\u{1f600}'.repeat(5000);
    const service = withThings([{ title: `x${title}` }, { title: `x${title}` }, { title: 'a' }]);
    const seen: number[] = [];
    for (let next: string | undefined = '/things?sort=title&limit=1'; next !== undefined; ) {
      assert.ok(next.length < 1200);
      const page: Answer = await service.get(next);
      seen.push(...idsIn(page));
      next = parseNextLink(page);
    }
    assert.deepEqual(seen, [3, 1, 2]);
  });
});

/** The same store, which answers later, and returns pages in pieces. */
function asynchronous(store: Store): Store {
  return {
    ...store,
    read: async (collection, id) => store.read(collection, id),
    list: async (collection, after, limit) => store.list(collection, after, Math.min(limit, 3)),
  };
}

interface Modelled {
  readonly id: number;
  readonly thing: Thing;
}

const texts = ['', 'a', 'b', 'B', 'é', 'a b', 'a+b', '100%', '&=?', '\u{1f600}', '\uffee'];

function randomThing(random: Seeded): Thing {
  const maybe = <T>(make: () => T): T | undefined => (random.below(5) === 0 ? undefined : make());
  const digits = (): string => String(random.below(20) - 10).replace(/^-0$/, '0');
  const hour = (): string => String(random.below(3) + 10);
  const made = {
    title: maybe(() => random.pick(texts)),
    price: maybe(() => ({ value: `${digits()}.${random.pick(['00', '50'])}`.replace(/^-0\.00/, '0.00') })),
    count: maybe(() => random.below(20) - 10),
    open: maybe(() => random.below(2) === 0),
    day: maybe(() => `2024-0${random.below(3) + 1}-1${random.below(3)}`),
    at: maybe(() => `2024-01-01T${hour()}:00:00${random.pick(['Z', '+01:00', '-01:00', '.5Z'].slice(0, 3))}`),
    currency: maybe(() => random.pick(['EUR', 'USD', 'CHF'])),
  };
  return JSON.parse(JSON.stringify(made));
}

/** The value of a field, in a form that JavaScript compares. */
function comparable(name: string, { thing }: Modelled): string | number | undefined {
  switch (name) {
    case 'price':
      return thing.price === undefined ? undefined : Number(thing.price.value);
    case 'at':
      return thing.at === undefined ? undefined : Date.parse(thing.at);
    case 'open':
      return thing.open === undefined ? undefined : Number(thing.open);
    case 'count':
      return thing.count;
    case 'title':
      return thing.title;
    case 'day':
      return thing.day;
    default:
      return thing.currency;
  }
}

function readText(name: string, { thing }: Modelled): string | undefined {
  if (name === 'price') return thing.price?.value;
  const value: unknown = Reflect.get(thing, name);
  return value === undefined ? undefined : String(value);
}

function inOrder(name: string, descending: boolean) {
  return (one: Modelled, other: Modelled): number => {
    const [a, b] = [comparable(name, one), comparable(name, other)];
    if (a === undefined || b === undefined)
      return Number(a === undefined) - Number(b === undefined) || one.id - other.id;
    const difference = a === b ? 0 : a < b ? -1 : 1;
    return (descending ? -difference : difference) || one.id - other.id;
  };
}

for (const [kind, storeOf] of [
  ['a store in memory', (store: Store) => store],
  ['an asynchronous store', asynchronous],
] as const) {
  test(`filters, orders and pages agree with a plain array, over ${kind}, while items are added and deleted`, async () => {
    const random = seeded();
    const store = storeOf(createMemoryStore({ storeId: 'test' }));
    const service = openService({ collections, store });
    let model: Modelled[] = [];
    let lastId = 0;
    const add = async (thing: Thing): Promise<Modelled> => {
      const content = JSON.stringify(thing);
      const created = await service.ask('POST', '/things', { content, type: 'application/json' });
      assert.equal(created.status, 201, created.text);
      lastId += 1;
      const added = { id: lastId, thing };
      model.push(added);
      return added;
    };
    const remove = async (id: number): Promise<void> => {
      assert.equal((await service.ask('DELETE', `/things/${id}`)).status, 204);
      model = model.filter((item) => item.id !== id);
    };
    for (let count = 0; count < 60; count += 1) await add(randomThing(random));

    for (let round = 0; round < 60; round += 1) {
      const message = `SEED=${random.seed} round ${round}`;
      const conditions: [string, (item: Modelled) => boolean][] = [];
      for (const name of declaration.filter) {
        if (random.below(7) > 0) continue;
        const sample = random.pick(model);
        const [text, sought] = [readText(name, sample), comparable(name, sample)];
        if (text === undefined || sought === undefined) continue;
        const ranged = ['price', 'count', 'day', 'at'].includes(name);
        const comparison = ranged ? random.pick(['', '.min', '.max']) : '';
        conditions.push([
          `${name}${comparison}=${encodeURIComponent(text)}`,
          (item) => {
            const value = comparable(name, item);
            if (value === undefined) return false;
            if (comparison === '') return value === sought;
            return comparison === '.min' ? value >= sought : value <= sought;
          },
        ]);
      }
      const name = random.below(3) === 0 ? undefined : random.pick(declaration.filter);
      const descending = random.below(2) === 0;
      const limit = random.below(7) + 1;
      const parameters = [...conditions.map(([text]) => text), `limit=${limit}`];
      if (name !== undefined) parameters.push(`sort=${descending ? '-' : ''}${name}`);
      const query = parameters.sort(() => random.next() - 0.5).join('&');
      const matches = (item: Modelled): boolean => conditions.every(([, holds]) => holds(item));
      const order =
        name === undefined ? (a: Modelled, b: Modelled) => a.id - b.id : inOrder(name, descending);
      const moves = random.below(2) === 0;

      const before = model.filter(matches);
      const added = new Set<number>();
      const removed = new Set<number>();
      const all = new Map(model.map((item) => [item.id, item]));
      const seen: number[] = [];
      for (let next: string | undefined = `/things?${query}`; next !== undefined; ) {
        const page: Answer = await service.ask('GET', next, asJson);
        assert.equal(page.status, 200, message);
        const ids = idsIn(page);
        assert.ok(ids.length <= limit, message);
        seen.push(...ids);
        next = parseNextLink(page);
        assert.ok(next === undefined || ids.length === limit, message);
        if (!moves) continue;
        if (random.below(2) === 0) {
          const item = await add(randomThing(random));
          all.set(item.id, item);
          added.add(item.id);
        }
        if (random.below(2) === 0 && model.length > 20) {
          const { id } = random.pick(model);
          await remove(id);
          removed.add(id);
        }
        if (added.size > 100) break;
      }
      // No item is repeated, and all are in order.
      assert.equal(new Set(seen).size, seen.length, message);
      const shown = seen.map((id) => all.get(id)).filter((item) => item !== undefined);
      assert.deepEqual(shown, [...shown].sort(order), message);
      assert.ok(shown.every(matches), message);
      // No item that was there all the time is skipped.
      const constant = before.filter(({ id }) => !removed.has(id)).map(({ id }) => id);
      assert.deepEqual(
        constant.filter((id) => !seen.includes(id)),
        [],
        message,
      );
      if (!moves)
        assert.deepEqual(
          seen,
          before.sort(order).map(({ id }) => id),
          message,
        );
    }
  });
}

test('other requests are handled while a long list is searched', async () => {
  const store = createMemoryStore({ storeId: 'test' });
  for (let at = 0; at < 20_000; at += 1)
    store.applyNow({ kind: 'create', collection: '/things', value: { count: at }, at: start });
  const service = openService({ collections, store });
  const order: string[] = [];
  const search = service.ask('GET', '/things?sort=-count&limit=1', asJson).then((answer) => {
    order.push('search');
    return answer;
  });
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await service.ask('GET', '/things/1', asJson);
    order.push('read');
  }
  assert.deepEqual(idsIn(await search), [20_000]);
  assert.deepEqual(
    order.slice(0, 10),
    Array.from({ length: 10 }, () => 'read'),
  );
});

test('an item that is deleted and created again during a search is on the page once', async () => {
  const store = createMemoryStore({ storeId: 'test' });
  for (let at = 0; at < 600; at += 1)
    store.applyNow({ kind: 'create', collection: '/things', value: { count: at }, at: start });
  let slices = 0;
  const changing: Store = {
    ...store,
    list(...wanted) {
      slices += 1;
      if (slices === 2) {
        const item = { collection: '/things', id: '5', at: start };
        store.applyNow({ ...item, kind: 'delete', expected: 5 });
        store.applyNow({ ...item, kind: 'put', expected: 'absent', value: { count: 4 } });
      }
      return store.list(...wanted);
    },
  };
  const service = openService({ collections, store: changing });
  const page = await service.ask('GET', '/things?sort=count&limit=10', asJson);
  assert.deepEqual(
    [...idsIn(page)].sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});
