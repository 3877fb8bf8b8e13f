import type { StoredItem, StoredValue } from '../../store/store.ts';
import { type Key, numberOrder, type SimpleTypeName, selectOrder } from '../fields/simple-type.ts';

/** A field by whose values the items of a collection can be indexed. */
export interface IndexedField {
  /** Identifies the field or attribute in its collection: `price`, `price/@currency`, `modified`. */
  readonly name: string;
  /** Returns the key of an item, with a text shortened as by {@link shortenKey}; undefined if the item has no value. */
  computeKey(entry: StoredItem): Key | undefined;
  /** Compares two keys, in ascending order. */
  compare(one: Key, other: Key): number;
  /** Returns a number for a key, which orders most keys faster than `compare`: that of a lesser key is not greater. */
  computeRank(key: Key): number;
}

/** The order of the items of a list. Items with equal keys are in the order of their creation. */
export interface ItemOrder {
  /** Returns the key of an item; undefined if the item has no value. Such items are last. */
  computeKey(entry: StoredItem): Key | undefined;
  /** Parses a key that was written as text; undefined if it is malformed. */
  parseKey(text: string): Key | undefined;
  /** Compares two keys, in ascending order. */
  compare(one: Key, other: Key): number;
  readonly descending: boolean;
  readonly field: IndexedField;
}

/** The place of an item in a list. */
export interface Position {
  readonly sequence: number;
  /** Undefined if the item has no value to sort by, or if the list is not sorted. */
  readonly key: Key | undefined;
}

/** The number of UTF-16 code units by which texts are sorted. It bounds the length of the links between pages. */
const sortedLength = 200;

/** The number of characters of the longest decimal that is sorted by its value. Longer ones are sorted as if they had none. */
const longestDecimal = 1000;

/** Returns the field or attribute with this name and type. */
export function indexField(
  name: string,
  type: SimpleTypeName,
  valueIn: (entry: StoredItem) => StoredValue | undefined,
): IndexedField {
  const { computeKey, compare } = selectOrder(type);
  return {
    name,
    compare,
    computeRank: (key) => computeRank(type, key),
    computeKey(entry) {
      const value = valueIn(entry);
      const key = value === undefined ? undefined : computeKey(value);
      return key === undefined ? undefined : shortenKey(type, key);
    },
  };
}

/** Returns the order by the time of the last change. */
export function modifiedOrder(name: string, descending: boolean): ItemOrder {
  const { compare, parseKey } = numberOrder;
  const computeKey = ({ modified }: StoredItem): Key => modified;
  return {
    compare,
    parseKey,
    computeKey,
    descending,
    field: { name, compare, computeKey, computeRank: Number },
  };
}

function computeRank(type: SimpleTypeName, key: Key): number {
  if (typeof key === 'number') return key;
  if (type === 'decimal') return Number(key);
  // The key of an instant has a fixed number of digits, and then those of the fraction.
  return type === 'dateTime' ? Number(`0.${key}`) : rankText(key);
}

/** The number of characters of a text that its rank depends on: the rank is a safe integer. */
const rankedLength = 6;
/** The least code unit that has no digit of its own in a rank. Those after it in the text do not count. */
const unranked = 255;

function rankText(text: string): number {
  let rank = 0;
  let isCut = false;
  for (let at = 0; at < rankedLength; at += 1) {
    isCut ||= text.charCodeAt(at) >= unranked;
    const digit = at < text.length ? text.charCodeAt(at) + 1 : 0;
    rank = rank * (unranked + 2) + (isCut ? unranked + 1 : digit);
  }
  return rank;
}

/** Returns the order by a field of this type. */
export function fieldOrder(type: SimpleTypeName, field: IndexedField, descending: boolean): ItemOrder {
  const { parseKey, compare } = selectOrder(type);
  return {
    parseKey,
    compare,
    descending,
    field,
    computeKey(entry) {
      const key = field.computeKey(entry);
      return key === undefined || isSortable(key) ? key : undefined;
    },
  };
}

/** Returns whether an item with this key is sorted by it. Otherwise it is sorted as if it had none. */
export function isSortable(key: Key): boolean {
  return typeof key === 'number' || key.length <= longestDecimal;
}

/** Returns the key by which an item is sorted and indexed: of a text, only the beginning. */
export function shortenKey(type: SimpleTypeName, key: Key): Key {
  return typeof key === 'string' && type !== 'decimal' ? shorten(key) : key;
}

/** Returns the beginning of a text, without half of a surrogate pair at its end. */
function shorten(text: string): string {
  if (text.length <= sortedLength) return text;
  const isHalf = (text.charCodeAt(sortedLength - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? sortedLength - 1 : sortedLength);
}

/** Compares the places of two items: negative if the first item precedes the other one. Without an order, by creation. */
export function comparePositions(
  order: Pick<ItemOrder, 'compare' | 'descending'> | undefined,
  one: Position,
  other: Position,
): number {
  const difference = order === undefined ? 0 : compareKeys(order, one.key, other.key);
  return difference === 0 ? one.sequence - other.sequence : difference;
}

function compareKeys(
  { compare, descending }: Pick<ItemOrder, 'compare' | 'descending'>,
  one: Key | undefined,
  other: Key | undefined,
): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  return descending ? compare(other, one) : compare(one, other);
}
