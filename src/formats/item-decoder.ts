import type { Decoder } from '../pipeline/decoder.ts';
import type { StoredRecord } from '../store/store.ts';

/** Decodes the document of one item. */
export interface ItemDecoder extends Decoder {
  /**
   * Ends the document and returns the item in its stored form.
   * @throws {Problem} with all errors in the document
   */
  end(): StoredRecord;
}
