import { type Key, selectOrder } from '../../schema/order.ts';
import type { SimpleTypeName } from '../../schema/simple-type.ts';
import type { StoredItem, StoredValue } from '../../store/store.ts';

/** The order of the items of a list. Items with equal keys are in the order of their creation. */
export interface ItemOrder {
  /** Returns the key of an item; undefined if the item has no value. Such items are last. */
  computeKey(entry: StoredItem): Key | undefined;
  /** Parses a key that was written as text; undefined if it is malformed. */
  parseKey(text: string): Key | undefined;
  /** Compares two keys, in ascending order. */
  compare(one: Key, other: Key): number;
  readonly descending: boolean;
}

/** The place of an item in a list. */
export interface Position {
  readonly sequence: number;
  /** Undefined if the item has no value to sort by, or if the list is not sorted. */
  readonly key: Key | undefined;
}

/** The number of UTF-16 code units by which texts are sorted. It bounds the length of the links between pages. */
export const sortedLength = 200;

/** The number of characters of the longest decimal that is sorted by its value. Longer ones are sorted as if they had none. */
const longestDecimal = 1000;

/** Returns the order by the values of a type. */
export function fieldOrder(
  type: SimpleTypeName,
  valueIn: (entry: StoredItem) => StoredValue | undefined,
  descending: boolean,
): ItemOrder {
  const { computeKey, ...order } = selectOrder(type);
  return {
    ...order,
    descending,
    computeKey(entry) {
      const value = valueIn(entry);
      const key = value === undefined ? undefined : computeKey(value);
      if (typeof key !== 'string') return key;
      if (type === 'decimal') return key.length > longestDecimal ? undefined : key;
      return shorten(key);
    },
  };
}

/** Returns the beginning of a text, without half of a surrogate pair at its end. */
function shorten(text: string): string {
  if (text.length <= sortedLength) return text;
  const isHalf = (text.charCodeAt(sortedLength - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? sortedLength - 1 : sortedLength);
}

/** Compares the places of two items: negative if the first item precedes the other one. Without an order, by creation. */
export function comparePositions(order: ItemOrder | undefined, one: Position, other: Position): number {
  const difference = order === undefined ? 0 : compareKeys(order, one.key, other.key);
  return difference === 0 ? one.sequence - other.sequence : difference;
}

function compareKeys(
  { compare, descending }: ItemOrder,
  one: Key | undefined,
  other: Key | undefined,
): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  return descending ? compare(other, one) : compare(one, other);
}
