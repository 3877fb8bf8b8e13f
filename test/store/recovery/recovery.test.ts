import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { CorruptionError } from '../../../src/store/corruption-error.ts';
import { formatLine } from '../../../src/store/log/line.ts';
import { formatHead } from '../../../src/store/record.ts';
import { recover } from '../../../src/store/recover.ts';
import { type Scanned, scan } from '../../../src/store/scan.ts';
import { State } from '../../../src/store/state/state.ts';
import type { StoreChange, StoredRecord } from '../../../src/store/store.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';
import { begun, History } from '../../support/store/history.ts';
import { PowerLossDisk } from '../../support/store/power-loss-disk.ts';
import { seen } from '../../support/store/snapshot.ts';
import { long, wideStride } from '../../support/store/thoroughness.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

type Files = ReadonlyMap<string, string | Uint8Array>;

/** Puts these files, and no others, into a directory. */
async function put(directory: string, files: Files): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  for (const [name, content] of files) await writeFile(join(directory, name), content);
}

/** These files, with one that has another content. */
function changed(files: Files, name: string, content: Uint8Array): Files {
  return new Map<string, string | Uint8Array>(files).set(name, content);
}

async function contents(directory: string): Promise<Map<string, string>> {
  const names = (await readdir(directory)).sort();
  const read = names.map(async (name) => [name, await readFile(join(directory, name), 'latin1')] as const);
  return new Map(await Promise.all(read));
}

/** Some change to one of few items of few collections. */
function someChange({ state }: History, random: Seeded, at: number): StoreChange {
  const collection = random.pick(['/a', '/b']);
  const value: StoredRecord = { at, text: random.text('ab"\\ž\u{1f511}\n', 6) };
  if (random.below(4) === 0) return { kind: 'create', collection, value, at };
  const id = random.pick(['1', '2', '3', '5', '8', '13', 'x', 'y"', 'a-name-that-is-longer']);
  const known = state.read(collection, id);
  if (known === undefined) return { kind: 'put', collection, id, expected: 'absent', value, at };
  const expected = known.revision;
  if (random.below(2) === 0) return { kind: 'delete', collection, id, expected, at };
  return { kind: 'put', collection, id, expected, value, at };
}

/** A history with two snapshots, and three changes in its last journal of which the first two were safe. */
function history(note: (state: unknown) => void = () => {}): History {
  const made = new History();
  const random = seeded(7);
  for (let round = 0; round < 3; round += 1) {
    for (let change = 0; change < 6; change += 1) {
      made.add(someChange(made, random, begun + change));
      note(seen(made.state));
    }
    if (round < 2) made.snapshot();
  }
  return made;
}

describe('the recovered state', () => {
  test('is empty for an empty directory, which remains empty', async (context) => {
    const directory = temporaryDirectory(context);
    const { storeId, journals, sequence, reports } = await recover({ directory });
    assert.deepEqual(
      { storeId, journals, sequence, reports },
      { storeId: undefined, journals: [], sequence: 0, reports: [] },
    );
    assert.deepEqual(await readdir(directory), []);
  });

  test('equals the state before the end of the process, whenever snapshots were copied', async (context) => {
    const directory = temporaryDirectory(context);
    const random = seeded();
    for (let run = 0; run < (long ? 60 : 20); run += 1) {
      const made = new History();
      // A copy has a block for each 256 items, so it takes some for writes to come in between.
      if (run % 4 === 0)
        for (let item = 0; item < 600; item += 1)
          made.add({ kind: 'create', collection: random.pick(['/a', '/b']), value: {}, at: begun });
      let copying = false;
      for (let round = 0; round < 300; round += 1) {
        if (copying ? random.below(4) === 0 : random.below(40) === 0) copying = !made.copy();
        made.add(someChange(made, random, begun + random.below(50)));
      }
      await put(directory, made.files);
      const { state, sequence, storeId, reports } = await recover({ directory });
      const what = `SEED=${random.seed}, run ${run}`;
      assert.deepEqual(reports, [], what);
      assert.deepEqual({ sequence, storeId }, { sequence: made.sequence, storeId: made.storeId }, what);
      assert.deepEqual(seen(state), seen(made.state), what);
      for (const collection of ['/a', '/b']) {
        const next = { kind: 'create', collection, value: {}, at: begun } as const;
        assert.deepEqual(state.prepare(next), made.state.prepare(next), what);
      }
    }
  });

  test('is read from the previous snapshot and the journals if the current snapshot is missing or damaged', async (context) => {
    const directory = temporaryDirectory(context);
    const made = history();
    const { files } = made;
    const store = files.get('store.jsonl') ?? '';
    const cases: readonly [Files, RegExp][] = [
      [
        new Map([...files].filter(([name]) => name !== 'store.jsonl')),
        /store\.jsonl is missing; store\.previous\.jsonl and all journals since are used/,
      ],
      [
        new Map([...files, ['store.jsonl', store.replace('"at":', '"at" :')]]),
        /match its checksum.*is renamed/,
      ],
      [new Map([...files, ['store.jsonl', '']]), /is renamed/],
    ];
    for (const [each, told] of cases) {
      await put(directory, each);
      const found = await recover({ directory });
      assert.deepEqual(seen(found.state), seen(made.state));
      assert.match(found.reports.join(), told);
      assert.equal(found.generation, 2);
      const after = await contents(directory);
      assert.equal(after.has('store.previous.jsonl'), false);
      assert.equal(
        after.get('store.damaged-1.jsonl'),
        each.get('store.jsonl') === undefined
          ? undefined
          : Buffer.from(each.get('store.jsonl') ?? '').toString('latin1'),
      );
      assert.deepEqual((await recover({ directory })).reports, [], 'a second start finds it in order');
    }
  });

  test('is read from complete journals if the only snapshot is damaged', async (context) => {
    const directory = temporaryDirectory(context);
    const made = new History();
    made.add({ kind: 'create', collection: '/a', value: {}, at: begun });
    const whole = made.files.get('journal-1.jsonl') ?? '';
    made.snapshot();
    made.add({ kind: 'create', collection: '/a', value: {}, at: begun });
    for (const store of ['', (made.files.get('store.jsonl') ?? '').slice(0, -9)]) {
      await put(directory, new Map([...made.files, ['journal-1.jsonl', whole], ['store.jsonl', store]]));
      const found = await recover({ directory });
      assert.deepEqual(seen(found.state), seen(made.state));
      assert.match(
        found.reports.join(),
        /the journals are used, which contain all changes from the first one on.*is renamed/,
      );
      assert.deepEqual((await recover({ directory })).reports, []);
      assert.equal((await contents(directory)).get('store.damaged-1.jsonl'), store);
    }
    await put(
      directory,
      new Map([
        ['journal-1.jsonl', ''],
        ['store.jsonl', '{'],
      ]),
    );
    await assert.rejects(recover({ directory }), CorruptionError);
  });

  test('has the journals with their lengths before preallocated space', async (context) => {
    const directory = temporaryDirectory(context);
    const made = new History();
    const value = {};
    made.add({ kind: 'create', collection: '/a', value, at: begun });
    made.rotate();
    made.add({ kind: 'create', collection: '/a', value, at: begun });
    const last = made.files.get('journal-2.jsonl') ?? '';
    await put(directory, new Map([...made.files, ['journal-2.jsonl', last + '\0'.repeat(9000)]]));
    const { journals, changes, reports } = await recover({ directory });
    assert.deepEqual({ changes, reports }, { changes: 2, reports: [] });
    assert.deepEqual(
      journals.map(({ generation, bytes }) => [generation, bytes]),
      [
        [1, made.files.get('journal-1.jsonl')?.length],
        [2, last.length],
      ],
    );
    assert.equal((await readFile(join(directory, 'journal-2.jsonl'))).length, last.length);
  });
});

describe('a crash', () => {
  /** Recovers; gives what was found, or the error that stopped it, which left everything as it was. */
  async function attempt(directory: string, files: Files): Promise<Scanned | CorruptionError> {
    await put(directory, files);
    const before = await contents(directory);
    await scan({ directory }).catch(() => {});
    assert.deepEqual(await contents(directory), before, 'a look changes nothing');
    try {
      return await recover({ directory });
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      assert.deepEqual(await contents(directory), before, 'a refusal changes nothing');
      return error;
    }
  }

  /** The same on a disk in memory, whose files it gives too: what is done a thousand times need not wait for a medium. */
  async function attemptInMemory(
    files: Files,
  ): Promise<{ found: Scanned | CorruptionError; kept: ReadonlyMap<string, Uint8Array> }> {
    const disk = new PowerLossDisk(
      new Map([...files].map(([name, content]) => [name, Buffer.from(content)])),
    );
    const looking = { directory: '/data', disk };
    await scan(looking).catch(() => {});
    assert.equal(disk.operations, 0, 'a look changes nothing');
    try {
      return { found: await recover(looking), kept: disk.files() };
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      assert.equal(disk.operations, 0, 'a refusal changes nothing');
      return { found: error, kept: disk.files() };
    }
  }

  /** The history of five changes of which the last three are in hand, and the states after each. */
  function three(durable: readonly number[]): { made: History; states: unknown[]; ends: number[] } {
    const made = new History();
    const random = seeded(3);
    made.add(someChange(made, random, begun));
    made.snapshot();
    const states: unknown[] = [];
    const ends: number[] = [];
    const note = (): void => {
      states.push(seen(made.state));
      ends.push(Buffer.byteLength(made.files.get('journal-2.jsonl') ?? ''));
    };
    made.add(someChange(made, random, begun));
    note();
    for (const each of durable) {
      made.add(someChange(made, random, begun), each);
      note();
    }
    return { made, states, ends };
  }

  for (const padding of [0, 4096]) {
    test(`that truncates the journal in its last three lines, before ${padding} NUL bytes, loses no complete line`, async () => {
      const { made, states, ends } = three([2, 2, 2]);
      const journal = Buffer.from(made.files.get('journal-2.jsonl') ?? '');
      const random = seeded();
      const first = (ends[0] ?? 0) + random.below(wideStride);
      for (let length = first; length <= journal.length; length += wideStride) {
        const where = `cut to ${length} (SEED=${random.seed})`;
        const cut = Buffer.concat([journal.subarray(0, length), Buffer.alloc(padding)]);
        const { found, kept } = await attemptInMemory(changed(made.files, 'journal-2.jsonl', cut));
        if (found instanceof Error) assert.fail(`${where}: ${found.message}`);
        const whole = ends.filter((end) => end <= length).length - 1;
        assert.deepEqual(seen(found.state), states[whole], where);
        const torn = length - (ends[whole] ?? 0);
        assert.equal(found.reports.length, torn > 0 ? 1 : 0, where);
        assert.equal(kept.get('journal-2.jsonl')?.length, ends[whole]);
        if (torn === 0) continue;
        const end = kept.get(`torn-2-${ends[whole]}.bin`) ?? new Uint8Array();
        assert.deepEqual(Buffer.from(end), journal.subarray(ends[whole], length));
        assert.match(found.reports[0] ?? '', new RegExp(`line ${whole + 3}, at byte ${ends[whole]}, on`));
      }
    });
  }

  test('is distinguished from damage by the durable number of later lines, whichever byte is flipped', async () => {
    // The last three lines were one batch; or each was safe before the next.
    for (const durable of [
      [2, 2, 2],
      [2, 3, 4],
    ]) {
      const { made, states, ends } = three(durable);
      const journal = Buffer.from(made.files.get('journal-2.jsonl') ?? '');
      for (let at = ends[0] ?? 0; at < journal.length; at += 1) {
        const masks = [0x01, 0x80, (journal[at] ?? 0) ^ 0x0a, journal[at] ?? 0];
        for (const [index, mask] of masks.entries()) {
          if (mask === 0 || (!long && index !== at % masks.length)) continue;
          const flipped = Buffer.from(journal);
          flipped[at] = (flipped[at] ?? 0) ^ mask;
          const { found } = await attemptInMemory(changed(made.files, 'journal-2.jsonl', flipped));
          const whole = ends.filter((end) => end <= at).length - 1;
          const what = `byte ${at} by ${mask}, safe before ${durable}`;
          // Whether an end of line is there, the line is whole without it: only what follows it can tell.
          const safe = durable.some((each, index) => index > whole && each >= whole + 3);
          if (!safe && !(found instanceof Error)) {
            assert.deepEqual(seen(found.state), states[whole], what);
            assert.equal(found.reports.length, 1, what);
            continue;
          }
          if (!(found instanceof Error)) assert.fail(`${what}: it was taken for torn`);
          assert.ok(safe, `${what}: ${found.message}`);
          assert.deepEqual(found.location, { line: whole + 3, byte: ends[whole] }, what);
        }
      }
    }
  });

  test('in any step of a rotation leaves a complete state', async (context) => {
    const directory = temporaryDirectory(context);
    const made = history();
    const before = new Map(made.files);
    const state = seen(made.state);
    made.rotate();
    const header = made.files.get('journal-4.jsonl') ?? '';
    for (let length = 0; length <= header.length; length += 1) {
      for (const padding of ['', '\0'.repeat(64)]) {
        const files = new Map([...before, ['journal-4.jsonl', header.slice(0, length) + padding]]);
        const found = await attempt(directory, files);
        if (found instanceof Error) assert.fail(`${length} bytes: ${found.message}`);
        assert.deepEqual(seen(found.state), state);
        const whole = length === header.length;
        assert.equal(found.journals.at(-1)?.generation, whole ? 4 : 3);
        assert.equal((await readdir(directory)).includes('journal-4.jsonl'), whole);
        assert.equal((await readdir(directory)).includes('torn-4-0.bin'), !whole && length > 0);
      }
    }
  });

  test('in a compaction loses no changes, and its temporary file is removed', async (context) => {
    const directory = temporaryDirectory(context);
    const made = history();
    const temporary = ['store.jsonl.1-1.tmp', '{"version":2'] as const;
    const found = await attempt(directory, new Map([...made.files, temporary]));
    assert.ok(!(found instanceof Error));
    assert.deepEqual(seen(found.state), seen(made.state));
    assert.deepEqual([...(await contents(directory)).keys()], [...made.files.keys()].sort());
  });
});

describe('damage is reported with file, line, byte and remedy', () => {
  const made = history();
  const text = (name: string): string => made.files.get(name) ?? '';
  const lines = (name: string): string[] => text(name).split('\n');
  /** The place of the beginning of a line. */
  const place = (name: string, line: number): { line: number; byte: number } => ({
    line,
    byte: Buffer.byteLength(
      `${lines(name)
        .slice(0, line - 1)
        .join('\n')}${line > 1 ? '\n' : ''}`,
    ),
  });
  const other = history2();

  function history2(): History {
    const another = new History('other');
    another.snapshot();
    another.snapshot();
    return another;
  }

  function withLine(name: string, line: number, change: (text: string) => string): string {
    const all = lines(name);
    all[line - 1] = change(all[line - 1] ?? '');
    return all.join('\n');
  }

  const swap = (name: string, one: number, two: number): string => {
    const all = lines(name);
    [all[one - 1], all[two - 1]] = [all[two - 1] ?? '', all[one - 1] ?? ''];
    return all.join('\n');
  };
  const without = (name: string, line: number): string =>
    lines(name)
      .toSpliced(line - 1, 1)
      .join('\n');
  const resealed = (name: string, line: number, change: (header: string) => string): string =>
    withLine(name, line, (old) => {
      const header = JSON.parse(change(old));
      return formatLine(formatHead('journal', { ...header, storeId: header.lineage, at: begun })).trimEnd();
    });
  const later = (file: string): string => formatLine(`"${file}":4,"lineage":"k3x9"}`);
  const [older, last] = ['journal-2.jsonl', 'journal-3.jsonl'];
  const cases: readonly {
    readonly what: string;
    readonly files: Readonly<Record<string, string | undefined>>;
    readonly file: string;
    readonly at?: { readonly line: number; readonly byte: number } | undefined;
    readonly message: RegExp;
  }[] = [
    {
      what: 'a line in the midst of the last journal',
      files: { [last]: withLine(last, 3, (line) => line.replace('"seq"', '"sec"')) },
      file: last,
      at: place(last, 3),
      message: /does not match its checksum, although a later line shows that it was on the disk/,
    },
    {
      what: 'a line that is gone',
      files: { [last]: without(last, 3) },
      file: last,
      at: place(last, 3),
      message: /it is change 15, and 14 was expected/,
    },
    {
      what: 'a repeated line',
      files: { [last]: withLine(last, 3, (line) => `${line}\n${line}`) },
      file: last,
      at: place(last, 4),
      message: /it is change 14, and 15 was expected/,
    },
    {
      what: 'lines in another order',
      files: { [last]: swap(last, 3, 4) },
      file: last,
      at: place(last, 3),
      message: /it is change 15, and 14 was expected/,
    },
    {
      what: 'an empty line',
      files: { [last]: withLine(last, 3, (line) => `\n${line}`) },
      file: last,
      at: place(last, 3),
      message: /does not match its checksum, although/,
    },
    {
      what: 'NUL bytes with something behind them',
      files: { [last]: withLine(last, 3, (line) => '\0'.repeat(line.length)) },
      file: last,
      at: place(last, 3),
      message: /although a later line shows that it was on the disk/,
    },
    {
      what: 'a first line that is damaged',
      files: { [last]: withLine(last, 1, (line) => line.replace('k3x9', 'k3x8')) },
      file: last,
      at: { line: 1, byte: 0 },
      message: /its first line does not match its checksum/,
    },
    {
      what: 'a first line that is gone',
      files: { [last]: without(last, 1) },
      file: last,
      at: { line: 1, byte: 0 },
      message: /this is not the first line of a journal/,
    },
    {
      what: 'a journal of another store',
      files: { [last]: other.files.get(last) },
      file: last,
      at: { line: 1, byte: 0 },
      message: /it belongs to another store: its lineage is different/,
    },
    {
      what: 'a journal of another generation',
      files: { [last]: text(older) },
      file: last,
      at: { line: 1, byte: 0 },
      message: /its header has generation 2/,
    },
    {
      what: 'a journal that begins too late',
      files: { [last]: resealed(last, 1, (line) => line.replace('"sequence":12', '"sequence":13')) },
      file: last,
      at: { line: 1, byte: 0 },
      message: /it begins after change 13, although 12 was the last one/,
    },
    {
      what: 'a journal of a later version',
      files: { [last]: later('journal') },
      file: last,
      at: { line: 1, byte: 0 },
      message: /its version is 4, and this program reads 1; export the data/,
    },
    {
      what: 'a journal that is gone',
      files: { [last]: undefined },
      file: last,
      message: /it is missing, although store\.jsonl/,
    },
    {
      what: 'a journal that is empty',
      files: { [last]: '' },
      file: last,
      at: { line: 1, byte: 0 },
      message: /it is empty, although store\.jsonl was written after the journal was created/,
    },
    {
      what: 'a gap between journals',
      files: { 'journal-5.jsonl': '' },
      file: 'journal-4.jsonl',
      message: /it is missing, although there is journal-5\.jsonl/,
    },
    {
      what: 'an end of an older journal that is torn, where only the previous snapshot is left',
      files: { 'store.jsonl': undefined, [older]: text(older).slice(0, -5) },
      file: older,
      at: place(older, 7),
      message: /the line is incomplete, although a later journal was created after it/,
    },
    {
      what: 'a snapshot that is damaged, and the one before too',
      files: {
        'store.jsonl': text('store.jsonl').replace('"/a"', '"/c"'),
        'store.previous.jsonl': '{"version":2,',
      },
      file: 'store.jsonl',
      at: { line: 2, byte: Buffer.byteLength(lines('store.jsonl')[0] ?? '') + 1 },
      message: /does not match its checksum/,
    },
    {
      what: 'no snapshot, though there are journals',
      files: { 'store.jsonl': undefined, 'store.previous.jsonl': undefined },
      file: 'store.jsonl',
      message: /it is missing, although there is journal-2\.jsonl/,
    },
    {
      what: 'a snapshot of a later version',
      files: { 'store.jsonl': later('snapshot'), 'store.previous.jsonl': undefined },
      file: 'store.jsonl',
      at: { line: 1, byte: 0 },
      message: /its version is 4, and this program reads 2; export the data/,
    },
    {
      what: 'a journal that ends before what the snapshot has',
      files: {
        'store.jsonl': snapshotReaching(15),
        [last]: lines(last).slice(0, 3).join('\n'),
      },
      file: last,
      at: place(last, 3),
      message: /although store\.jsonl was written after it was on the disk/,
    },
    {
      what: 'a journal that was cut at the end of a line that the snapshot has',
      files: { 'store.jsonl': snapshotReaching(15), [last]: `${lines(last).slice(0, 3).join('\n')}\n` },
      file: last,
      message:
        /the journals end at change 14, although store\.jsonl was written after change 15 was on the disk/,
    },
  ];

  /** A snapshot of the last generation that was finished when the changes up to this one were made. */
  function snapshotReaching(sequence: number): string {
    const again = new History();
    const random = seeded(7);
    for (let round = 0; round < 2; round += 1) {
      for (let change = 0; change < 6; change += 1) again.add(someChange(again, random, begun + change));
      if (round === 0) again.snapshot();
    }
    again.copy();
    for (let change = 12; change < sequence; change += 1)
      again.add(someChange(again, random, begun + change - 12));
    again.snapshot();
    return again.files.get('store.jsonl') ?? '';
  }

  const createDirectory = async (
    context: TestContext,
    files: Readonly<Record<string, string | undefined>>,
  ) => {
    const directory = temporaryDirectory(context);
    const all = new Map(made.files);
    for (const [name, content] of Object.entries(files)) {
      if (content === undefined) all.delete(name);
      else all.set(name, content);
    }
    await put(directory, all);
    return directory;
  };

  for (const { what, files, file, at, message } of cases) {
    test(what, async (context) => {
      const directory = await createDirectory(context, files);
      const before = await contents(directory);
      const error = await recover({ directory }).then(
        ({ reports }) => assert.fail(`it was read: ${reports}`),
        (reason: unknown) => reason,
      );
      if (!(error instanceof CorruptionError)) throw error;
      assert.equal(error.file, join(directory, file));
      assert.match(error.message, message);
      assert.deepEqual(error.location, at);
      if (at !== undefined)
        assert.ok(
          error.message.includes(`${error.file} cannot be used: line ${at.line}, at byte ${at.byte}: `),
        );
      if (!/version/.test(error.message)) assert.match(error.message, /--repair NEWDIR/);
      assert.deepEqual(await contents(directory), before);
    });
  }
});

test('a randomly damaged store is rejected or has an earlier state, and its readable content can be recovered', async (context) => {
  const directory = temporaryDirectory(context);
  const random = seeded();
  const states: unknown[] = [seen(new State())];
  const made = history((state) => void states.push(state));
  for (let round = 0; round < (long ? 150 : 50); round += 1) {
    const files = new Map<string, string | Uint8Array>(made.files);
    for (let harm = random.below(4); harm >= 0; harm -= 1) {
      const name = random.pick([...files.keys()]);
      const bytes = Buffer.from(files.get(name) ?? '');
      const at = random.below(bytes.length + 1);
      const kind = random.below(4);
      if (kind === 0) files.set(name, bytes.subarray(0, at));
      else if (kind === 1) files.delete(name);
      else if (kind === 2)
        files.set(
          name,
          Buffer.concat([bytes.subarray(0, at), Buffer.alloc(random.below(40)), bytes.subarray(at)]),
        );
      else
        files.set(
          name,
          Buffer.concat([bytes.subarray(0, at), Buffer.from([random.below(256)]), bytes.subarray(at + 1)]),
        );
    }
    if (files.size === 0) continue;
    await put(directory, files);
    const what = `SEED=${random.seed}, round ${round}`;
    const saved = await scan({ directory, corrupt: 'skip' });
    assert.ok([...saved.state.collections()].reduce((sum, { count }) => sum + count, 0) <= 40, what);
    const found = await recover({ directory }).catch((error: Error) => error);
    if (found instanceof CorruptionError) continue;
    if (found instanceof Error) throw new Error(what, { cause: found });
    const { state } = found;
    assert.ok(
      states.some((each) => isDeepStrictEqual(each, seen(state))),
      `${what}: it is one that there was`,
    );
    assert.deepEqual((await recover({ directory })).reports, [], `${what}: a second start finds it in order`);
  }
});
