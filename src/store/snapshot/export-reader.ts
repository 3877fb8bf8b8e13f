import { crc32 } from 'node:zlib';
import type { CorruptionError, CorruptionLocation } from '../corruption-error.ts';
import { readReceiptedChange } from '../encoding/item-json.ts';
import { JsonFields } from '../encoding/json-fields.ts';
import { splitLines } from '../files/read-chunks.ts';
import type { State } from '../state/state.ts';
import type { StoredItem, StoredRecord } from '../store.ts';
import { StateLoader } from '../transfer.ts';
import { isRecordValue } from '../value.ts';
import { exportFormat, exportVersion, formatExportEnd } from './export-writer.ts';
import { readChosen } from './reader.ts';

/** The options of an import. */
export interface ImportOptions {
  /** The name of the file in messages. */
  readonly file: string;
  /** The time of items without one (ms). */
  readonly now: number;
  /** Returns why an item of a collection cannot be imported, or undefined. */
  readonly findFault: (path: string, entry: StoredItem) => string | undefined;
  /** Returns whether a document has a known name. Default: none has. */
  readonly isDocument?: ((name: string) => boolean) | undefined;
}

/** The content of an export. */
export interface Imported {
  /** Undefined if the export has none: then a new one is generated, and no earlier entity tag matches. */
  readonly storeId: string | undefined;
  readonly state: State;
  /** The contents of documents by name, such as account files. */
  readonly documents: ReadonlyMap<string, string>;
}

/** The highest sequence, revision or counter in an export: a store counts 2^52 changes on from it. */
const maxCount = 2 ** 52;

/**
 * Reads an export, and validates every line. Missing numbers are assigned: an item with only `collection`, `id` and
 * `value` becomes the newest one of its collection. An export with a store id must be unchanged, because its entity
 * tags remain valid. Every method throws CorruptionError.
 */
export class ExportReader {
  readonly #options: ImportOptions;
  readonly #loader = new StateLoader();
  /** The sequence of the last item of each collection. */
  readonly #sequences = new Map<string, number>();
  #location: CorruptionLocation = { line: 1, byte: 0 };
  readonly #documents = new Map<string, string>();
  #checksum = 0;
  #storeId: string | undefined;
  #items = 0;
  #ended = false;

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  /** Reads all complete lines, and at the end the last one. Returns the number of bytes read. */
  take(bytes: Buffer, ended: boolean): number {
    const taken = splitLines(bytes, ended, (line) => this.#takeLine(line));
    if (ended && !this.#ended) throw this.#corruption('the end is missing, so the file is not complete');
    return taken;
  }

  /** Returns the content, once all bytes are read. */
  result(): Imported {
    const state = this.#loader.load();
    return { storeId: this.#storeId, state, documents: this.#documents };
  }

  #takeLine(bytes: Buffer): void {
    const document = new JsonFields(this.#options.file, this.#location);
    if (this.#ended) throw document.corruption('a line follows the end');
    const line = document.parse(bytes);
    const members = document.members(line, 'the line');
    if (this.#location.line === 1)
      this.#takeHeader(document, document.object(line, 'the header', headerNames));
    else if (members.has('end')) {
      document.object(line, 'the end', endNames);
      this.#takeEnd(document, bytes);
    } else if (members.has('document'))
      this.#takeDocument(document, document.object(line, 'the document', documentNames));
    else if (members.has('receipt'))
      this.#takeReceipt(document, document.object(line, 'the receipt', receiptNames));
    else if (members.has('value')) this.#takeItem(document, document.object(line, 'the item', itemNames));
    else this.#takeCollection(document, document.object(line, 'the collection', collectionNames));
    this.#checksum = crc32('\n', crc32(bytes, this.#checksum));
    this.#location = { line: this.#location.line + 1, byte: this.#location.byte + bytes.length + 1 };
  }

  #takeHeader(document: JsonFields, members: ReadonlyMap<string, unknown>): void {
    if (members.get('format') !== exportFormat)
      throw document.corruption('this is not the header of an export');
    const version = document.count(members.get('version'), 'version');
    if (version !== exportVersion)
      throw document.corruption(`its version is ${version}, and this program reads ${exportVersion}`);
    if (members.has('storeId')) this.#storeId = document.text(members.get('storeId'), 'storeId');
    if (this.#storeId !== undefined && !/^[A-Za-z0-9]{1,32}$/.test(this.#storeId))
      throw document.corruption('storeId has characters other than letters and digits');
    this.#loader.raiseRevision(countOr(document, members, 'revision', 0));
  }

  #takeCollection(document: JsonFields, members: ReadonlyMap<string, unknown>): void {
    const path = document.text(members.get('collection'), 'collection');
    if (this.#loader.has(path)) throw document.corruption('the collection has items or counters already');
    const counter = countOr(document, members, 'counter', 0);
    const numbers = {
      counter,
      sequence: countOr(document, members, 'sequence', 0),
      revision: countOr(document, members, 'revision', 0),
      modified: members.has('modified') ? document.time(members.get('modified'), 'modified') : 0,
    };
    const chosen = readChosen(document, members.get('chosen') ?? [], counter, 'the collection');
    this.#loader.raise(path, numbers, chosen);
  }

  #takeItem(document: JsonFields, members: ReadonlyMap<string, unknown>): void {
    const path = document.text(members.get('collection'), 'collection');
    const former = this.#sequences.get(path) ?? 0;
    const entry: StoredItem = {
      id: document.text(members.get('id'), 'id'),
      sequence: countOr(document, members, 'sequence', former + 1),
      revision: countOr(document, members, 'revision', 0),
      modified: members.has('modified')
        ? document.time(members.get('modified'), 'modified')
        : this.#options.now,
      value: itemValue(document, members.get('value')),
    };
    if (entry.sequence <= former)
      throw document.corruption('its sequence is not above that of the item before');
    if (this.#loader.hasItem(path, entry.id))
      throw document.corruption('the collection has an item with this id already');
    const fault = this.#options.findFault(path, entry);
    if (fault !== undefined) throw document.corruption(fault);
    this.#loader.add(path, entry);
    this.#sequences.set(path, entry.sequence);
    this.#items += 1;
  }

  #takeDocument(document: JsonFields, members: ReadonlyMap<string, unknown>): void {
    const name = document.text(members.get('document'), 'document');
    if (this.#options.isDocument?.(name) !== true)
      throw document.corruption('its document has an unknown name');
    if (this.#documents.has(name)) throw document.corruption('there is a document with this name already');
    this.#documents.set(name, document.text(members.get('content'), 'content'));
  }

  #takeReceipt(document: JsonFields, members: ReadonlyMap<string, unknown>): void {
    const receipt = readReceiptedChange(Object.fromEntries(members));
    if (receipt === undefined) throw document.corruption('this is not a receipt');
    this.#loader.addReceipt(receipt);
  }

  #takeEnd(document: JsonFields, bytes: Buffer): void {
    const written = formatExportEnd(this.#items, this.#checksum);
    if (this.#storeId !== undefined && `${bytes.toString('latin1')}\n` !== written)
      throw document.corruption(
        'the export was changed since it was written; remove "storeId" from its first line, so that no earlier entity tag matches',
      );
    this.#ended = true;
  }

  #corruption(reason: string): CorruptionError {
    return new JsonFields(this.#options.file, this.#location).corruption(reason);
  }
}

const headerNames = ['format', 'version', 'storeId', 'revision', 'exported'];
const collectionNames = ['collection', 'counter', 'chosen', 'sequence', 'revision', 'modified'];
const documentNames = ['document', 'content'];
const itemNames = ['collection', 'id', 'sequence', 'revision', 'modified', 'value'];
const receiptNames = ['receipt', 'kind', 'created', 'collection', 'item'];
const endNames = ['end', 'items', 'crc'];

/** Reads a number that can still be incremented: near 2^53 the next integer has no exact representation. */
function countOr(
  document: JsonFields,
  members: ReadonlyMap<string, unknown>,
  name: string,
  fallback: number,
): number {
  const count = members.has(name) ? document.count(members.get(name), name) : fallback;
  if (count > maxCount) throw document.corruption(`${name} is above ${maxCount}`);
  return count;
}

function itemValue(document: JsonFields, value: unknown): StoredRecord {
  if (!isRecordValue(value))
    throw document.corruption('its value is not an object of strings, numbers, booleans, arrays and objects');
  return value;
}
