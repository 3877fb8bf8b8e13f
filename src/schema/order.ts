import type { StoredValue } from '../store/store.ts';
import { instantKey } from './date.ts';
import { compareDecimalValues, countFractionDigits } from './decimal.ts';
import type { SimpleTypeName } from './simple-type.ts';

/** A value in a form that can be compared with others of its type. */
export type Key = string | number;

/** The order of the values of a simple type. */
export interface TypeOrder {
  /** Returns the key of a stored value; undefined if it is not of this type. */
  computeKey(value: StoredValue): Key | undefined;
  /** Parses a key that was written as text; undefined if it is malformed. */
  parseKey(text: string): Key | undefined;
  /** Compares two keys: negative if the first is less, positive if it is greater, else 0. */
  compare(one: Key, other: Key): number;
}

/** Returns the order of a type. Text is compared by its UTF-16 code units, decimals, dates and times by their value. */
export function selectOrder(type: SimpleTypeName): TypeOrder {
  switch (type) {
    case 'text':
    case 'currency':
    case 'json':
    case 'reference':
    case 'date':
      return textOrder;
    case 'decimal':
      return decimalOrder;
    case 'dateTime':
      return instantOrder;
    case 'integer':
      return numberOrder;
    case 'boolean':
      return booleanOrder;
  }
}

const textOrder: TypeOrder = {
  computeKey: (value) => (typeof value === 'string' ? value : undefined),
  parseKey: (text) => text,
  compare: compareKeys,
};

const decimalOrder: TypeOrder = {
  computeKey: (value) => (typeof value === 'string' ? decimalKey(value) : undefined),
  parseKey: decimalKey,
  compare: (one, other) => compareDecimalValues(String(one), String(other)),
};

const instantOrder: TypeOrder = {
  ...textOrder,
  computeKey: (value) => (typeof value === 'string' ? instantKey(value) : undefined),
};

/** The order of integers. */
export const numberOrder: TypeOrder = {
  computeKey: (value) => (typeof value === 'number' ? value : undefined),
  parseKey: (text) => (/^-?[0-9]{1,16}$/.test(text) ? Number(text) : undefined),
  compare: compareKeys,
};

const booleanOrder: TypeOrder = {
  ...numberOrder,
  computeKey: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
};

function decimalKey(text: string): string | undefined {
  return countFractionDigits(text) === undefined ? undefined : text;
}

function compareKeys(one: Key, other: Key): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
