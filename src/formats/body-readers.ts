import type { HttpHeaders } from '../http/fields.ts';
import { parseMediaType } from '../http/headers/media-type.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Shape } from '../schema/schema.ts';
import { XmlNames } from '../xml/names.ts';
import { formats } from './index.ts';
import type { ItemDecoder } from './item-decoder.ts';

/** The maximum nesting depth, number of attributes and length of a value in a document from a client. */
export interface DocumentLimits {
  readonly maxDepth: number;
  readonly maxAttributes: number;
  readonly maxLength: number;
}

/** Options for reading a document from a client. */
interface ReadingOptions extends DocumentLimits {
  /** Whether required fields may be omitted. */
  readonly partial: boolean;
}

/** A body reader for the items of a collection (`ContentReader`). */
export interface ItemReading {
  readonly type: string;
  readonly anyCharset: boolean;
  decoder(call: { readonly incoming: { readonly headers: HttpHeaders } }): MaybePromise<ItemDecoder>;
}

/** Returns a body reader for each format of a collection. */
export function createBodyReaders(shape: Shape, options: ReadingOptions): ItemReading[] {
  // All documents share one bounded table of names; without it, parsing takes twice as long.
  let shared: (ReadingOptions & { readonly names: XmlNames }) | undefined;
  const decoder = (format: (typeof formats)[number], fields: HttpHeaders) => {
    shared ??= { ...options, names: new XmlNames() };
    const charset = format.readsCharset ? findCharset(fields) : undefined;
    return format.decoder(shape, charset === undefined ? shared : { ...shared, charset });
  };
  return formats.map((format) => ({
    type: format.reads,
    anyCharset: format.readsCharset,
    decoder: ({ incoming }) => decoder(format, incoming.headers),
  }));
}

function findCharset(fields: HttpHeaders): string | undefined {
  const type = fields.get('content-type');
  return type?.includes(';') === true ? parseMediaType(type)?.parameters.get('charset') : undefined;
}
