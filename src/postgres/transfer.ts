import { StoreError } from '../store/errors.ts';
import type {
  NumberRange,
  StoredReceipt,
  TransferPart,
  TransferredCollection,
  TransferredItem,
  TransferredReceipt,
  TransferredStore,
} from '../store/store.ts';
import { numberIn, type PostgresRow, textIn } from './client.ts';
import type { Database, Transaction } from './database.ts';
import { entryIn, kinds, readReceiptedChange } from './reads.ts';
import { dollarQuote, type SchemaName } from './schema/names.ts';
import { formatMarkLock } from './schema/nonce-functions.ts';
import { computeDigest, escapeText, unescapeText } from './text.ts';

/** The maximum number of items of a statement, and the length of their values in characters after which it is full. */
const [maxItems, maxLength] = [500, 1024 * 1024];

/** Returns the whole content of a store as of one moment, without expired receipts: see Transferable.exportState. */
export async function* exportFrom(
  database: Database,
  { identifier }: SchemaName,
  storeId: string,
  now: number,
): AsyncGenerator<TransferPart> {
  const transaction = await database.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY');
  let finished = false;
  try {
    const [last] = await transaction.query(
      `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS revision FROM ${identifier}.revisions`,
    );
    yield { kind: 'store', storeId, revision: numberIn(last, 'revision') };
    const collections = await transaction.query(
      `SELECT number, path, counter, sequence, revision, modified FROM ${identifier}.collections
       WHERE revision > 0 ORDER BY path`,
    );
    for (const row of collections) {
      yield await readCollection(transaction, identifier, row);
      yield* readItems(transaction, identifier, textIn(row, 'path'));
    }
    yield* readReceipts(transaction, identifier, now);
    finished = true;
  } finally {
    await transaction.end(finished);
  }
}

async function readCollection(
  transaction: Transaction,
  schema: string,
  row: PostgresRow,
): Promise<TransferredCollection> {
  const chosen = await transaction.query(
    `SELECT first, last FROM ${schema}.chosen WHERE collection = $1 ORDER BY first`,
    [numberIn(row, 'number')],
  );
  return {
    kind: 'collection',
    path: unescapeText(textIn(row, 'path')),
    counter: numberIn(row, 'counter'),
    sequence: numberIn(row, 'sequence'),
    revision: numberIn(row, 'revision'),
    modified: numberIn(row, 'modified'),
    chosen: chosen.map((range) => ({ first: numberIn(range, 'first'), last: numberIn(range, 'last') })),
  };
}

async function* readItems(
  transaction: Transaction,
  schema: string,
  path: string,
): AsyncGenerator<TransferredItem> {
  const collection = unescapeText(path);
  for (let [after, more] = [0, true]; more; ) {
    const [head, ...rows] = await transaction.query(`SELECT * FROM ${schema}.list_items($1, $2, $3, $4)`, [
      path,
      after,
      maxItems,
      maxLength,
    ]);
    for (const row of rows) {
      const entry = entryIn(row, unescapeText(textIn(row, 'id')));
      yield { kind: 'item', collection, entry };
      after = entry.sequence;
    }
    more = numberIn(head, 'sequence') > rows.length;
  }
}

async function* readReceipts(
  transaction: Transaction,
  schema: string,
  now: number,
): AsyncGenerator<TransferredReceipt> {
  for (let [after, more] = ['', true]; more; ) {
    const rows = await transaction.query(
      `SELECT *, encode(key, 'base64') AS digest FROM ${schema}.receipts
       WHERE until > $1 AND key > decode($2, 'base64') ORDER BY key LIMIT $3`,
      [now, after, maxItems],
    );
    for (const row of rows) {
      yield { kind: 'receipt', change: readReceiptedChange(row, unescapeText(textIn(row, 'name'))) };
      after = textIn(row, 'digest');
    }
    more = rows.length === maxItems;
  }
}

/**
 * Replaces the content of an empty store: see Transferable.importState. Returns the store that was transferred;
 * undefined if the store is not empty.
 */
export async function importInto(
  database: Database,
  schema: SchemaName,
  parts: AsyncIterable<TransferPart>,
  noncesUntil: number,
): Promise<TransferredStore | undefined> {
  const transaction = await database.begin('');
  let finished = false;
  try {
    const imported = new Import(transaction, schema.identifier);
    finished = await imported.begin();
    if (!finished) return undefined;
    finished = false;
    for await (const part of parts) await imported.add(part);
    const store = await imported.finish(noncesUntil);
    finished = true;
    return store;
  } finally {
    await transaction.end(finished);
  }
}

/** An import in a transaction. */
class Import {
  readonly #transaction: Transaction;
  readonly #schema: string;
  #store: TransferredStore = { kind: 'store', storeId: undefined, revision: 0 };
  #collection: { path: string; number: number } | undefined;
  #items: string[] = [];
  #length = 0;

  constructor(transaction: Transaction, schema: string) {
    this.#transaction = transaction;
    this.#schema = schema;
  }

  /** Locks the store. Returns false if it is not empty. */
  async begin(): Promise<boolean> {
    const schema = this.#schema;
    // In the order in which changes take these locks.
    await this.#transaction.query(`LOCK TABLE ${schema}.collections IN EXCLUSIVE MODE`);
    await this.#transaction.query(
      `SELECT ${schema}.ensure_durable(), pg_advisory_xact_lock(${formatMarkLock(schema)})`,
    );
    const changed = await this.#transaction.query(
      `SELECT 1 FROM ${schema}.collections WHERE revision > 0 LIMIT 1`,
    );
    if (changed.length > 0) return false;
    await this.#transaction.query(`DELETE FROM ${schema}.collections`);
    return true;
  }

  async add(part: TransferPart): Promise<void> {
    if (part.kind === 'item') await this.#addItem(part);
    else {
      await this.#flush();
      if (part.kind === 'store') this.#store = part;
      else if (part.kind === 'receipt') await this.#addReceipt(part.change);
      else await this.#addCollection(part);
    }
  }

  async finish(noncesUntil: number): Promise<TransferredStore> {
    const schema = this.#schema;
    await this.#flush();
    const { storeId, revision } = this.#store;
    await this.#transaction.query(
      `SELECT setval(${dollarQuote(`${schema}.revisions`)}, greatest(1, $1::bigint, last_value,
         (SELECT max(revision) FROM ${schema}.collections))) FROM ${schema}.revisions`,
      [revision],
    );
    await this.#transaction.query(
      `UPDATE ${schema}.meta SET store_id = coalesce($1, store_id), mark = greatest(mark, $2::bigint)`,
      [storeId ?? null, Math.floor(noncesUntil) + 1],
    );
    return this.#store;
  }

  async #addCollection(part: TransferredCollection): Promise<void> {
    const { path, counter, sequence, revision, modified, chosen } = part;
    const [first] = chosen;
    const [row] = await this.#transaction.query(
      `INSERT INTO ${this.#schema}.collections (path, counter, sequence, revision, modified, reserved)
       VALUES ($1, $2, $3, $4, $5, $6) RETURNING number`,
      [escapeText(path), counter, sequence, revision, modified, first?.first ?? null],
    );
    this.#collection = { path, number: numberIn(row, 'number') };
    for (const range of chosen) await this.#addRange(range);
  }

  async #addRange({ first, last }: NumberRange): Promise<void> {
    await this.#transaction.query(
      `INSERT INTO ${this.#schema}.chosen (collection, first, last) VALUES ($1, $2, $3)`,
      [this.#collection?.number, first, last],
    );
  }

  async #addReceipt({ receipt, kind, created, collection, entry }: StoredReceipt): Promise<void> {
    const { key, user, until, fingerprint } = receipt;
    const { id, sequence, revision, modified, value } = entry;
    await this.#transaction.query(
      `INSERT INTO ${this.#schema}.receipts
         (key, name, owner, until, fingerprint, kind, created, collection, id, sequence, revision, modified, value)
       VALUES (decode($1, 'base64'), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      [
        computeDigest(key),
        escapeText(key),
        user === undefined ? null : escapeText(user),
        Math.floor(until),
        escapeText(fingerprint),
        kinds.indexOf(kind),
        created,
        escapeText(collection),
        escapeText(id),
        sequence,
        revision,
        modified,
        JSON.stringify(value),
      ],
    );
  }

  async #addItem({ collection, entry }: TransferredItem): Promise<void> {
    if (collection !== this.#collection?.path) {
      throw new StoreError('failed', 'an item of the import does not follow its collection');
    }
    const { id, sequence, revision, modified, value } = entry;
    const item = JSON.stringify({
      i: escapeText(id),
      s: sequence,
      r: revision,
      m: modified,
      v: JSON.stringify(value),
    });
    this.#items.push(item);
    this.#length += item.length;
    if (this.#items.length >= maxItems || this.#length >= maxLength) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#items.length === 0) return;
    const items = `[${this.#items.join()}]`;
    this.#items = [];
    this.#length = 0;
    await this.#transaction.query(
      `INSERT INTO ${this.#schema}.items (collection, sequence, id, revision, modified, value)
       SELECT $1, s, i, r, m, v FROM json_to_recordset($2::json) AS each(i text, s bigint, r bigint, m bigint, v text)`,
      [this.#collection?.number, items],
    );
  }
}
