import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { at, create, put, remove, requireEntry } from '../../../src/store/contract/changes.ts';
import { type ContractOptions, storeCheck } from '../../../src/store/contract/check.ts';
import { storeContract as published } from '../../../src/store/contract/index.ts';
import { Model } from '../../../src/store/contract/model.ts';
import type { Store, StoreChange } from '../../../src/store/store.ts';
import { seeded } from '../seeded.ts';

export { create, ids, put, remove, requireEntry } from '../../../src/store/contract/changes.ts';

/** What the stores of this package guarantee in addition to the published contract. */
const furtherChecks = [
  storeCheck(
    'a change is rejected if its value or its time would not be read as it was written',
    async (store) => {
      for (const value of [{ n: Number.NaN }, { n: Number.POSITIVE_INFINITY }]) {
        await assert.rejects(store.apply({ kind: 'create', collection: '/articles', value, at }), TypeError);
      }
      await assert.rejects(
        store.apply({ kind: 'create', collection: '/articles', value: {}, at: Number.NaN }),
        RangeError,
      );
      assert.equal((await create(store, '/articles')).id, '1');
    },
  ),

  storeCheck('simultaneous creations follow the order of the calls', async (store) => {
    const made = await Promise.all(Array.from({ length: 100 }, () => create(store, '/a')));
    assert.deepEqual(
      made.map(({ id }) => id),
      Array.from({ length: 100 }, (_, index) => String(index + 1)),
    );
  }),

  storeCheck(
    'simultaneous replacements that expect `present` follow the order of the calls',
    async (store) => {
      await create(store, '/a');
      const attempts = Array.from({ length: 100 }, (_, n) => store.apply(put('/a', '1', 'present', { n })));
      const entries = (await Promise.all(attempts)).map(requireEntry);
      assert.ok(entries.every(({ revision }, n) => revision > (entries[n - 1]?.revision ?? 0)));
    },
  ),

  storeCheck('simultaneous changes are checked in the order of the calls', async (store) => {
    const creation: StoreChange = { kind: 'create', collection: '/a', value: {}, at };
    const changes = [put('/a', '1', 'present', { n: 1 }), creation, put('/a', '1', 'present', { n: 2 })];
    const done = await Promise.all(changes.map((change) => store.apply(change)));
    assert.deepEqual(
      done.map(({ applied }) => applied),
      [false, true, true],
    );
  }),

  storeCheck(
    'a replacement that expects `present` fails after a deletion at the same time',
    async (store) => {
      const made = await create(store, '/a');
      const both = [remove('/a', '1', made.revision), put('/a', '1', 'present', { n: 2 })];
      const done = await Promise.all(both.map((change) => store.apply(change)));
      assert.deepEqual(
        done.map(({ applied }) => applied),
        [true, false],
      );
      assert.equal(await store.read('/a', '1'), undefined);
    },
  ),

  storeCheck(
    'the receipts of a user are counted with the exact length of their items',
    async (store, session) => {
      for (const user of ['ann', 'ann', 'bob']) {
        const receipt = {
          key: `${user} ${session.random.next()}`,
          fingerprint: '',
          user,
          until: session.now + 60_000,
        };
        await store.apply({ kind: 'create', collection: '/a', value: { text: 'one' }, at, receipt });
      }
      for (const each of [store, await session.restart()])
        assert.deepEqual(await each.receiptsOf?.('ann', session.now), {
          count: 2,
          size: 2 * JSON.stringify({ text: 'one' }).length,
          freeAt: session.now + 60_000,
        });
    },
  ),

  storeCheck('random simultaneous changes are made in the order of the calls', async (first, session) => {
    const { random } = session;
    const model = new Model();
    let store = first;
    for (let round = 0; round < 150; round += 1) {
      const where = `seed ${random.seed}, round ${round}`;
      const group = model.draw(random);
      const results = await Promise.all(group.map((change) => store.apply(change)));
      for (const [index, change] of group.entries()) model.check(change, results[index], where);
      if (random.below(10) === 0) store = await session.restart();
      if (round % 5 === 0) await model.compare(store, where);
    }
    await model.compare(await session.restart(), `seed ${random.seed}, at the end`);
  }),
];

/** Runs the published contract, and what the stores of this package guarantee in addition. */
export function storeContract(
  name: string,
  open: () => Promise<Store>,
  options: ContractOptions<Store> = {},
): void {
  const { seed } = seeded();
  describe(`${name} (SEED=${seed})`, () => {
    for (const { name: rule, run } of [...published, ...furtherChecks])
      test(rule, () => run(open, { ...options, seed }));
  });
}
