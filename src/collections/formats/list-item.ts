import type { Decoder } from '../../pipeline/resource.ts';
import type { StoredRecord } from '../../store/store.ts';
import type { XmlNames } from '../../xml/names.ts';

/** Options for reading a document from a client. */
export interface ReadingOptions {
  /** Whether the item's required fields may be omitted. */
  readonly partial: boolean;
  /** The maximum nesting depth; in JSON at most 1,000. */
  readonly maxDepth: number;
  /** The maximum number of attributes of an element. Default: the parser's limit. */
  readonly maxAttributes?: number | undefined;
  /** The maximum length of a tag and of a value in XML. Default: the parser's limits. */
  readonly maxLength?: number | undefined;
  /** The charset of Content-Type. It takes precedence over the XML declaration, but not over a byte order mark. Default: none. */
  readonly charset?: string | undefined;
  /** A table of names that parsers share, which makes short documents faster. */
  readonly names?: XmlNames | undefined;
  /** The id and path of the item, which JSON may repeat. Default: it may not. */
  readonly address?: ItemAddress | undefined;
}

/** The limits on a document from a client. */
export type DocumentLimits = Pick<ReadingOptions, 'maxDepth' | 'maxAttributes' | 'maxLength'>;

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

/** Decodes the document of one item. */
export interface ItemDecoder extends Decoder {
  /**
   * Ends the document and returns the item in its stored form.
   * @throws {Problem} with all errors in the document
   */
  end(): StoredRecord;
}
