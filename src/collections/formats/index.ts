import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { DocumentFormat, Variant } from '../../pipeline/resource.ts';
import type { StoredRecord } from '../../store/store.ts';
import type { Shape } from '../fields/schema.ts';
import { jsonDecoder } from './json/decoder.ts';
import { listFormJson, writeItemJson, writeListedJson } from './json/writer.ts';
import type { ItemAddress, ItemDecoder, ListForm, ListItem, ReadingOptions } from './list-item.ts';
import { listFormXml, writeItemXml, writeListedXml } from './xml/writer.ts';

/** A format in which the items of a collection are read and written. */
export interface Format extends Variant {
  /** The media type that the format reads, in lower case. */
  readonly reads: string;
  /** Whether the decoder checks the charset of Content-Type itself. */
  readonly readsCharset: boolean;
  /** Creates a decoder for one document; asynchronous the first time, if modules must be loaded. */
  decoder(shape: Shape, options: ReadingOptions): MaybePromise<ItemDecoder>;
  /** Writes the document of one item. With an address, JSON begins with it. */
  writeItem(shape: Shape, value: StoredRecord, address?: ItemAddress): string;
  /** Writes one item of a collection's document. */
  writeListed(shape: Shape, item: ListItem): string;
  /** Returns the beginning, separator and end of a collection's document. */
  listForm(shape: Shape): ListForm;
}

/** The XML reader, loaded for the first XML document. */
let xmlReader: typeof import('./xml/decoder.ts') | undefined;

async function loadXmlReader(): Promise<typeof import('./xml/decoder.ts')> {
  xmlReader = await import('./xml/decoder.ts');
  return xmlReader;
}

const xml: Format = {
  type: 'application/xml; charset=utf-8',
  mark: 'x',
  reads: 'application/xml',
  readsCharset: true,
  decoder: (shape, options) =>
    andThen(xmlReader ?? loadXmlReader(), ({ xmlDecoder }) => xmlDecoder(shape, options)),
  writeItem: (shape, value) => writeItemXml(shape, value),
  writeListed: (shape, item) => writeListedXml(shape, item),
  listForm: (shape) => listFormXml(shape),
};

const textXml: Format = { ...xml, type: 'text/xml; charset=utf-8', mark: 't', reads: 'text/xml' };

const json: Format = {
  type: 'application/json',
  mark: 'j',
  reads: 'application/json',
  readsCharset: false,
  decoder: (shape, options) => jsonDecoder(shape, options),
  writeItem: (shape, value, address) => writeItemJson(shape, value, address),
  writeListed: (shape, item) => writeListedJson(shape, item),
  listForm: (shape) => listFormJson(shape),
};

/** The formats of every collection. */
export const formats: readonly Format[] = [xml, textXml, json];

const formatsJsonFirst: readonly Format[] = [json, xml, textXml];

/** Returns the formats of every collection, the default one first. */
export function formatsFor(defaultFormat: DocumentFormat = 'xml'): readonly Format[] {
  return defaultFormat === 'xml' ? formats : formatsJsonFirst;
}

/** Returns the format of a variant; the default for any other. */
export function selectFormat(variant: Variant | undefined): Format {
  return formats.find(({ mark }) => mark === variant?.mark) ?? xml;
}
