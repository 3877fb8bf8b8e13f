import type { ItemReading } from '../formats/body-readers.ts';
import { andThen } from '../maybe-promise.ts';
import type { Decoder } from '../pipeline/decoder.ts';
import type { ContentReader } from '../pipeline/resource.ts';
import type { StoredRecord } from '../store/store.ts';

/** An item that a client sent. */
export interface SentItem {
  readonly value: StoredRecord;
  /** The media type, in lower case. */
  readonly type: string;
  /** The content as received, decompressed, in pieces. */
  readonly pieces: readonly Uint8Array[];
}

/** Returns a body reader that decodes like `reading` and keeps the content as received. */
export function keepingContent<State>({ type, decoder }: ItemReading): ContentReader<State, SentItem> {
  return { type, decoder: () => andThen(decoder(), (inner) => createRecorder(type, inner)) };
}

function createRecorder(type: string, inner: Decoder): Decoder {
  const pieces: Uint8Array[] = [];
  return {
    write(bytes) {
      pieces.push(bytes);
      inner.write(bytes);
    },
    end: () => ({ value: inner.end(), type, pieces }),
  };
}

/** Returns whether a document has the same bytes as the content that the client sent. */
export function isAsSent({ pieces }: SentItem, document: string | Uint8Array): boolean {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return Buffer.byteLength(document) === length && Buffer.concat(pieces).equals(Buffer.from(document));
}
