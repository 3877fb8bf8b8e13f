import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { type JournaledStore, openJournaledStore } from '../../src/store/durable.ts';
import { recover } from '../../src/store/recover.ts';
import { writeStore } from '../../src/store/snapshot/writer.ts';

import { State } from '../../src/store/state/state.ts';
import { type Article, article, articles } from '../data/articles.ts';

/** An open store with articles that are numbered from 0. */
export interface Opened {
  /** Replaces an existing article. Resolves when the change is as durable as the store makes it. */
  write(number: number, article: Article): Promise<void>;
  close(): Promise<void>;
}

/** A store to measure. Its package is loaded only in the measuring process, and throws if it is not installed. */
export interface Contestant {
  /** Whether an acknowledged write is on the medium. */
  readonly synced: boolean;
  /** The maximum number of records that are measured, and the reason. */
  readonly most?: { readonly count: number; readonly reason: string };
  /** Creates the store with its first articles in an empty directory. */
  fill(directory: string, count: number): Promise<void>;
  open(directory: string, count: number): Promise<Opened>;
}

/** The number of articles that are written at once. */
const slice = 10_000;

const wholeFile = 'each write is the whole file';

/** All contestants by name: this project first, then other packages, and the bare medium last. */
export const contestants: ReadonlyMap<string, Contestant> = new Map<string, Contestant>([
  ['countersign', countersign()],
  ['better-sqlite3 grouped', sqlite('grouped')],
  ['better-sqlite3', sqlite('each')],
  ['classic-level', classicLevel()],
  ['lowdb', lowdb()],
  ['append + fdatasync grouped', bare('grouped')],
  ['append + fdatasync', bare('each')],
]);

/** Returns the numbers from 0 to `count` in slices. */
function* slices(count: number): Generator<number[]> {
  for (let from = 0; from < count; from += slice) {
    yield Array.from({ length: Math.min(slice, count - from) }, (_, index) => from + index);
  }
}

/** Opens the store of this project. It compacts by default limits, or when its journals reach `compactAt` bytes. */
export async function openOurs(
  directory: string,
  durability: 'fsync' | 'os' = 'fsync',
  compactAt?: number,
): Promise<JournaledStore> {
  const report = (line: string): void => console.error(line);
  const limits = compactAt === undefined ? {} : { limits: { minBytes: compactAt, ratio: 0 } };
  const recovered = await recover({ directory });
  return openJournaledStore({
    directory,
    recovered,
    durability,
    onWarning: report,
    clock: systemClock,
    newStoreId: () => 'bench',
    ...limits,
  });
}

/** Creates a store of this project with a snapshot and an empty journal, as after a compaction. */
export async function fillOurs(directory: string, count: number): Promise<void> {
  const state = new State();
  for (let number = 0; number < count; number += 1) {
    const made = state.prepare({ kind: 'create', collection: articles, value: article(number), at: 0 });
    if (!('applied' in made)) state.commit(made);
  }
  await writeStore(directory, { storeId: 'bench', state, now: 0 });
}

function countersign(): Contestant {
  return {
    synced: true,
    fill: fillOurs,
    async open(directory) {
      const store = await openOurs(directory);
      return {
        async write(number, value) {
          const id = String(number + 1);
          const applied = await store.apply({
            kind: 'put',
            collection: articles,
            id,
            // Without a precondition, as for the peers.
            expected: 'present',
            value,
            at: performance.timeOrigin + performance.now(),
          });
          if (!applied.applied) throw new Error(`there is no article ${id}`);
        },
        close: () => store.close(),
      };
    },
  };
}

/** A pending write and its callbacks. */
interface Waiting {
  readonly number: number;
  readonly article: Article;
  resolve(): void;
  reject(error: unknown): void;
}

/** Collects the writes of one turn of the event loop, as concurrent requests do, and stores them together. */
function gathered(keep: (waiting: readonly Waiting[]) => void): Opened['write'] {
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    try {
      keep(batch);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  return (number, article) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ number, article, resolve, reject }) === 1) setImmediate(flush);
    });
}

/** The part of better-sqlite3 that is used. */
interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: (string | number)[]): unknown };
  close(): void;
}

async function betterSqlite(path: string): Promise<Database> {
  const name = 'better-sqlite3';
  const { default: open }: { default: new (path: string) => Database } = await import(name);
  return new open(path);
}

function sqlite(commits: 'each' | 'grouped'): Contestant {
  const open = async (directory: string): Promise<Database> => {
    const database = await betterSqlite(join(directory, 'articles.sqlite'));
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    return database;
  };
  return {
    synced: true,
    async fill(directory, count) {
      const database = await open(directory);
      database.exec('CREATE TABLE articles (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT; BEGIN');
      const insert = database.prepare('INSERT INTO articles VALUES (?, ?)');
      for (let number = 0; number < count; number += 1) insert.run(number, JSON.stringify(article(number)));
      database.exec('COMMIT');
      database.close();
    },
    async open(directory) {
      const database = await open(directory);
      const update = database.prepare('UPDATE articles SET value = ? WHERE id = ?');
      const begin = database.prepare('BEGIN IMMEDIATE');
      const commit = database.prepare('COMMIT');
      const each = (waiting: readonly Waiting[]): void => {
        for (const { number, article, resolve } of waiting) {
          update.run(JSON.stringify(article), number);
          resolve();
        }
      };
      const grouped = (waiting: readonly Waiting[]): void => {
        begin.run();
        for (const { number, article } of waiting) update.run(JSON.stringify(article), number);
        commit.run();
        for (const { resolve } of waiting) resolve();
      };
      return {
        write: gathered(commits === 'each' ? each : grouped),
        async close() {
          database.close();
        },
      };
    },
  };
}

interface Level {
  open(): Promise<void>;
  put(key: string, value: Article, options: { sync: boolean }): Promise<void>;
  batch(operations: readonly object[]): Promise<void>;
  close(): Promise<void>;
}

function classicLevel(): Contestant {
  const open = async (directory: string): Promise<Level> => {
    const name = 'classic-level';
    const { ClassicLevel }: { ClassicLevel: new (path: string, options: object) => Level } = await import(
      name
    );
    const level = new ClassicLevel(join(directory, 'level'), { valueEncoding: 'json' });
    await level.open();
    return level;
  };
  return {
    synced: true,
    async fill(directory, count) {
      const level = await open(directory);
      for (const numbers of slices(count)) {
        await level.batch(
          numbers.map((number) => ({ type: 'put', key: String(number), value: article(number) })),
        );
      }
      await level.close();
    },
    async open(directory) {
      const level = await open(directory);
      return {
        write: (number, value) => level.put(String(number), value, { sync: true }),
        close: () => level.close(),
      };
    },
  };
}

interface Low {
  readonly data: { readonly articles: Article[] };
  read(): Promise<void>;
  write(): Promise<void>;
}

function lowdb(): Contestant {
  const open = async (directory: string): Promise<Low> => {
    const [name, adapters] = ['lowdb', 'lowdb/node'];
    const { Low }: { Low: new (adapter: unknown, initial: Low['data']) => Low } = await import(name);
    const { JSONFile }: { JSONFile: new (path: string) => unknown } = await import(adapters);
    const low = new Low(new JSONFile(join(directory, 'articles.json')), { articles: [] });
    await low.read();
    return low;
  };
  return {
    synced: false,
    most: { count: 100_000, reason: wholeFile },
    async fill(directory, count) {
      const low = await open(directory);
      for (let number = 0; number < count; number += 1) low.data.articles.push(article(number));
      await low.write();
    },
    async open(directory) {
      const low = await open(directory);
      return {
        write(number, value) {
          low.data.articles[number] = value;
          return low.write();
        },
        async close() {},
      };
    },
  };
}

/** The maximum of the medium: lines are written one after the other into preallocated space, and synced. */
function bare(syncs: 'each' | 'grouped'): Contestant {
  const size = 64 * 1024 * 1024;
  return {
    synced: true,
    async fill(directory) {
      const path = join(directory, 'lines');
      writeFileSync(path, Buffer.alloc(size));
      const file = openSync(path, 'r+');
      fsyncSync(file);
      closeSync(file);
    },
    async open(directory) {
      const path = join(directory, 'lines');
      readFileSync(path); // so that it is no slower at first than later
      const file = openSync(path, 'r+');
      let at = 0;
      const append = (text: string): void => {
        const bytes = Buffer.from(text);
        if (at + bytes.length > size) at = 0;
        at += writeSync(file, bytes, 0, bytes.length, at);
        fdatasyncSync(file);
      };
      const lineOf = ({ number, article }: Waiting): string => `${JSON.stringify({ number, article })}\n`;
      const each = (waiting: readonly Waiting[]): void => {
        for (const one of waiting) {
          append(lineOf(one));
          one.resolve();
        }
      };
      const grouped = (waiting: readonly Waiting[]): void => {
        append(waiting.map(lineOf).join(''));
        for (const { resolve } of waiting) resolve();
      };
      return {
        write: gathered(syncs === 'each' ? each : grouped),
        async close() {
          closeSync(file);
        },
      };
    },
  };
}
