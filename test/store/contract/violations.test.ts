import assert, { AssertionError } from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContractCheck } from '../../../src/store/contract/check.ts';
import { nonceContract, storeContract } from '../../../src/store/contract/index.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { NonceResult, NonceStore } from '../../../src/store/nonces/nonces.ts';
import type { Store, StoreChange, StoredItem, StoreResult } from '../../../src/store/store.ts';
import { type ReceiptFault, withReceipts } from './receipts.ts';

/** Returns the check of a rule, by the start of its name. */
function findCheck(rule: string): ContractCheck<Store> {
  const found = storeContract.find(({ name }) => name.startsWith(rule));
  assert.ok(found !== undefined, rule);
  return found;
}

const memory = (): Store => createMemoryStore({ storeId: 'm' });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const changed = (result: StoreResult, change: Partial<StoredItem>): StoreResult =>
  result.applied ? { applied: true, entry: { ...result.entry, ...change } } : result;

/** Replaces the method `apply`. */
function applying(apply: (change: StoreChange, store: Store) => Promise<StoreResult>): () => Store {
  return () => {
    const store = memory();
    return { ...store, apply: (change) => apply(change, store) };
  };
}

type Page = Awaited<ReturnType<Store['list']>>;

/** Replaces the pages that are listed. */
function listing(list: (page: Page, parameters: Parameters<Store['list']>) => Page): () => Store {
  return () => {
    const store = memory();
    return { ...store, list: async (...parameters) => list(await store.list(...parameters), parameters) };
  };
}

/** Replaces the entries that are read and listed. */
function reading(read: (entry: StoredItem) => StoredItem): () => Store {
  return () => {
    const store = listing((page) => ({ ...page, entries: page.entries.map(read) }))();
    return {
      ...store,
      async read(collection, id) {
        const entry = await store.read(collection, id);
        return entry && read(entry);
      },
    };
  };
}

/** Replaces each text in a value. */
const textsIn = (entry: StoredItem, replace: (json: string) => string): StoredItem => ({
  ...entry,
  value: JSON.parse(replace(JSON.stringify(entry.value))),
});

/** Wrong stores, each with the rule that it violates. */
const wrongStores: readonly (readonly [rule: string, open: () => Store])[] = [
  [
    'compare-and-set admits one of 100 replacements of the same revision',
    applying(async (change, store) => {
      if (change.kind !== 'put' || typeof change.expected !== 'number') return store.apply(change);
      const found = await store.read(change.collection, change.id);
      await turn();
      return found?.revision === change.expected
        ? store.apply({ ...change, expected: 'present' })
        : { applied: false };
    }),
  ],
  [
    'compare-and-set admits one of 100 creations of the same id',
    applying(async (change, store) => {
      if (change.kind !== 'put' || change.expected !== 'absent') return store.apply(change);
      const found = await store.read(change.collection, change.id);
      await turn();
      if (found !== undefined) return { applied: false };
      const result = await store.apply(change);
      return result.applied ? result : store.apply({ ...change, expected: 'present' });
    }),
  ],
  [
    'a replacement that expects `present` does not create an item',
    applying(async (change, store) => {
      const result = await store.apply(change);
      const isUpsert = !result.applied && change.kind === 'put' && change.expected === 'present';
      return isUpsert ? store.apply({ ...change, expected: 'absent' }) : result;
    }),
  ],
  [
    'all 100 simultaneous replacements that expect `present` are applied',
    applying(async (change, store) => {
      if (change.kind !== 'put' || change.expected !== 'present') return store.apply(change);
      const found = await store.read(change.collection, change.id);
      await turn();
      return store.apply({ ...change, expected: found?.revision ?? 'present' });
    }),
  ],
  [
    'a single item is returned as it was before its deletion, and is gone',
    applying(async (change, store) =>
      change.kind === 'delete' ? changed(await store.apply(change), { value: {} }) : store.apply(change),
    ),
  ],
  [
    'a single item never becomes older',
    applying(async (change, store) => changed(await store.apply(change), { modified: change.at })),
  ],
  [
    'assigned ids skip those that clients chose, deleted or not',
    () => {
      const store = memory();
      let last = 0;
      const nextId = (): string => {
        last += 1;
        return String(last);
      };
      return {
        ...store,
        apply: (change) =>
          store.apply(
            change.kind === 'create' ? { ...change, kind: 'put', id: nextId(), expected: 'absent' } : change,
          ),
      };
    },
  ],
  [
    'assigned ids are never reused after a deletion',
    applying(async (change, store) => {
      if (change.kind !== 'create') return store.apply(change);
      const { entries } = await store.list(change.collection, 0, 5000);
      const id = String(Math.max(0, ...entries.map((entry) => Number(entry.id))) + 1);
      return store.apply({ ...change, kind: 'put', id, expected: 'absent' });
    }),
  ],
  [
    'assigned ids, sequences and revisions differ for simultaneous creations',
    applying(async (change, store) => changed(await store.apply(change), { revision: 1 })),
  ],
  [
    'a list that is read while many writers create never skips an item',
    () => {
      const store = memory();
      const hidden = new Set<string>();
      return {
        ...store,
        async apply(change) {
          const result = await store.apply(change);
          if (!result.applied || result.entry.sequence % 5 !== 0) return result;
          hidden.add(result.entry.id);
          await turn();
          await turn();
          hidden.delete(result.entry.id);
          return result;
        },
        async list(...parameters) {
          const page = await store.list(...parameters);
          return { ...page, entries: page.entries.filter(({ id }) => !hidden.has(id)) };
        },
      };
    },
  ],
  [
    'a list has pages of every size at every depth, in the order of creation',
    listing((page, [, , limit]) => ({ ...page, more: page.entries.length === limit })),
  ],
  [
    'a list has all items when it is read few bytes at a time',
    listing((page, [, , , bytes]) => (bytes === 1 ? { ...page, entries: [] } : page)),
  ],
  [
    'a list has the revision and time of its last change, which never decrease',
    listing((page) => ({ ...page, modified: page.entries.at(-1)?.modified ?? 0 })),
  ],
  [
    'a list has a change once its promise has resolved',
    () => {
      const store = memory();
      return {
        ...store,
        async apply(change) {
          const { kind } = change;
          if (kind === 'create') return store.apply(change);
          const made = turn().then(() => store.apply(change));
          const [former] = (await store.list(change.collection, 0, 1)).entries;
          made.catch(() => {});
          return former === undefined ? made : { applied: true, entry: { ...former, revision: 99 } };
        },
      };
    },
  ],
  [
    'a list of one collection does not depend on another',
    () => {
      const store = memory();
      return {
        ...store,
        list: (collection, ...parameters) => store.list(collection.toLowerCase(), ...parameters),
        apply: (change) => store.apply({ ...change, collection: change.collection.toLowerCase() }),
      };
    },
  ],
  [
    'ids that differ only in case or normalization are different items',
    applying((change, store) =>
      store.apply(change.kind === 'create' ? change : { ...change, id: change.id.normalize('NFC') }),
    ),
  ],
  [
    'a value may have a field __proto__',
    reading((entry) => ({ ...entry, value: Object.assign({}, entry.value) })),
  ],
  [
    'a value is read as it was written: the character U+0000',
    reading((entry) => textsIn(entry, (json) => json.replaceAll('\\u0000', ''))),
  ],
  [
    'a value is read as it was written: numbers',
    reading((entry) => textsIn(entry, (json) => json.replaceAll('5e-324', '0'))),
  ],
  [
    'a value is read as it was written, or rejected: lone surrogates',
    reading((entry) => textsIn(entry, (json) => json.replace(/\\ud[89a-f]../g, '\ufffd'))),
  ],
];

describe('the contract of stores', () => {
  for (const [rule, open] of wrongStores) {
    test(`fails a store that violates: ${rule}`, async () => {
      const check = storeContract.find(({ name }) => name === rule);
      assert.ok(check !== undefined);
      await assert.rejects(
        check.run(async () => open(), { seed: 1 }),
        AssertionError,
      );
    });
  }

  test('has unique names', () => {
    assert.equal(new Set(storeContract.map(({ name }) => name)).size, storeContract.length);
  });

  test('reports the seed of random changes that have a wrong result, and repeats them with it', async () => {
    const check = findCheck('random changes');
    const open = applying(async (change, store) => changed(await store.apply(change), { id: '1' }));
    const messages: string[] = [];
    for (let run = 0; run < 2; run += 1) {
      await assert.rejects(
        check.run(async () => open(), { seed: 4711 }),
        (error) => {
          assert.ok(error instanceof AssertionError);
          return messages.push(error.message) > 0;
        },
      );
    }
    assert.match(messages[0] ?? '', /seed 4711, round \d+/);
    assert.equal(messages[0], messages[1]);
  });

  test('closes each store, and reports the violation if closing fails too', async () => {
    let closed = 0;
    const store = (): Store => ({
      ...memory(),
      async close() {
        closed += 1;
        throw new Error('closing failed');
      },
    });
    const check = findCheck('a single item');
    await assert.rejects(
      check.run(async () => store()),
      /closing failed/,
    );
    const wrong = { ...store(), read: () => undefined };
    await assert.rejects(
      check.run(async () => wrong),
      AssertionError,
    );
    assert.equal(closed, 2);
  });

  test('includes restarts and a second process if the options have them', async () => {
    const calls = new Set<string>();
    const store = memory();
    const check = findCheck('all 100 simultaneous');
    await check.run(async () => store, {
      reopen: async (closed) => {
        calls.add('reopen');
        return closed;
      },
      peer: async (open) => ({
        ...open,
        apply(change) {
          calls.add('change of the peer');
          return open.apply(change);
        },
      }),
    });
    assert.deepEqual([...calls].sort(), ['change of the peer', 'reopen']);
  });
});

describe('the contract of receipts', () => {
  const rules = storeContract.filter(({ name }) => name.startsWith('a receipt'));
  const faults: readonly (readonly [fault: ReceiptFault, rule: string])[] = [
    ['applied again', 'prevents another change with its key'],
    ['checked too early', 'admits one of 100 simultaneous changes with its key'],
    ['stored without its change', 'is not stored if its change is not applied'],
    ['of the current item', 'keeps its item although the item is changed later'],
    ['never expired', 'is not returned once it has expired, and its key can be used again'],
    ['of a collection', 'prevents another change with its key'],
    ['always created', 'is stored with its change, also across a restart'],
    ['counted for all users', 'counts for its user until it expires, if the store counts them'],
  ];

  test('passes a store that stores receipts', async () => {
    assert.ok(rules.length > 5);
    for (const { run } of rules) await run(async () => withReceipts(memory()));
  });

  for (const [fault, rule] of faults) {
    test(`fails a store with receipts that are ${fault}`, async () => {
      const check = rules.find(({ name }) => name.endsWith(rule));
      assert.ok(check !== undefined);
      await assert.rejects(
        check.run(async () => withReceipts(memory(), fault)),
        AssertionError,
      );
    });
  }
});

/** Wrong nonces, each with the rule that they violate. */
const wrongNonces: readonly (readonly [
  rule: string,
  claim: (claimed: Set<string>) => NonceStore['claim'],
])[] = [
  [
    'one of 100 simultaneous claims of a nonce is fresh',
    (claimed) => async (user, nonce) => {
      const key = JSON.stringify([user, nonce]);
      const isNew = !claimed.has(key);
      await turn();
      claimed.add(key);
      return isNew ? 'fresh' : 'seen';
    },
  ],
  [
    'a nonce of one user does not affect another, whatever characters they have',
    (claimed) => (user, nonce) => add(claimed, `${user}:${nonce}`),
  ],
  [
    'a nonce of one user does not affect another, whatever characters they have',
    (claimed) => (user, nonce) =>
      add(claimed, Buffer.from(JSON.stringify([Buffer.from(user).toString(), nonce])).toString('base64')),
  ],
  [
    'a nonce is seen with any other date',
    (claimed) => (user, nonce, until) => add(claimed, JSON.stringify([user, nonce, until])),
  ],
  ['a nonce is fresh once', () => () => 'fresh'],
  ['all of 100 simultaneous claims of different nonces are fresh', (claimed) => (user) => add(claimed, user)],
  [
    'a claim without a valid time is not fresh',
    (claimed) => (user, nonce) => add(claimed, JSON.stringify([user, nonce])),
  ],
];

function add(claimed: Set<string>, key: string): NonceResult {
  if (claimed.has(key)) return 'seen';
  claimed.add(key);
  return 'fresh';
}

describe('the contract of nonces', () => {
  for (const [rule, claim] of wrongNonces) {
    test(`fails nonces that violate: ${rule}`, async () => {
      const check = nonceContract.find(({ name }) => name === rule);
      assert.ok(check !== undefined);
      const nonces = {
        claim: claim(new Set()),
        kept: () => undefined,
        hold: () => undefined,
        release: () => undefined,
      };
      await assert.rejects(
        check.run(async () => nonces),
        AssertionError,
      );
    });
  }
});
