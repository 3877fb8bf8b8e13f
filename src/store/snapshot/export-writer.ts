import { crc32 } from 'node:zlib';
import { formatIsoDate } from '../encoding/iso-date.ts';
import { formatMembers, formatReceiptedChange } from '../encoding/item-json.ts';
import { formatChecksum } from '../log/line.ts';
import type { StoredItem, TransferPart } from '../store.ts';

/** The name and the version of the format of an export. */
export const exportFormat = 'countersign-export';
export const exportVersion = 1;

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
    const { at, includes } = this.#options;
    if (part.kind === 'store') {
      const { storeId, revision } = part;
      const format = { format: exportFormat, version: exportVersion };
      return this.#counted(formatLine({ ...format, storeId, revision, exported: formatIsoDate(at) }));
    }
    if (part.kind === 'item') {
      if (!includes(part.collection)) {
        this.#omitted += 1;
        return '';
      }
      this.#items += 1;
      return this.#counted(this.#itemLine(part.collection, part.entry));
    }
    if (part.kind === 'receipt')
      return includes(part.change.collection) ? this.#counted(`${formatReceiptedChange(part.change)}\n`) : '';
    if (!includes(part.path)) return '';
    const { path, counter, sequence, revision, modified } = part;
    const chosen = part.chosen.map(({ first, last }) => [first, last]);
    const numbers = { counter, chosen, sequence, revision, modified: formatIsoDate(modified) };
    return this.#counted(formatLine({ collection: path, ...numbers }));
  }

  /** Returns the line of a document, such as an account file. */
  document(name: string, content: string): string {
    return this.#counted(formatLine({ document: name, content }));
  }

  /** Returns the last line. */
  end(): string {
    return formatExportEnd(this.#items, this.#checksum);
  }

  #itemLine(collection: string, entry: StoredItem): string {
    if (this.#collection !== collection)
      [this.#collection, this.#start] = [collection, `{"collection":${JSON.stringify(collection)},`];
    return `${this.#start}${formatMembers(entry, JSON.stringify(entry.value))}}\n`;
  }

  #counted(line: string): string {
    this.#checksum = crc32(line, this.#checksum);
    return line;
  }
}

/** Returns the last line of an export: the number of items, and the CRC-32 of all bytes before the line. */
export function formatExportEnd(items: number, checksum: number): string {
  return formatLine({ end: true, items, crc: formatChecksum(checksum) });
}

function formatLine(members: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(members)}\n`;
}
