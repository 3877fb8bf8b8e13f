import type { DocumentStore, StoredDocument } from '../store/documents.ts';
import { clearInterval, setInterval } from '../timers.ts';
import { textIn } from './client.ts';
import type { Database } from './database.ts';
import type { SchemaName } from './schema/names.ts';
import { escapeText } from './text.ts';

/** The time (ms) between two polls: a change must be found within a second. */
const pollInterval = 700;

/** Documents in a table, whose changes are found by polling. */
export class DocumentTable implements DocumentStore {
  readonly location: string;
  readonly #database: Database;
  readonly #schema: SchemaName;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #watchers = new Set<() => void>();
  #polling: NodeJS.Timeout | undefined;
  /** The versions that the last poll found. */
  #versions: string | undefined;
  #poll: Promise<void> | undefined;
  #pollsAgain = false;

  constructor(database: Database, schema: SchemaName, random: (bytes: number) => Uint8Array) {
    this.location = `PostgreSQL, schema ${schema.identifier}`;
    this.#database = database;
    this.#schema = schema;
    this.#random = random;
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
  }

  #end(): void {
    clearInterval(this.#polling);
    this.#polling = undefined;
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
