import type { RecordValue } from '../store/store.ts';

/** An item of a list, with its address. */
export interface ListItem {
  readonly href: string;
  readonly value: RecordValue;
}

/** What stands before, between and after the items of a collection's document. */
export interface ListForm {
  readonly begin: string;
  readonly separator: string;
  readonly end: string;
}

/** What is said when a value that is kept is not of the form that its field has now. */
export function storedValueError(name: string): Error {
  return new Error(`the value that is kept for ${name} is not what the field is declared to be`);
}
