// An export: records as plain lines, which a person may edit.
import { crc32 } from 'node:zlib';
import { CorruptionError, type CorruptionLocation } from './corruption-error.ts';
import { formatIsoDate } from './encoding/iso-date.ts';
import { decodeUtf8, Members, RecordFault } from './encoding/members.ts';
import { splitLines } from './files/read-chunks.ts';
import { formatChecksum } from './log/line.ts';
import {
  exportFormat,
  exportVersion,
  formatCollection,
  formatMembers,
  formatReceipt,
  readCollection,
  readItem,
  readReceipt,
} from './record.ts';
import { State } from './state/state.ts';
import type { StoredItem, TransferPart } from './store.ts';

/** The options of an export. */
interface ExportOptions {
  /** The current time (ms). */
  readonly at: number;
  /** Returns whether a collection is exported. */
  readonly includes: (path: string) => boolean;
}

/**
 * Formats the lines of an export: a header; for each collection a line with its counters, then its items in the order of
 * creation; the unexpired receipts; documents, if any; and a last line with the number of items and the CRC-32 of all bytes
 * before it.
 */
export class ExportFormatter {
  readonly #options: ExportOptions;
  #checksum = 0;
  #items = 0;
  #omitted = 0;
  /** The last collection, and the beginning of its items. */
  #collection = '';
  #start = '';

  constructor(options: ExportOptions) {
    this.#options = options;
  }

  /** The number of items so far. */
  get items(): number {
    return this.#items;
  }

  /** The number of items of collections that are not exported. */
  get omitted(): number {
    return this.#omitted;
  }

  /** Returns the line of a part; empty if its collection is not exported. */
  part(part: TransferPart): string {
    const { includes } = this.#options;
    switch (part.kind) {
      case 'store':
        return this.#counted(this.#formatHeader(part.storeId, part.revision));
      case 'collection':
        return includes(part.path) ? this.#counted(`{${formatCollection(part)}}`) : '';
      case 'item':
        return includes(part.collection) ? this.#formatItem(part.collection, part.entry) : this.#omit();
      case 'receipt':
        return includes(part.change.collection) ? this.#counted(formatReceipt(part.change)) : '';
    }
  }

  /** Returns the line of a document, such as an account file. */
  document(name: string, content: string): string {
    return this.#counted(JSON.stringify({ document: name, content }));
  }

  /** Returns the last line. */
  end(): string {
    return formatEnd(this.#items, this.#checksum);
  }

  #formatHeader(storeId: string | undefined, revision: number): string {
    const exported = formatIsoDate(this.#options.at);
    return JSON.stringify({ format: exportFormat, version: exportVersion, storeId, revision, exported });
  }

  #formatItem(collection: string, entry: StoredItem): string {
    this.#items += 1;
    if (this.#collection !== collection)
      [this.#collection, this.#start] = [collection, `{"collection":${JSON.stringify(collection)},`];
    return this.#counted(`${this.#start}${formatMembers(entry, JSON.stringify(entry.value))}}`);
  }

  #omit(): string {
    this.#omitted += 1;
    return '';
  }

  #counted(members: string): string {
    const line = `${members}\n`;
    this.#checksum = crc32(line, this.#checksum);
    return line;
  }
}

function formatEnd(items: number, checksum: number): string {
  return `${JSON.stringify({ end: true, items, crc: formatChecksum(checksum) })}\n`;
}

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
  readonly #state = new State();
  /** The sequence of the last item of each collection. */
  readonly #sequences = new Map<string, number>();
  /** The items without a revision, which follow all others. */
  readonly #unnumbered = new Map<StoredItem, string>();
  readonly #ids = new Map<string, Set<string>>();
  readonly #documents = new Map<string, string>();
  #location: CorruptionLocation = { line: 1, byte: 0 };
  #checksum = 0;
  #storeId: string | undefined;
  #items = 0;
  #ended = false;

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  /** The number of items so far. */
  get items(): number {
    return this.#items;
  }

  /** Reads all complete lines, and at the end the last one. Returns the number of bytes read. */
  take(bytes: Buffer, ended: boolean): number {
    const taken = splitLines(bytes, ended, (line) => this.#takeLine(line));
    if (ended && !this.#ended) throw this.#corruption('the end is missing, so the file is not complete');
    return taken;
  }

  /** Returns the content, once all bytes are read. */
  result(): Imported {
    for (const [item, collection] of this.#unnumbered) {
      const entry = { ...item, revision: this.#state.revision + 1 };
      this.#state.take({ kind: 'item', collection, entry });
    }
    this.#unnumbered.clear();
    return { storeId: this.#storeId, state: this.#state, documents: this.#documents };
  }

  #takeLine(bytes: Buffer): void {
    try {
      if (this.#ended) throw new RecordFault('a line follows the end');
      this.#takeMembers(Members.parse(decodeUtf8(bytes)), bytes);
    } catch (error) {
      throw error instanceof RecordFault ? this.#corruption(error.message) : error;
    }
    this.#checksum = crc32('\n', crc32(bytes, this.#checksum));
    this.#location = { line: this.#location.line + 1, byte: this.#location.byte + bytes.length + 1 };
  }

  #takeMembers(members: Members, bytes: Buffer): void {
    if (this.#location.line === 1) this.#takeHeader(members.only(headerNames, 'the header'));
    else if (members.has('end')) this.#takeEnd(members.only(endNames, 'the end'), bytes);
    else if (members.has('document')) this.#takeDocument(members.only(documentNames, 'the document'));
    else if (members.has('receipt'))
      this.#state.take({ kind: 'receipt', change: readReceipt(members.only(receiptNames, 'the receipt')) });
    else if (members.has('value')) this.#takeItem(members.only(itemNames, 'the item'));
    else this.#takeCollection(members.only(collectionNames, 'the collection'));
  }

  #takeHeader(members: Members): void {
    if (members.get('format') !== exportFormat) throw new RecordFault('this is not the header of an export');
    const version = members.count('version');
    if (version !== exportVersion)
      throw new RecordFault(`its version is ${version}, and this program reads ${exportVersion}`);
    if (members.has('storeId')) this.#storeId = members.text('storeId');
    if (this.#storeId !== undefined && !/^[A-Za-z0-9]{1,32}$/.test(this.#storeId))
      throw new RecordFault('storeId has characters other than letters and digits');
    const revision = members.count('revision', { fallback: 0, max: maxCount });
    this.#state.take({ kind: 'store', storeId: this.#storeId, revision });
  }

  #takeCollection(members: Members): void {
    const collection = readCollection(members, maxCount);
    if (this.#ids.has(collection.path)) throw new RecordFault('the collection has items or counters already');
    this.#ids.set(collection.path, new Set());
    this.#state.take(collection);
  }

  #takeItem(members: Members): void {
    const path = members.text('collection');
    const former = this.#sequences.get(path) ?? 0;
    const defaults = { sequence: former + 1, revision: 0, modified: this.#options.now };
    const entry = readItem(members, { defaults, max: maxCount });
    const ids = this.#ids.get(path) ?? new Set();
    if (entry.sequence <= former) throw new RecordFault('its sequence is not above that of the item before');
    if (ids.has(entry.id)) throw new RecordFault('the collection has an item with this id already');
    const fault = this.#options.findFault(path, entry);
    if (fault !== undefined) throw new RecordFault(fault);
    this.#ids.set(path, ids.add(entry.id));
    this.#sequences.set(path, entry.sequence);
    this.#items += 1;
    if (entry.revision === 0) this.#unnumbered.set(entry, path);
    else this.#state.take({ kind: 'item', collection: path, entry });
  }

  #takeDocument(members: Members): void {
    const name = members.text('document');
    if (this.#options.isDocument?.(name) !== true) throw new RecordFault('its document has an unknown name');
    if (this.#documents.has(name)) throw new RecordFault('there is a document with this name already');
    this.#documents.set(name, members.text('content'));
  }

  #takeEnd(_: Members, bytes: Buffer): void {
    const isUnchanged = `${bytes.toString('latin1')}\n` === formatEnd(this.#items, this.#checksum);
    if (this.#storeId !== undefined && !isUnchanged)
      throw new RecordFault(
        'the export was changed since it was written; remove "storeId" from its first line, so that no earlier entity tag matches',
      );
    this.#ended = true;
  }

  #corruption(reason: string): CorruptionError {
    return new CorruptionError(this.#options.file, reason, this.#location);
  }
}

const headerNames = ['format', 'version', 'storeId', 'revision', 'exported'];
const collectionNames = ['collection', 'counter', 'chosen', 'sequence', 'revision', 'modified'];
const documentNames = ['document', 'content'];
const itemNames = ['collection', 'id', 'sequence', 'revision', 'modified', 'value'];
const receiptNames = ['receipt', 'kind', 'created', 'collection', 'item'];
const endNames = ['end', 'items', 'crc'];
