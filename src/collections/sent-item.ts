import { andThen } from '../maybe-promise.ts';
import type { Decoder } from '../pipeline/decoder.ts';
import type { Reading } from '../pipeline/resource.ts';
import type { RecordValue } from '../store/store.ts';

/** An item that a client sent. */
export interface SentItem {
  readonly value: RecordValue;
  /** The media type, in lower case. */
  readonly type: string;
  /** The content as received, decompressed, in pieces. */
  readonly pieces: readonly Uint8Array[];
}

/** Returns a body reader that decodes like `reading` and keeps the content as received. */
export function keepingContent<State>({
  type,
  decoder,
  ...limits
}: Reading<State, RecordValue>): Reading<State, SentItem> {
  return {
    ...limits,
    type,
    decoder: ({ content, ...call }) =>
      andThen(decoder({ ...call, content: content?.value }), (inner) => recording(type, inner)),
  };
}

function recording(type: string, inner: Decoder): Decoder {
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
  return Buffer.concat(pieces).equals(Buffer.from(document));
}
