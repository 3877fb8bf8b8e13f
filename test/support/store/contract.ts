import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Applied, Change, Entry, RecordValue, Replacement, Store } from '../../../src/store/store.ts';
import { type Seeded, seeded } from '../seeded.ts';

/** A store to be tried, new and empty. */
export interface Opened {
  readonly store: Store;
  /** Closes the store and opens what it kept; absent when it keeps nothing. */
  reopen?(): Promise<Store>;
}

const at = Date.UTC(2013, 3, 20, 12, 59, 24);

/** Runs what every store must hold. */
export function storeContract(name: string, open: () => Promise<Opened>): void {
  /** Opens, runs and closes; `restart` opens anew where the store can. */
  const withStore = (
    sentence: string,
    run: (store: Store, restart: () => Promise<Store>) => Promise<void>,
  ): void => {
    test(sentence, async () => {
      const opened = await open();
      let current = opened.store;
      const restart = async (): Promise<Store> => {
        current = (await opened.reopen?.()) ?? current;
        return current;
      };
      try {
        await run(current, restart);
      } finally {
        await current.close();
      }
    });
  };

  describe(name, () => {
    describe('a single item', () => describeItems(withStore));
    describe('ids that the store picks', () => describeIds(withStore));
    describe('the list', () => describeLists(withStore));
    describe('compare-and-set', () => describeExpectations(withStore));
    describe('any sequence of changes', () => describeHistories(withStore));
  });
}

type WithStore = (
  sentence: string,
  run: (store: Store, restart: () => Promise<Store>) => Promise<void>,
) => void;

function describeItems(withStore: WithStore): void {
  withStore('is read as it was created', async (store) => {
    const value = { title: 'One', price: { value: '9.99', currency: 'EUR' }, tags: ['a', 'b'], sold: false };
    const made = entryOf(await store.apply({ kind: 'create', collection: '/articles', value, at }));
    assert.equal(made.id, '1');
    assert.equal(made.modified, at);
    assert.deepEqual(await store.read('/articles', '1'), made);
    assert.deepEqual(made.value, value);
  });

  withStore('is absent when it was never made', async (store) => {
    assert.equal(await store.read('/articles', '1'), undefined);
    await create(store, '/articles');
    assert.equal(await store.read('/articles', '2'), undefined);
    assert.equal(await store.read('/others', '1'), undefined);
  });

  withStore('keeps its place and gets a new revision when it is replaced', async (store) => {
    const first = await create(store, '/articles');
    await create(store, '/articles');
    const second = entryOf(await store.apply(put('/articles', '1', first.revision, { n: 2 })));
    assert.equal(second.sequence, first.sequence);
    assert.ok(second.revision > first.revision);
    assert.deepEqual(ids(await store.list('/articles', 0, 10)), ['1', '2']);
  });

  withStore('is given as it was when it is deleted, and is gone', async (store) => {
    const made = await create(store, '/articles');
    const deleted = entryOf(await store.apply(remove('/articles', '1', made.revision)));
    assert.deepEqual(deleted, made);
    assert.equal(await store.read('/articles', '1'), undefined);
    assert.deepEqual(ids(await store.list('/articles', 0, 10)), []);
  });

  withStore('gets a new revision and the last place when it is deleted and made again', async (store) => {
    const first = entryOf(await store.apply(put('/articles', 'a', 'absent', { n: 1 })));
    await store.apply(put('/articles', 'b', 'absent', { n: 1 }));
    await store.apply(remove('/articles', 'a', first.revision));
    const again = entryOf(await store.apply(put('/articles', 'a', 'absent', { n: 1 })));
    assert.ok(again.revision > first.revision);
    assert.ok(again.sequence > first.sequence);
    assert.deepEqual(ids(await store.list('/articles', 0, 10)), ['b', 'a']);
  });

  for (const id of [
    '__proto__',
    'constructor',
    'toString',
    'ключ',
    '\u{1f511}',
    'é'.repeat(64),
    '0',
    '-1',
    '01',
  ]) {
    withStore(`may be called ${id}, in a collection of that name too`, async (store, restart) => {
      const made = entryOf(await store.apply(put(`/${id}`, id, 'absent', { name: id })));
      assert.deepEqual(await store.read(`/${id}`, id), made);
      const later = await restart();
      assert.deepEqual(await later.read(`/${id}`, id), made);
      assert.deepEqual(ids(await later.list(`/${id}`, 0, 10)), [id]);
      assert.deepEqual(await later.apply(put(`/${id}`, id, 'absent', {})), { applied: false });
    });
  }

  withStore('may have a field called __proto__', async (store, restart) => {
    const value: RecordValue = JSON.parse('{"__proto__":"x","constructor":"y"}');
    await store.apply({ kind: 'create', collection: '/articles', value, at });
    const read = await (await restart()).read('/articles', '1');
    assert.equal(JSON.stringify(read?.value), '{"__proto__":"x","constructor":"y"}');
  });

  withStore('is refused when its value would not read back as it was written', async (store) => {
    for (const value of [{ n: Number.NaN }, { n: Number.POSITIVE_INFINITY }]) {
      await assert.rejects(store.apply({ kind: 'create', collection: '/articles', value, at }), TypeError);
    }
    await assert.rejects(
      store.apply({ kind: 'create', collection: '/articles', value: {}, at: Number.NaN }),
      RangeError,
    );
    assert.equal((await create(store, '/articles')).id, '1');
  });
}

function describeIds(withStore: WithStore): void {
  withStore('count up from 1 in each collection', async (store) => {
    const picked: string[] = [];
    for (const path of ['/a', '/a', '/b', '/a']) picked.push((await create(store, path)).id);
    assert.deepEqual(picked, ['1', '2', '1', '3']);
  });

  withStore('step over what clients chose, deleted or not, across restarts', async (store, restart) => {
    const deleted = entryOf(await store.apply(put('/a', '2', 'absent', {})));
    await store.apply(put('/a', '3', 'absent', {}));
    await store.apply(put('/a', '5', 'absent', {}));
    await store.apply(remove('/a', '2', deleted.revision));
    const later = await restart();
    assert.deepEqual([(await create(later, '/a')).id, (await create(later, '/a')).id], ['1', '4']);
    assert.equal((await create(await restart(), '/a')).id, '6');
  });

  withStore('are not led astray by what only looks like a number', async (store) => {
    for (const id of ['01', '1.0', '+1', '1e0', ' 1', '٣', '9007199254740993', '9'.repeat(128)]) {
      await store.apply(put('/a', id, 'absent', {}));
    }
    assert.equal((await create(store, '/a')).id, '1');
  });

  withStore('are never used again, not after a deletion and not after a restart', async (store, restart) => {
    for (let round = 0; round < 3; round += 1) {
      const made = await create(store, '/a');
      await store.apply(remove('/a', made.id, made.revision));
    }
    assert.equal((await create(await restart(), '/a')).id, '4');
  });

  withStore('differ when many are picked at once, and follow the order of the calls', async (store) => {
    const made = await Promise.all(Array.from({ length: 100 }, () => create(store, '/a')));
    assert.deepEqual(
      made.map(({ id }) => id),
      Array.from({ length: 100 }, (_, index) => String(index + 1)),
    );
    assert.equal(new Set(made.map(({ revision }) => revision)).size, 100);
  });
}

function describeLists(withStore: WithStore): void {
  withStore('is empty, at revision 0, for a collection that was never changed', async (store) => {
    const nothing = { entries: [], more: false, revision: 0, modified: 0 };
    assert.deepEqual(await store.list('/a', 0, 10), nothing);
    await store.apply(put('/a', 'x', 7, {}));
    assert.deepEqual(await store.list('/a', 0, 10), nothing);
  });

  withStore('gives pages of every size at every depth, in the order of creation', async (store) => {
    const made = await Promise.all(Array.from({ length: 1300 }, (_, n) => create(store, '/a', { n })));
    const gone = made.filter((_, index) => index % 3 === 0 || (index > 400 && index < 1000));
    await Promise.all(gone.map(({ id, revision }) => store.apply(remove('/a', id, revision))));
    const left = made.filter((entry) => !gone.includes(entry));
    for (const after of [0, 1, 2, 399, 400, 512, 700, 999, 1000, 1298, 1299, 1300, 5000]) {
      for (const limit of [1, 2, 50, 500, 2000]) {
        const follow = left.filter(({ sequence }) => sequence > after);
        const page = await store.list('/a', after, limit);
        assert.deepEqual(page.entries, follow.slice(0, limit), `after ${after}, limit ${limit}`);
        assert.equal(page.more, follow.length > limit, `after ${after}, limit ${limit}`);
      }
    }
  });

  withStore('gives every item in turn when it is asked for few bytes at a time', async (store, restart) => {
    for (let n = 0; n < 300; n += 1) await create(store, '/a', { n, text: 'x'.repeat(n % 100) });
    for (const each of [store, await restart()]) {
      for (const bytes of [1, 1000, 1_000_000]) {
        const found: Entry[] = [];
        for (let more = true; more; ) {
          const page = await each.list('/a', found.at(-1)?.sequence ?? 0, 50, bytes);
          assert.ok(page.entries.length > 0 && page.entries.length <= 50);
          found.push(...page.entries);
          more = page.more;
        }
        assert.deepEqual(
          found.map(({ value }) => value['n']),
          Array.from({ length: 300 }, (_, n) => n),
        );
      }
    }
  });

  withStore(
    'tells the revision and the time of its last change, which never go back',
    async (store, restart) => {
      const made = entryOf(await store.apply({ kind: 'create', collection: '/a', value: {}, at }));
      await store.apply({ ...remove('/a', made.id, made.revision), at: at + 5000 });
      const emptied = await store.list('/a', 0, 10);
      assert.ok(emptied.revision > made.revision);
      assert.equal(emptied.modified, at + 5000);
      await store.apply({ kind: 'create', collection: '/a', value: {}, at: at - 60_000 });
      const page = await (await restart()).list('/a', 0, 10);
      assert.equal(page.modified, at + 5000);
      assert.ok(page.revision > emptied.revision);
    },
  );
}

function describeExpectations(withStore: WithStore): void {
  withStore('makes no change when something else is there than was expected', async (store) => {
    const made = await create(store, '/a');
    const stale: Change[] = [
      put('/a', '1', 'absent', { n: 9 }),
      put('/a', '1', made.revision + 1, { n: 9 }),
      put('/a', '2', made.revision, { n: 9 }),
      remove('/a', '1', made.revision + 1),
      remove('/a', '2', made.revision),
      remove('/none', '1', made.revision),
    ];
    const before = await store.list('/a', 0, 10);
    for (const change of stale) assert.deepEqual(await store.apply(change), { applied: false });
    assert.deepEqual(await store.list('/a', 0, 10), before);
    assert.equal((await create(store, '/a')).id, '2');
  });

  withStore('lets one of a hundred replacements through that expect the same', async (store) => {
    const made = await create(store, '/a');
    const attempts = Array.from({ length: 100 }, (_, n) => store.apply(put('/a', '1', made.revision, { n })));
    const winners = (await Promise.all(attempts)).filter(({ applied }) => applied);
    assert.equal(winners.length, 1);
    const [winner] = winners;
    assert.deepEqual(winner, { applied: true, entry: await store.read('/a', '1') });
  });

  withStore('lets one of a hundred creations of the same id through', async (store) => {
    const attempts = Array.from({ length: 100 }, (_, n) => store.apply(put('/a', 'x', 'absent', { n })));
    assert.equal((await Promise.all(attempts)).filter(({ applied }) => applied).length, 1);
  });

  withStore(
    'lets all through that replace whatever is there, each after the other',
    async (store, restart) => {
      const made = await create(store, '/a');
      const attempts = Array.from({ length: 100 }, (_, n) => store.apply(put('/a', '1', 'present', { n })));
      const entries = (await Promise.all(attempts)).map(entryOf);
      assert.deepEqual(
        entries.map(({ value }) => value['n']),
        Array.from({ length: 100 }, (_, n) => n),
      );
      assert.ok(entries.every(({ sequence }) => sequence === made.sequence));
      assert.ok(entries.every(({ revision }, n) => revision > (entries[n - 1]?.revision ?? made.revision)));
      assert.deepEqual(await store.read('/a', '1'), entries.at(-1));
      const later = await restart();
      assert.deepEqual(await later.read('/a', '1'), entries.at(-1));
      assert.deepEqual((await later.list('/a', 0, 10)).entries, entries.slice(-1));
    },
  );

  withStore('replaces whatever is there only where something is', async (store) => {
    assert.deepEqual(await store.apply(put('/a', 'x', 'present', {})), { applied: false });
    const made = await create(store, '/a');
    const both = [remove('/a', '1', made.revision), put('/a', '1', 'present', { n: 2 })];
    const done = await Promise.all(both.map((change) => store.apply(change)));
    assert.deepEqual(
      done.map(({ applied }) => applied),
      [true, false],
    );
    assert.equal(await store.read('/a', '1'), undefined);
  });

  withStore('judges changes that come at once in their order, whatever they expect', async (store) => {
    const creation: Change = { kind: 'create', collection: '/a', value: {}, at };
    const changes = [put('/a', '1', 'present', { n: 1 }), creation, put('/a', '1', 'present', { n: 2 })];
    const done = await Promise.all(changes.map((change) => store.apply(change)));
    assert.deepEqual(
      done.map(({ applied }) => applied),
      [false, true, true],
    );
  });

  withStore('lets one through of a replacement and a deletion at once', async (store) => {
    const made = await create(store, '/a');
    const both = [put('/a', '1', made.revision, { n: 2 }), remove('/a', '1', made.revision)];
    const done = await Promise.all(both.map((change) => store.apply(change)));
    assert.equal(done.filter(({ applied }) => applied).length, 1);
  });
}

function describeHistories(withStore: WithStore): void {
  const random = seeded();
  withStore(`leaves what a plain model has (SEED=${random.seed})`, async (first, restart) => {
    let store = first;
    const model = new Model();
    for (let round = 0; round < 150; round += 1) {
      const group = model.draw(random);
      const results = await Promise.all(group.map((change) => store.apply(change)));
      group.forEach((change, index) => {
        model.check(change, results[index], `SEED=${random.seed}, round ${round}`);
      });
      if (random.below(10) === 0) store = await restart();
      if (round % 5 === 0) await model.compare(store, `SEED=${random.seed}, round ${round}`);
    }
    await model.compare(await restart(), `SEED=${random.seed}, at the end`);
  });
}

/** What a store should hold, by the plainest means. */
class Model {
  readonly #collections = new Map<string, { entries: Entry[]; counter: number; chosen: Set<string> }>();
  readonly #revisions = new Set<number>();

  /** Changes of which no two name the same item, some of them with an expectation that does not hold. */
  draw(random: Seeded): Change[] {
    const drawn = new Map<string, Change>();
    for (let count = random.below(6) + 1; count > 0; count -= 1) {
      const collection = random.pick(['/a', '/b', '/__proto__']);
      const id = random.pick(['1', '2', '3', '5', '8', '13', '20', 'x', '__proto__', '07']);
      const there = this.#of(collection).entries.find((entry) => entry.id === id)?.revision ?? 'absent';
      const expected =
        random.below(5) === 0 ? random.pick(['absent' as const, 'present' as const, 3]) : there;
      const value = { n: random.below(1000), text: random.text('aé\u{1f511}"\\\n\u2028<', 8) };
      const when = at + random.below(100_000);
      const kind = random.pick(['create', 'create', 'put', 'put', 'delete'] as const);
      const key = kind === 'create' ? `${count}` : JSON.stringify([collection, id]);
      if (kind === 'create') drawn.set(key, { kind, collection, value, at: when });
      else if (kind === 'put') drawn.set(key, { kind, collection, id, expected, value, at: when });
      else
        drawn.set(key, {
          kind,
          collection,
          id,
          expected: typeof expected === 'number' ? expected : 0,
          at: when,
        });
    }
    return [...drawn.values()];
  }

  /** Makes the change here too, and holds its outcome against the store's. */
  check(change: Change, result: Applied | undefined, where: string): void {
    const collection = this.#of(change.collection);
    const id = change.kind === 'create' ? this.#pick(change.collection) : change.id;
    const index = collection.entries.findIndex((entry) => entry.id === id);
    const former = collection.entries[index];
    const there = former?.revision ?? 'absent';
    const expected = change.kind === 'create' ? there : change.expected;
    const holds = expected === there || (expected === 'present' && former !== undefined);
    assert.equal(result?.applied, holds, where);
    if (!result?.applied) return;
    assert.equal(result.entry.id, id, where);
    if (change.kind === 'delete') {
      assert.deepEqual(result.entry, former, where);
      collection.entries.splice(index, 1);
      return;
    }
    assert.deepEqual(result.entry.value, change.value, where);
    assert.equal(result.entry.modified, Math.max(change.at, former?.modified ?? 0), where);
    assert.ok(!this.#revisions.has(result.entry.revision), `${where}: a revision is used twice`);
    this.#revisions.add(result.entry.revision);
    if (former === undefined) collection.entries.push(result.entry);
    else collection.entries[index] = result.entry;
    if (change.kind === 'put') collection.chosen.add(id);
  }

  async compare(store: Store, where: string): Promise<void> {
    for (const [path, { entries }] of this.#collections) {
      assert.deepEqual((await store.list(path, 0, 1000)).entries, entries, where);
      for (const entry of entries) assert.deepEqual(await store.read(path, entry.id), entry, where);
    }
  }

  #pick(path: string): string {
    const collection = this.#of(path);
    do collection.counter += 1;
    while (collection.chosen.has(String(collection.counter)));
    return String(collection.counter);
  }

  #of(path: string): { entries: Entry[]; counter: number; chosen: Set<string> } {
    let found = this.#collections.get(path);
    if (found === undefined) {
      found = { entries: [], counter: 0, chosen: new Set() };
      this.#collections.set(path, found);
    }
    return found;
  }
}

/** The entry of a change that must have been made. */
export function entryOf(applied: Applied): Entry {
  assert.ok(applied.applied);
  return applied.entry;
}

/** Creates an item under an id that the store picks. */
export async function create(store: Store, collection: string, value: RecordValue = {}): Promise<Entry> {
  return entryOf(await store.apply({ kind: 'create', collection, value, at }));
}

/** A change that puts a value. */
export function put(
  collection: string,
  id: string,
  expected: Replacement['expected'],
  value: RecordValue,
): Change {
  return { kind: 'put', collection, id, expected, value, at };
}

/** A change that deletes. */
export function remove(collection: string, id: string, expected: number): Change {
  return { kind: 'delete', collection, id, expected, at };
}

/** The ids on a page. */
export function ids(page: { readonly entries: readonly Entry[] }): string[] {
  return page.entries.map(({ id }) => id);
}
