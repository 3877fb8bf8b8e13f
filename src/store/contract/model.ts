import assert from 'node:assert/strict';
import type { Store, StoreChange, StoredItem, StoreResult } from '../store.ts';
import { at } from './changes.ts';
import { type Session, storeCheck } from './check.ts';
import type { Random } from './random.ts';

interface ModelCollection {
  /** In the order of creation. */
  readonly entries: StoredItem[];
  /** The highest number assigned as an id. */
  counter: number;
  /** The ids that clients chose. */
  readonly chosen: Set<string>;
}

const paths = ['/a', '/b', '/__proto__'];
const someIds = ['1', '2', '3', '5', '8', '13', '20', 'x', '__proto__', '07'];
const alphabet = 'aé\u{1f511}"\\\n\u2028<\0';

/** The items that a store should have, in plain lists. */
export class Model {
  readonly #collections = new Map<string, ModelCollection>();
  readonly #revisions = new Set<number>();

  /** Returns some changes. Only a few expect a wrong state, and no two name the same item. */
  draw(random: Random): StoreChange[] {
    const drawn = new Map<string, StoreChange>();
    for (let count = random.below(6) + 1; count > 0; count -= 1) {
      const change = this.#drawOne(random);
      const key = change.kind === 'create' ? `${count}` : JSON.stringify([change.collection, change.id]);
      drawn.set(key, change);
    }
    return [...drawn.values()];
  }

  /** Makes a change here, too, and compares the result with that of the store. */
  check(change: StoreChange, result: StoreResult | undefined, where: string): void {
    const collection = this.#of(change.collection);
    const id = change.kind === 'create' ? this.#assignId(change.collection) : change.id;
    const index = collection.entries.findIndex((entry) => entry.id === id);
    const former = collection.entries[index];
    const isExpected = change.kind === 'create' || holds(change.expected, former);
    assert.equal(result?.applied, isExpected, where);
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
    if (former === undefined) addInOrder(collection.entries, result.entry);
    else collection.entries[index] = result.entry;
    if (change.kind === 'put') collection.chosen.add(id);
  }

  /** Compares all items with those of the store. */
  async compare(store: Store, where: string): Promise<void> {
    for (const [path, { entries }] of this.#collections) {
      assert.deepEqual((await store.list(path, 0, 1000)).entries, entries, where);
      for (const entry of entries) assert.deepEqual(await store.read(path, entry.id), entry, where);
    }
  }

  #drawOne(random: Random): StoreChange {
    const collection = random.pick(paths);
    const kind = random.pick(['create', 'create', 'put', 'put', 'delete'] as const);
    const value = { n: random.below(1000), text: random.text(alphabet, 8) };
    const when = at + random.below(100_000);
    if (kind === 'create') return { kind, collection, value, at: when };
    const id = random.pick(someIds);
    const revision = this.#of(collection).entries.find((entry) => entry.id === id)?.revision;
    const other = random.below(5) === 0 ? random.pick(['absent' as const, 'present' as const, 3]) : undefined;
    const expected = other ?? revision ?? 'absent';
    if (kind === 'put') return { kind, collection, id, expected, value, at: when };
    return { kind, collection, id, expected: typeof expected === 'number' ? expected : 0, at: when };
  }

  #assignId(path: string): string {
    const collection = this.#of(path);
    do collection.counter += 1;
    while (collection.chosen.has(String(collection.counter)));
    return String(collection.counter);
  }

  #of(path: string): ModelCollection {
    const found = this.#collections.get(path) ?? { entries: [], counter: 0, chosen: new Set() };
    this.#collections.set(path, found);
    return found;
  }
}

/** Adds an entry by its sequence: the order of simultaneous creations is not defined. */
function addInOrder(entries: StoredItem[], entry: StoredItem): void {
  entries.push(entry);
  entries.sort((one, other) => one.sequence - other.sequence);
}

function holds(expected: number | 'absent' | 'present', former: StoredItem | undefined): boolean {
  return expected === 'present' ? former !== undefined : expected === (former?.revision ?? 'absent');
}

const rounds = 150;

/** The check of random sequences of changes. */
export const historyChecks = [
  storeCheck('random changes have the same results as in a plain model', async (first, session) => {
    const { random } = session;
    const model = new Model();
    let store = first;
    for (let round = 0; round < rounds; round += 1) {
      const where = `seed ${random.seed}, round ${round}`;
      await makeSome(store, model, session, where);
      if (random.below(10) === 0) store = await session.restart();
      if (round % 5 === 0) await model.compare(store, where);
    }
    await model.compare(await session.restart(), `seed ${random.seed}, at the end`);
  }),
];

/** Makes some creations in turn, because their order decides their ids, and then some other changes at once. */
async function makeSome(
  store: Store,
  model: Model,
  { random }: Session<Store>,
  where: string,
): Promise<void> {
  const changes = model.draw(random);
  for (const change of changes.filter(({ kind }) => kind === 'create'))
    model.check(change, await store.apply(change), where);
  const others = changes.filter(({ kind }) => kind !== 'create');
  const results = await Promise.all(others.map((change) => store.apply(change)));
  for (const [index, change] of others.entries()) model.check(change, results[index], where);
}
