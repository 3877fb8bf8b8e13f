import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Clock } from '../../../src/clock.ts';
import { type JournaledStore, openJournaledStore } from '../../../src/store/durable.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { recover } from '../../../src/store/recover.ts';
import type { Scanned } from '../../../src/store/scan.ts';
import type { CompactionLimits } from '../../../src/store/snapshot/compaction.ts';
import type { Store, StoreChange, StoredItem } from '../../../src/store/store.ts';
import type { Seeded } from '../../support/seeded.ts';
import { type Files, PowerLossDisk, type Sampling } from '../../support/store/power-loss-disk.ts';
import { stride } from '../../support/store/thoroughness.ts';

const directory = '/data';

/** When the changes of these tests are made. */
export const at = Date.UTC(2013, 3, 20, 12, 59, 24, 7);

/** No compaction, and one after nearly every batch. */
export const never: CompactionLimits = { minBytes: Number.POSITIVE_INFINITY, ratio: 1 };
export const always: CompactionLimits = { minBytes: 1, ratio: 0 };

/** A change that was asked for, and what came of it. */
export interface Asked {
  readonly change: StoreChange;
  readonly revision: number;
  /** How many operations the disk had done when it was answered. */
  answered?: number;
  entry?: StoredItem;
  /** Why it was not made. */
  refused?: StoreError['code'];
}

/** What a store is run with. */
interface Running {
  readonly disk: PowerLossDisk;
  readonly durability?: 'fsync' | 'os';
  readonly limits?: CompactionLimits;
}

/** A store on such a disk, and all that was asked of it and answered. */
export class Run {
  readonly disk: PowerLossDisk;
  readonly store: JournaledStore;
  readonly recovered: Scanned;
  readonly told: string[] = [];
  /** In the order in which it makes them: one request at a time for an item. */
  readonly asked: Asked[] = [];
  #revision: number;

  private constructor(disk: PowerLossDisk, store: JournaledStore, recovered: Scanned, told: string[]) {
    this.disk = disk;
    this.store = store;
    this.recovered = recovered;
    this.told = told;
    this.#revision = recovered.state.revision;
  }

  /** Recovers what the disk has, and opens it. */
  static async open({ disk, durability = 'fsync', limits = never }: Running): Promise<Run> {
    const recovered = await recover({ directory, disk });
    const told: string[] = [];
    const store = await openJournaledStore({
      directory,
      disk,
      recovered,
      durability,
      limits,
      newStoreId: () => 'first',
      clock: hurried(),
      onWarning: (line) => told.push(line),
    });
    return new Run(disk, store, recovered, told);
  }

  /** Asks for a change, and notes the answer. */
  async ask(change: StoreChange): Promise<void> {
    this.#revision += 1;
    const revision = this.#revision;
    const asked: Asked = { change, revision };
    this.asked.push(asked);
    try {
      const applied = await this.store.apply(change);
      asked.answered = this.disk.operations;
      assert.ok(applied.applied);
      asked.entry = applied.entry;
      if (change.kind !== 'delete') assert.equal(applied.entry.revision, revision);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      asked.answered = this.disk.operations;
      asked.refused = error.code;
    }
  }

  /** Asks for all of them at once. */
  async askAll(changes: readonly StoreChange[]): Promise<void> {
    await Promise.all(changes.map((change) => this.ask(change)));
  }

  /** Resolves when no operation was done for some turns. */
  async settle(): Promise<void> {
    for (let [quiet, last] = [0, -1]; quiet < 30; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.disk.operations !== last) quiet = 0;
      last = this.disk.operations;
    }
  }
}

/** A clock by which every look takes long, so that copies are made in small slices. */
function hurried(): Clock {
  let passed = 0;
  return {
    now: () => at,
    steady: () => {
      passed += 6;
      return passed;
    },
  };
}

/** How the losses of a run are judged. */
interface Judging {
  readonly sampling: Sampling;
  /** The distance from one state that is judged to the next. Default: `stride`. */
  readonly every?: number;
  /** What was there before the run; all of it is kept. */
  readonly before?: readonly Asked[];
  /** The operations after which the power goes; all by default. */
  readonly from?: number;
  readonly to?: number;
  /** Whether what was acknowledged may be lost. */
  readonly mayLose?: boolean;
  /** Whether nothing is done with a state but to recover it. */
  readonly briefly?: boolean;
  /** Whether changes may be found of which it was said before that they were not made. */
  readonly mayHaveRefused?: boolean;
}

/** What was found in all the states. */
export interface Findings {
  states: number;
  /** States after a second loss, in the midst of recovery. */
  second: number;
  torn: number;
  /** With changes that were under way, and with some that had been refused. */
  unacknowledged: number;
  refused: number;
  lost: number;
}

/** Says what was found, and with which seed. */
export function say(context: TestContext, { seed }: Seeded, found: Findings): void {
  context.diagnostic(`seed ${seed}: ${JSON.stringify(found)}`);
}

/** Changes of as many items, which nobody else names. */
export function puts(name: string, count: number, random: Seeded): StoreChange[] {
  return Array.from({ length: count }, (_, n) => ({
    kind: 'put' as const,
    collection: '/a',
    id: `${name}-${n}`,
    expected: 'absent' as const,
    value: { n, text: random.text('abc ä', 60).padEnd(120, '.') },
    at,
  }));
}

/** Requires that a change and the receipt of its request are there together, or neither is. */
function judgeReceipts({ store, recovered }: Run, here: readonly Asked[], where: string): void {
  const receipted = here.filter(({ change }) => change.receipt !== undefined);
  assert.equal([...recovered.state.receipts].length, receipted.length, `receipts ${where}`);
  for (const { change, revision } of receipted) {
    const found = store.receipt(change.receipt?.key ?? '', at);
    assert.ok(found !== undefined, `change ${revision} is there and its receipt is not ${where}`);
  }
}

/** Lets the power go at every operation of a run, and holds each state that could be found against what was answered. */
export async function judgeLosses(run: Run, judging: Judging): Promise<Findings> {
  return new Judge(run, judging).run();
}

class Judge {
  readonly #run: Run;
  readonly #judging: Judging;
  readonly #every: number;
  readonly #changes: readonly Asked[];
  readonly #earlier: ReadonlySet<Asked>;
  /** What may be found, and which changes that are. */
  readonly #views: ReadonlyMap<string, readonly Asked[]>;
  readonly #known = new Map<string, readonly Asked[]>();
  readonly #mended = new Map<string, number>();
  /** The number of states that could be found, including those that are not judged. */
  #passed: number;
  readonly #findings: Findings = { states: 0, second: 0, torn: 0, unacknowledged: 0, refused: 0, lost: 0 };

  constructor(run: Run, judging: Judging) {
    const { before = [], every = stride } = judging;
    this.#every = every;
    this.#run = run;
    this.#judging = judging;
    this.#passed = judging.sampling.random.below(every);
    this.#changes = [...before, ...run.asked];
    this.#earlier = new Set(before);
    this.#views = listViews(this.#changes);
  }

  async run(): Promise<Findings> {
    const { disk } = this.#run;
    const { sampling, from, to } = this.#judging;
    for (const { operations, states } of disk.losses(sampling, from, to)) {
      const what = `after ${operations} operations (${disk.operationTexts.slice(Math.max(0, operations - 3), operations).join('; ')})`;
      for (const files of states) {
        this.#passed += 1;
        if (this.#passed % this.#every !== 0) continue;
        const where = `${what}, seed ${sampling.random.seed}, with ${describe(files)}`;
        await this.#judge(files, operations, where);
      }
    }
    return this.#findings;
  }

  async #judge(files: Files, operations: number, where: string): Promise<void> {
    const key = formatKey(files);
    let found = this.#known.get(key);
    if (found === undefined) {
      found = await this.#find(files, where);
      this.#known.set(key, found);
      this.#findings.states += 1;
    }
    this.#judgeAnswers(found, operations, where);
  }

  #judgeAnswers(here: readonly Asked[], operations: number, where: string): void {
    const { mayLose = false, mayHaveRefused = false } = this.#judging;
    const isAnswered = (asked: Asked): boolean =>
      this.#earlier.has(asked) || (asked.answered !== undefined && asked.answered <= operations);
    const lost = this.#changes.find(
      (asked) => !here.includes(asked) && asked.refused === undefined && isAnswered(asked),
    );
    if (lost !== undefined && !mayLose)
      assert.fail(`change ${lost.revision} was acknowledged, and is lost ${where}`);
    const refused = here.find((asked) => asked.refused !== undefined && isAnswered(asked));
    if (refused !== undefined && !mayHaveRefused)
      assert.fail(`change ${refused.revision} was refused, and is there ${where}`);
    if (lost !== undefined) this.#findings.lost += 1;
    if (refused !== undefined) this.#findings.refused += 1;
    if (here.some((asked) => !isAnswered(asked))) this.#findings.unacknowledged += 1;
  }

  /** Recovers a state, and goes on with it. */
  async #find(files: Files, where: string): Promise<readonly Asked[]> {
    const disk = new PowerLossDisk(files);
    const run = await Run.open({ disk }).catch((error: unknown) => {
      throw new Error(`refused: ${error} ${where}`, { cause: error });
    });
    const recovery = disk.operations;
    const here = this.#views.get(await readView(run.store));
    if (here === undefined)
      assert.fail(`there never was what is found ${where}: ${await readView(run.store)}`);
    this.#judgeTorn(files, run, where);
    judgeReceipts(run, here, where);
    if (this.#judging.briefly !== true && this.#findings.states % stride === 0) {
      await this.#goOn(run, here, where);
      await this.#loseAgain(run, recovery, here, where);
    }
    return here;
  }

  /** What was cut off is told, and kept byte for byte. */
  #judgeTorn(files: Files, { recovered, disk }: Run, where: string): void {
    const found = disk.files();
    for (const [name, before] of files) {
      if (!name.startsWith('journal-')) continue;
      const own = recovered.journals.find(({ path }) => path === `${directory}/${name}`);
      const end = withoutSpace(before.subarray(own?.bytes ?? 0));
      if (end.length === 0 || (own === undefined && found.has(name) && !isLast(name, files))) continue;
      this.#findings.torn += 1;
      assert.ok(
        recovered.reports.some((line) => line.includes(name)),
        `${name} is cut silently ${where}`,
      );
      const kept = [...found].some(
        ([other, content]) => other.startsWith('torn-') && Buffer.compare(content, end) === 0,
      );
      assert.ok(kept, `what was cut off ${name} is kept nowhere ${where}`);
    }
    for (const [name, content] of files) {
      if (!name.startsWith('torn-')) continue;
      assert.deepEqual(found.get(name), content, `${name} is not kept ${where}`);
    }
  }

  /** Makes changes and lets the power go at once: they are there, with all that was there, and no id twice. */
  async #goOn(run: Run, here: readonly Asked[], where: string): Promise<void> {
    await run.askAll([
      { kind: 'create', collection: '/a', value: { on: 1 }, at },
      { kind: 'put', collection: '/b', id: `on-${here.length}`, expected: 'absent', value: { on: 2 }, at },
    ]);
    const made = run.asked[0]?.entry?.id;
    assert.ok(made !== undefined && !listIds(here, '/a').has(made), `${made} is used twice ${where}`);
    const oracle = new Oracle();
    for (const asked of [...here, ...run.asked]) oracle.make(asked);
    const again = await Run.open({ disk: new PowerLossDisk(run.disk.leastFiles()) });
    assert.equal(
      await readView(again.store),
      oracle.view(),
      `going on, and losing the power again, ${where}`,
    );
  }

  /** Lets the power go at every operation of a recovery: the next one finds the same. */
  async #loseAgain(
    { disk, recovered }: Run,
    recovery: number,
    here: readonly Asked[],
    where: string,
  ): Promise<void> {
    const shape = recovered.reports.map((line) => line.replaceAll(/[0-9]+/g, 'N')).join();
    const seen = this.#mended.get(shape) ?? 0;
    this.#mended.set(shape, seen + 1);
    if (seen > 3 && seen % 50 !== 0) return;
    const { random } = this.#judging.sampling;
    for (const { operations, states } of disk.losses({ random, all: 12, drawn: 4 }, 0, recovery)) {
      for (const files of states) {
        const what = `after ${operations} operations of recovery (${disk.operationTexts.slice(0, operations).join('; ')})`;
        const again = await Run.open({ disk: new PowerLossDisk(files) }).catch((error: unknown) => {
          throw new Error(`refused: ${error} ${what} ${where}`, { cause: error });
        });
        this.#findings.second += 1;
        assert.equal(this.#views.get(await readView(again.store)), here, `${what} ${where}`);
      }
    }
  }
}

/** What the collections must have, by the answers alone. */
class Oracle {
  readonly #collections = new Map<string, { readonly items: Map<string, unknown>; revision: number }>();

  make({ change, revision, entry }: Asked): void {
    const found = this.#collections.get(change.collection);
    const collection = found ?? { items: new Map<string, unknown>(), revision };
    this.#collections.set(change.collection, collection);
    collection.revision = revision;
    const id = change.kind === 'create' ? entry?.id : change.id;
    assert.ok(id !== undefined);
    if (change.kind === 'delete') collection.items.delete(id);
    else collection.items.set(id, { id, revision, modified: change.at, value: change.value });
  }

  view(): string {
    return formatView(
      [...this.#collections].map(([path, { items, revision }]) => ({
        path,
        revision,
        items: [...items.values()],
      })),
    );
  }
}

const paths = ['/a', '/b', '/c'];

/**
 * What may be found: all changes up to one; and where a batch was refused, a part of it too, as long as nobody was told
 * and nothing else took its place.
 */
function listViews(changes: readonly Asked[]): ReadonlyMap<string, readonly Asked[]> {
  const oracle = new Oracle();
  const views = new Map<string, readonly Asked[]>([[oracle.view(), []]]);
  const made: Asked[] = [];
  let refused: Asked[] = [];
  for (const asked of changes) {
    if (asked.refused === undefined) {
      oracle.make(asked);
      made.push(asked);
      refused = [];
      views.set(oracle.view(), [...made]);
    } else {
      refused = [...refused.filter(({ answered }) => answered === asked.answered), asked];
      const other = new Oracle();
      for (const each of [...made, ...refused]) other.make(each);
      views.set(other.view(), [...made, ...refused]);
    }
  }
  return views;
}

/** How many of these changes a store shows, up to one and none after it. */
export async function countShown(store: Store, asked: readonly Asked[]): Promise<number | undefined> {
  const oracle = new Oracle();
  const view = await readView(store);
  if (oracle.view() === view) return 0;
  const index = asked.findIndex((each) => {
    oracle.make(each);
    return oracle.view() === view;
  });
  return index < 0 ? undefined : index + 1;
}

async function readView(store: Store): Promise<string> {
  const collections: { path: string; revision: number; items: unknown[] }[] = [];
  for (const path of paths) {
    const { entries, revision } = await store.list(path, 0, 100_000);
    if (revision === 0) continue;
    const items = entries.map(({ id, revision, modified, value }) => ({ id, revision, modified, value }));
    collections.push({ path, revision, items });
  }
  return formatView(collections);
}

function formatView(
  collections: readonly {
    readonly path: string;
    readonly revision: number;
    readonly items: readonly unknown[];
  }[],
): string {
  return JSON.stringify([...collections].sort((one, other) => (one.path < other.path ? -1 : 1)));
}

function listIds(changes: readonly Asked[], collection: string): ReadonlySet<string | undefined> {
  return new Set(
    changes.filter(({ change }) => change.collection === collection).map(({ entry }) => entry?.id),
  );
}

function withoutSpace(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

/** Whether no journal is newer. */
function isLast(name: string, files: Files): boolean {
  const generation = (journal: string): number => Number(/^journal-([0-9]+)/.exec(journal)?.[1] ?? -1);
  return [...files.keys()].every((other) => generation(other) <= generation(name));
}

const hashes = new WeakMap<Uint8Array, string>();

function formatKey(files: Files): string {
  return JSON.stringify([...files.keys()].sort().map((name) => [name, computeHash(files.get(name))]));
}

function computeHash(content: Uint8Array = new Uint8Array()): string {
  const hash = hashes.get(content) ?? createHash('sha1').update(content).digest('base64');
  hashes.set(content, hash);
  return hash;
}

function describe(files: Files): string {
  return [...files].map(([name, { length }]) => `${name} (${length} bytes)`).join(', ');
}
