import type { Reading } from '../pipeline/resource.ts';
import type { Shape } from '../schema/schema.ts';
import type { RecordValue } from '../store/store.ts';
import { XmlNames } from '../xml/names.ts';
import { formats } from './index.ts';

/** The maximum nesting depth, number of attributes and length of a value in a document from a client. */
export interface DocumentLimits {
  readonly maxDepth: number;
  readonly maxAttributes: number;
  readonly maxLength: number;
}

/** Options for reading a document from a client. */
export interface ReadingOptions extends DocumentLimits {
  /** Whether required fields may be omitted. */
  readonly partial: boolean;
}

/** Returns a body reader for each format of a collection. */
export function bodyReadersOf<State>(shape: Shape, options: ReadingOptions): Reading<State, RecordValue>[] {
  // All documents share one bounded table of names; without it, parsing takes twice as long.
  let shared: (ReadingOptions & { readonly names: XmlNames }) | undefined;
  const decoder = (format: (typeof formats)[number]) => {
    shared ??= { ...options, names: new XmlNames() };
    return format.decoder(shape, shared);
  };
  return formats.map((format) => ({ type: format.reads, decoder: () => decoder(format) }));
}
