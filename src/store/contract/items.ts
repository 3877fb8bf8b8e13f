import assert from 'node:assert/strict';
import type { StoredRecord, StoredValue } from '../store.ts';
import { at, create, creation, ids, put, remove, requireEntry } from './changes.ts';
import { storeCheck } from './check.ts';

const unusualIds = [
  '__proto__',
  'constructor',
  'toString',
  'ключ',
  '\u{1f511}',
  'é'.repeat(64),
  '0',
  '-1',
  '01',
  'a b',
  "'",
  '"',
  '%',
  '_',
  '\\',
  'A',
  'x'.repeat(128),
];

/** A value, and a description of it. */
interface NamedValue {
  readonly name: string;
  readonly value: StoredRecord;
}

/** Values that every store must store. */
const values: readonly NamedValue[] = [
  { name: 'no fields', value: {} },
  { name: 'the character U+0000', value: { text: 'a\0b', '\0': 'x' } },
  { name: 'control characters and quotation marks', value: { text: '\t\n\r\x01\x7f"\\\'`$1%s\u2028\u2029' } },
  { name: 'characters of all planes', value: { text: 'é e\u0301 \u{1f511} \uffff \u{10ffff} \ufeff' } },
  { name: 'empty texts, lists and records', value: { text: '', list: [], record: {}, '': [[], {}] } },
  {
    name: 'numbers',
    value: { numbers: [0, -1, 0.1, 1e21, 5e-324, Number.MAX_VALUE, 2 ** 53, -(2 ** 53) - 2] },
  },
  { name: 'truth values', value: { list: [true, false] } },
  { name: 'texts that look like other values', value: { list: ['1', 'true', 'null', '1.0', '[]', '{}'] } },
  { name: 'a long text', value: { text: 'é'.repeat(100_000) } },
  { name: 'a thousand fields', value: Object.fromEntries(range(1000).map((n) => [`field ${n}`, n])) },
  { name: '100 levels of records', value: { nested: nestValue(100, (inner) => ({ inner })) } },
  { name: '100 levels of lists', value: { nested: nestValue(100, (inner) => [inner]) } },
];

/** Values that a store may reject. If it stores one, it must return it unchanged. */
const doubtfulValues: readonly NamedValue[] = [
  { name: 'lone surrogates', value: { text: 'a\ud800b', other: '\udfff', '\udc00': 'x' } },
  { name: 'NaN', value: { number: Number.NaN } },
  { name: 'Infinity', value: { number: Number.POSITIVE_INFINITY } },
];

/** The checks of single items. */
export const itemChecks = [
  storeCheck('a single item is read as it was created', async (store) => {
    const value = { title: 'One', price: { value: '9.99', currency: 'EUR' }, tags: ['a', 'b'], sold: false };
    const made = await create(store, '/articles', value);
    assert.equal(made.id, '1');
    assert.equal(made.modified, at);
    assert.deepEqual(made.value, value);
    assert.deepEqual(await store.read('/articles', '1'), made);
  }),

  storeCheck('a single item is absent if it was never created', async (store) => {
    assert.equal(await store.read('/articles', '1'), undefined);
    await create(store, '/articles');
    assert.equal(await store.read('/articles', '2'), undefined);
    assert.equal(await store.read('/others', '1'), undefined);
  }),

  storeCheck('a single item keeps its place and gets a new revision when it is replaced', async (store) => {
    const first = await create(store, '/articles');
    await create(store, '/articles');
    const second = requireEntry(await store.apply(put('/articles', '1', first.revision, { n: 2 })));
    assert.equal(second.sequence, first.sequence);
    assert.ok(second.revision > first.revision);
    assert.deepEqual(second.value, { n: 2 });
    assert.deepEqual(await store.read('/articles', '1'), second);
    assert.deepEqual(ids(await store.list('/articles', 0, 10)), ['1', '2']);
  }),

  storeCheck('a single item never becomes older', async (store) => {
    const first = await create(store, '/articles');
    const earlier = { ...put('/articles', '1', first.revision, {}), at: at - 60_000 };
    assert.equal(requireEntry(await store.apply(earlier)).modified, at);
  }),

  storeCheck('a single item is returned as it was before its deletion, and is gone', async (store) => {
    const made = await create(store, '/articles', { n: 1 });
    assert.deepEqual(requireEntry(await store.apply(remove('/articles', '1', made.revision))), made);
    assert.equal(await store.read('/articles', '1'), undefined);
    assert.deepEqual(ids(await store.list('/articles', 0, 10)), []);
  }),

  storeCheck('a single item is last with a new revision if it is created again', async (store) => {
    const first = requireEntry(await store.apply(put('/articles', 'a', 'absent', { n: 1 })));
    await store.apply(put('/articles', 'b', 'absent', { n: 1 }));
    await store.apply(remove('/articles', 'a', first.revision));
    const again = requireEntry(await store.apply(put('/articles', 'a', 'absent', { n: 1 })));
    assert.ok(again.revision > first.revision);
    assert.ok(again.sequence > first.sequence);
    assert.deepEqual(ids(await store.list('/articles', 0, 10)), ['b', 'a']);
  }),

  ...unusualIds.map((id) =>
    storeCheck(
      `a single item may have the id ${id}, also in a collection of that name`,
      async (store, session) => {
        const made = requireEntry(await store.apply(put(`/${id}`, id, 'absent', { name: id })));
        assert.equal(made.id, id);
        assert.deepEqual(await store.read(`/${id}`, id), made);
        const later = await session.restart();
        assert.deepEqual(await later.read(`/${id}`, id), made);
        assert.deepEqual(ids(await later.list(`/${id}`, 0, 10)), [id]);
        assert.deepEqual(await later.apply(put(`/${id}`, id, 'absent', {})), { applied: false });
      },
    ),
  ),

  storeCheck('ids that differ only in case or normalization are different items', async (store) => {
    const differing = ['a', 'A', 'é', 'e\u0301', 'ß', 'ss', 'a ', 'ａ'];
    for (const id of differing) requireEntry(await store.apply(put('/a', id, 'absent', { id })));
    for (const id of differing) assert.deepEqual((await store.read('/a', id))?.value, { id });
    assert.deepEqual(ids(await store.list('/a', 0, 20)), differing);
  }),

  storeCheck('a value may have a field __proto__', async (store, session) => {
    const value: StoredRecord = JSON.parse('{"__proto__":"x","constructor":"y"}');
    await create(store, '/articles', value);
    const read = await (await session.restart()).read('/articles', '1');
    assert.deepEqual(Object.entries(read?.value ?? {}).sort(), [
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  }),

  ...values.map(({ name, value }) =>
    storeCheck(`a value is read as it was written: ${name}`, async (store, session) => {
      const made = await create(store, '/articles', value);
      assert.deepEqual(made.value, value);
      assert.deepEqual(await store.read('/articles', '1'), made);
      const later = await session.restart();
      assert.deepEqual((await later.read('/articles', '1'))?.value, value);
      assert.deepEqual((await later.list('/articles', 0, 10)).entries, [made]);
    }),
  ),

  ...doubtfulValues.map(({ name, value }) =>
    storeCheck(`a value is read as it was written, or rejected: ${name}`, async (store, session) => {
      const isStored = await store.apply(creation('/articles', value)).then(
        ({ applied }) => applied,
        () => false,
      );
      const later = await session.restart();
      const [entry] = (await later.list('/articles', 0, 10)).entries;
      assert.deepEqual(entry?.value, isStored ? value : undefined);
    }),
  ),
];

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}

function nestValue(depth: number, wrap: (inner: StoredValue) => StoredValue): StoredValue {
  return range(depth).reduce<StoredValue>((inner) => wrap(inner), 'innermost');
}
