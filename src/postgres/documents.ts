import type { DocumentStore, StoredDocument } from '../store/documents.ts';
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../timers.ts';
import { type PostgresConnection, textIn } from './client.ts';
import type { Database } from './database.ts';
import { quoteIdentifier, type SchemaName } from './schema/names.ts';
import { escapeText } from './text.ts';

/** The time (ms) between two polls: a change must be found within a second, also if notifications do not arrive. */
const pollInterval = 700;
/** The time (ms) after which a lost connection for notifications is opened again. */
const listenAgainAfter = 500;

/** Documents in a table, whose changes are announced by notifications and found by polling. */
export class DocumentTable implements DocumentStore {
  readonly location: string;
  readonly #database: Database;
  readonly #schema: SchemaName;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #listens: boolean;
  readonly #watchers = new Set<() => void>();
  #polling: NodeJS.Timeout | undefined;
  #listening: Listening | undefined;
  /** The versions that the last poll found. */
  #versions: string | undefined;
  #poll: Promise<void> | undefined;
  #pollsAgain = false;

  /** @param listens whether a connection of the pool can be used for notifications */
  constructor(
    database: Database,
    schema: SchemaName,
    random: (bytes: number) => Uint8Array,
    listens: boolean,
  ) {
    this.location = `PostgreSQL, schema ${schema.identifier}`;
    this.#database = database;
    this.#schema = schema;
    this.#random = random;
    this.#listens = listens;
  }

  async read(name: string): Promise<StoredDocument | undefined> {
    const [row] = await this.#database.query(
      `SELECT version, encode(content, 'base64') AS content FROM ${this.#schema.identifier}.documents WHERE name = $1`,
      [escapeText(name)],
    );
    if (row === undefined) return undefined;
    return { content: Buffer.from(textIn(row, 'content'), 'base64'), version: textIn(row, 'version') };
  }

  async replace(
    name: string,
    content: Uint8Array,
    expected: string | undefined,
  ): Promise<string | undefined> {
    const version = Buffer.from(this.#random(16)).toString('hex');
    const [row] = await this.#database.query(
      `SELECT ${this.#schema.identifier}.replace_document($1, $2, $3, $4, $5) AS replaced`,
      (_, wait) => [
        escapeText(name),
        Buffer.from(content).toString('base64'),
        expected ?? null,
        version,
        wait,
      ],
    );
    return row?.['replaced'] === true ? version : undefined;
  }

  watch(onChange: () => void): () => void {
    // Each call is another watcher, also with the same function.
    const watcher = (): void => onChange();
    this.#watchers.add(watcher);
    // Documents may have changed since this watcher has read them.
    this.#versions = undefined;
    this.#begin();
    this.#startPoll();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#end();
    };
  }

  /** Stops all watchers. */
  async close(): Promise<void> {
    this.#watchers.clear();
    this.#end();
    await this.#poll;
  }

  #begin(): void {
    if (this.#polling !== undefined) return;
    this.#polling = setInterval(() => this.#startPoll(), pollInterval);
    this.#polling.unref();
    if (!this.#listens) return;
    this.#listening = new Listening(this.#database, this.#schema.channel, () => this.#startPoll());
  }

  #end(): void {
    clearInterval(this.#polling);
    this.#polling = undefined;
    this.#listening?.close();
    this.#listening = undefined;
  }

  /** Polls now; after the current poll, which may not find the latest change. */
  #startPoll(): void {
    this.#pollsAgain = true;
    this.#poll ??= this.#pollAll().finally(() => {
      this.#poll = undefined;
    });
  }

  async #pollAll(): Promise<void> {
    while (this.#pollsAgain && this.#watchers.size > 0) {
      this.#pollsAgain = false;
      await this.#compare();
    }
  }

  /** Calls the watchers if the versions differ from those of the last poll. */
  async #compare(): Promise<void> {
    const versions = await this.#readVersions().catch(() => undefined);
    if (versions === undefined || versions === this.#versions) return;
    this.#versions = versions;
    for (const watcher of [...this.#watchers]) watcher();
  }

  async #readVersions(): Promise<string> {
    const [row] = await this.#database.queryOnce(
      `SELECT coalesce(string_agg(name || ' ' || version, ',' ORDER BY name), '') AS versions FROM ${this.#schema.identifier}.documents`,
      [],
    );
    return textIn(row, 'versions');
  }
}

/** Listens for notifications on a connection of its own, which is opened again when it is lost. */
class Listening {
  readonly #database: Database;
  readonly #channel: string;
  readonly #onNotification: () => void;
  #connection: PostgresConnection | undefined;
  #again: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(database: Database, channel: string, onNotification: () => void) {
    this.#database = database;
    this.#channel = channel;
    this.#onNotification = onNotification;
    void this.#listen();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
    this.#release();
  }

  async #listen(): Promise<void> {
    try {
      const connection = await this.#database.connect();
      if (connection === undefined) return;
      this.#connection = connection;
      connection.on?.('notification', this.#onNotification);
      connection.on?.('error', this.#lost);
      connection.on?.('end', this.#lost);
      if (this.#closed) this.#release();
      else await connection.query(`LISTEN ${quoteIdentifier(this.#channel)}`, []);
      // Notifications before it are lost.
      this.#onNotification();
    } catch {
      this.#lost();
    }
  }

  /** Closes the connection, and opens another one later. An arrow function, because it is a listener. */
  readonly #lost = (): void => {
    this.#release();
    if (this.#closed) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.#listen(), listenAgainAfter);
    this.#again.unref();
  };

  /** Closes the connection: another user of the pool must not get one that listens. */
  #release(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.removeListener?.('notification', this.#onNotification);
    connection?.removeListener?.('end', this.#lost);
    if (connection !== undefined) this.#database.release(connection, true);
  }
}
