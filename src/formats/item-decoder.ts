import type { Decoder } from '../pipeline/decoder.ts';
import type { RecordValue } from '../store/store.ts';

/** Decodes the document of one item. */
export interface ItemDecoder extends Decoder {
  /** The document is whole: gives the item as it is kept, or throws a Problem with every fault found. */
  end(): RecordValue;
}
