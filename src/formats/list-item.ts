import type { RecordValue } from '../store/store.ts';

/** An item of a list with its path. */
export interface ListItem {
  readonly href: string;
  readonly value: RecordValue;
}

/** The text before, between and after the items of a collection's document. */
export interface ListForm {
  readonly begin: string;
  readonly separator: string;
  readonly end: string;
}

/** Returns the error for a stored value that does not match the declaration of its field. */
export function storedValueError(name: string): Error {
  return new Error(`the stored value of ${name} does not match the declaration of the field`);
}
