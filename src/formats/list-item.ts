import type { StoredRecord } from '../store/store.ts';

/** The id and the path of an item, for a document that has both. */
export interface ItemAddress {
  readonly id: string;
  readonly href: string;
}

/** An item of a list with its path. */
export interface ListItem {
  readonly href: string;
  /** The id, if JSON has it. */
  readonly id?: string | undefined;
  readonly value: StoredRecord;
}

/** The text before, between and after the items of a collection's document. */
export interface ListForm {
  readonly begin: string;
  readonly separator: string;
  readonly end: string;
}

/** A stored value does not match the declaration of its field, so the item cannot be written. */
export class StoredValueError extends Error {
  override readonly name = 'StoredValueError';
  /** The name of the field. */
  readonly field: string;

  constructor(field: string) {
    super(`the stored value of ${field} does not match the declaration of the field`);
    this.field = field;
  }
}
