import type {
  ReceiptCount,
  ReferenceRules,
  Referrer,
  StoredItem,
  StoredPage,
  StoredReceipt,
} from '../store/store.ts';
import { decodeKey, decodeValue, encodeSources, isStorableKey } from './change-encoding.ts';
import { numberIn, type PostgresRow, textIn } from './client.ts';
import { Coalesced } from './coalesced.ts';
import type { Database } from './database.ts';
import { computeDigest, escapeText, unescapeText } from './text.ts';

/** The number of bytes that no page reaches. */
const unlimited = 2 ** 50;
/** The kinds of changes with a receipt, by their numbers in the table. */
export const kinds = ['create', 'put', 'delete'] as const;
const noPage: StoredPage = { entries: [], more: false, revision: 0, modified: 0 };

interface Key {
  readonly collection: string;
  readonly id: string;
}

/** Reads from the store, with one query for each list, and one for all items that are read in one turn of the event loop. */
export class Reads {
  readonly #database: Database;
  readonly #schema: string;
  readonly #items = new Coalesced<Key, StoredItem | undefined>((keys) => this.#readAll(keys));

  constructor(database: Database, schema: string) {
    this.#database = database;
    this.#schema = schema;
  }

  /** Returns an item: see Store.read. */
  async read(collection: string, id: string): Promise<StoredItem | undefined> {
    if (!isStorableKey(collection) || !isStorableKey(id)) return undefined;
    return this.#items.call({ collection, id });
  }

  /** Returns a page: see Store.list. */
  async list(collection: string, after: number, limit: number, bytes = unlimited): Promise<StoredPage> {
    if (!isStorableKey(collection)) return noPage;
    const max = clamp(limit, 0);
    const [head, ...rows] = await this.#database.query(
      `SELECT * FROM ${this.#schema}.list_items($1, $2, $3, $4)`,
      [escapeText(collection), clamp(after, 0), max, clamp(bytes, 1)],
    );
    if (head === undefined) return noPage;
    return {
      entries: rows.map((row) => entryIn(row, decodeKey(textIn(row, 'id')))),
      more: numberIn(head, 'sequence') > rows.length,
      revision: numberIn(head, 'revision'),
      modified: numberIn(head, 'modified'),
    };
  }

  /** Returns items that refer to an item: see Store.referrers. */
  async referrers(
    references: ReferenceRules,
    collection: string,
    id: string,
    most: number,
  ): Promise<readonly Referrer[]> {
    const rows = await this.#database.query(`SELECT * FROM ${this.#schema}.find_referrers($1, $2, $3, $4)`, [
      encodeSources(references),
      escapeText(collection),
      escapeText(id),
      most,
    ]);
    return rows.map((row) => ({
      collection: decodeKey(textIn(row, 'path')),
      item: entryIn(row, decodeKey(textIn(row, 'id'))),
    }));
  }

  /** Returns the change with an unexpired receipt: see Store.receipt. */
  async receipt(key: string, now: number): Promise<StoredReceipt | undefined> {
    const [row] = await this.#database.query(
      `SELECT until, owner, fingerprint, kind, created, collection, id, sequence, revision, modified, value
       FROM ${this.#schema}.receipts WHERE key = decode($1, 'base64') AND until > $2`,
      [computeDigest(key), Math.floor(now)],
    );
    return row === undefined ? undefined : readReceiptedChange(row, key);
  }

  /** Counts the unexpired receipts of a user. `freeAt` is the time (ms) at which the first of them expires. */
  async receiptsOf(user: string, now: number): Promise<ReceiptCount> {
    if (!isStorableKey(user)) return { count: 0, size: 0, freeAt: undefined };
    const [row] = await this.#database.query(
      `SELECT count(*) AS count, coalesce(sum(length(value)), 0) AS size, min(until) AS free_at
       FROM ${this.#schema}.receipts WHERE owner = $1 AND until > $2`,
      [escapeText(user), Math.floor(now)],
    );
    const count = numberIn(row, 'count');
    return { count, size: numberIn(row, 'size'), freeAt: count === 0 ? undefined : numberIn(row, 'free_at') };
  }

  /** Resolves when all items have been read. */
  async settled(): Promise<void> {
    await this.#items.settled();
  }

  async #readAll(keys: readonly Key[]): Promise<(index: number) => StoredItem | undefined> {
    const pairs = keys.map(({ collection, id }) => [escapeText(collection), escapeText(id)]);
    const rows = await this.#database.query(`SELECT * FROM ${this.#schema}.read_items($1)`, [
      JSON.stringify(pairs),
    ]);
    const found = new Map(rows.map((row) => [numberIn(row, 'ord'), row]));
    return (index) => {
      const row = found.get(index + 1);
      return row === undefined ? undefined : entryIn(row, keys[index]?.id ?? '');
    };
  }
}

/** Returns the item in a row. */
export function entryIn(row: PostgresRow, id: string): StoredItem {
  return {
    id,
    sequence: numberIn(row, 'sequence'),
    revision: numberIn(row, 'revision'),
    modified: numberIn(row, 'modified'),
    value: decodeValue(textIn(row, 'value')),
  };
}

/** Returns a whole number from `least` to `unlimited`. */
function clamp(number: number, min: number): number {
  return Math.floor(Math.min(unlimited, Math.max(min, number)));
}

/** Reads a change with a receipt. `key` is that of the receipt. */
export function readReceiptedChange(row: PostgresRow, key: string): StoredReceipt {
  const user = row['owner'] === null ? {} : { user: unescapeText(textIn(row, 'owner')) };
  const fingerprint = unescapeText(textIn(row, 'fingerprint'));
  return {
    receipt: { key, fingerprint, until: numberIn(row, 'until'), ...user },
    kind: kinds[numberIn(row, 'kind')] ?? 'put',
    created: row['created'] === true,
    collection: decodeKey(textIn(row, 'collection')),
    entry: entryIn(row, decodeKey(textIn(row, 'id'))),
  };
}
