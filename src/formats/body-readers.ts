import type { Reading } from '../pipeline/resource.ts';
import type { Shape } from '../schema/schema.ts';
import type { RecordValue } from '../store/store.ts';
import { XmlNames } from '../xml/names.ts';
import { formats } from './index.ts';

/** How deep a document's nesting may go, how many attributes an element may have, and how long anything may be. */
export interface DocumentLimits {
  readonly maxDepth: number;
  readonly maxAttributes: number;
  readonly maxLength: number;
}

/** How a document of a client is read. */
export interface ReadingOptions extends DocumentLimits {
  /** Whether fields may be left out that are required otherwise. */
  readonly partial: boolean;
}

/** A collection's formats as what an action reads. */
export function bodyReadersOf<State>(shape: Shape, options: ReadingOptions): Reading<State, RecordValue>[] {
  // One bounded table of names for all documents: a parser that meets every name anew takes twice as long.
  let shared: (ReadingOptions & { readonly names: XmlNames }) | undefined;
  const decoder = (format: (typeof formats)[number]) => {
    shared ??= { ...options, names: new XmlNames() };
    return format.decoder(shape, shared);
  };
  return formats.map((format) => ({ type: format.reads, decoder: () => decoder(format) }));
}
