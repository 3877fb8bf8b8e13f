import type { StoredRecord, StoredValue } from '../store/store.ts';

/** A value, and a description of it. */
export interface NamedValue {
  readonly name: string;
  readonly value: StoredRecord;
}

/** Values that every store must store. */
export const values: readonly NamedValue[] = [
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
export const doubtfulValues: readonly NamedValue[] = [
  { name: 'lone surrogates', value: { text: 'a\ud800b', other: '\udfff', '\udc00': 'x' } },
  { name: 'NaN', value: { number: Number.NaN } },
  { name: 'Infinity', value: { number: Number.POSITIVE_INFINITY } },
];

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}

function nestValue(depth: number, wrap: (inner: StoredValue) => StoredValue): StoredValue {
  return range(depth).reduce<StoredValue>((inner) => wrap(inner), 'innermost');
}
