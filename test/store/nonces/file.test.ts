import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, readdir, readFile, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { createManualClock, type ManualClock, systemClock } from '../../../src/clock.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { type Disk, type DiskFile, nodeDisk } from '../../../src/store/files/disk.ts';
import { formatLine } from '../../../src/store/log/line.ts';
import { type FileNonces, type NonceFileOptions, openNonces } from '../../../src/store/nonces/file.ts';
import { seeded } from '../../support/seeded.ts';
import { startChild } from '../../support/store/child.ts';
import { faultyDisk } from '../../support/store/faulty-disk.ts';
import {
  noncesContract,
  type SeenOrNot,
  seenOrLost,
  span,
  start,
  window,
} from '../../support/store/nonces-contract.ts';
import { wideStride } from '../../support/store/thoroughness.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const minute = 60_000;
const hour = 60 * minute;

/** What those held open that were left as a crash leaves them. */
const opened: DiskFile[] = [];
after(() => Promise.all(opened.map((file) => file.close().catch(() => {})))); // most are closed already
const disk: Disk = {
  ...nodeDisk,
  async create(path, mode) {
    const file = await nodeDisk.create(path, mode);
    opened.push(file);
    return file;
  },
};

type Given = Partial<NonceFileOptions> & { readonly directory: string; readonly clock: ManualClock };

/** Opens the nonces of a directory on one start of a host; what is told is a failure unless it is waited for. */
function open(given: Given): Promise<FileNonces> {
  return openNonces({
    durability: 'os',
    window,
    max: 1_000_000,
    key: new Uint8Array(16),
    onWarning: (loss) => assert.fail(loss),
    boot: async () => 'first',
    disk,
    ...given,
  });
}

/** Opens them; what is told is given with them. */
async function openLost(given: Given): Promise<{ nonces: FileNonces; messages: string[] }> {
  const told: string[] = [];
  const nonces = await open({ ...given, onWarning: (loss) => told.push(loss) });
  await nonces.begin();
  return { nonces, messages: told };
}

/** A request with this nonce, dated now or so far ahead (ms). */
async function claim(nonces: FileNonces, clock: ManualClock, nonce: string, ahead = 0): Promise<SeenOrNot> {
  return seenOrLost(await nonces.claim('demo', nonce, clock.now() + ahead + window, clock.now()));
}

/** The same request again. */
async function replay(
  nonces: FileNonces,
  clock: ManualClock,
  nonce: string,
  date: number,
): Promise<SeenOrNot> {
  return seenOrLost(await nonces.claim('demo', nonce, date + window, clock.now()));
}

async function filesIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).sort((one, other) => parseNumber(one) - parseNumber(other));
}

function parseNumber(name: string): number {
  return Number(/[0-9]+/.exec(name)?.[0]);
}

noncesContract('nonces in files', async (context, { bucketSpan, max, maxPerUser, now, steady }) => {
  let close = async (): Promise<void> => {};
  context.after(() => close()); // before the directory is removed
  const directory = temporaryDirectory(context);
  const nonces = await openNonces({
    directory,
    durability: 'os',
    window: bucketSpan * 4,
    max,
    maxPerUser,
    key: new Uint8Array(16),
    clock: { now, steady },
    onWarning: (loss) => assert.fail(loss),
  });
  close = () => nonces.close();
  return nonces;
});

describe('a nonce file', () => {
  test('has JSON lines with checksums as computed by zlib, and mode 0600', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const nonces = await open({ directory, clock, durability: 'fsync' });
    assert.deepEqual(await filesIn(directory), []);
    await nonces.claim('demo', '123456', start + window + 999, start);
    await nonces.claim('__proto__', '\u017e\u{1f600}\ud800"\\\n\0\u2028', start + window, start);
    await nonces.close();
    assert.deepEqual(await filesIn(directory), ['nonces-1.jsonl', 'nonces-2.jsonl']);
    const path = join(directory, 'nonces-1.jsonl');
    const lines = (await readFile(path, 'utf8'))
      .split('\n')
      .map((line) => (line === '' ? '' : JSON.parse(line)));
    const crcs = lines.map(({ crc }) => crc);
    assert.deepEqual(lines, [
      {
        crc: crcs[0],
        version: 3,
        sequence: 0,
        opened: '2013-04-20T12:59:24.000Z',
        boot: 'first',
        window,
        synced: true,
        closed: false,
        forgotten: [],
        first: 1,
      },
      { crc: crcs[1], seq: 1, until: '2013-04-20T13:09:24.999Z', user: 'demo', nonce: '123456' },
      {
        crc: crcs[2],
        seq: 2,
        until: '2013-04-20T13:09:24.000Z',
        user: '__proto__',
        nonce: '\u017e\u{1f600}\ud800"\\\n\0\u2028',
      },
      '',
    ]);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const end = JSON.parse(await readFile(join(directory, 'nonces-2.jsonl'), 'utf8'));
    assert.deepEqual([end.closed, end.sequence, end.first], [true, 2, 1]);
    const python = `
import sys, zlib
for line in open(sys.argv[1], 'rb'):
    print('%08x' % zlib.crc32(line[18:-1]))`;
    const printed = runPython(python, path);
    if (printed === undefined) context.diagnostic('python3 is not installed: checksums are not compared');
    else assert.deepEqual(printed.trim().split('\n'), crcs.slice(0, 3));
  });

  test('is read back unchanged for any users and nonces', async (context) => {
    const random = seeded();
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const claims = new Map<string, readonly [string, string, number]>();
    for (let restart = 0; restart < 5; restart += 1) {
      const nonces = await open({ directory, clock });
      for (const [user, nonce, until] of claims.values()) {
        const text = JSON.stringify([user, nonce, `SEED=${random.seed}`]);
        assert.equal(await nonces.claim(user, nonce, until, start), 'seen', text);
      }
      for (let round = 0; round < 400; round += 1) {
        const alphabet = random.pick([
          'ab',
          '\0\u0001\n\r\u2028"\\',
          '\ud800\udfffa',
          '\u{1f600}\u017e\xff',
          '{}:,',
        ]);
        const [user, nonce] = [random.text(alphabet, 40), random.text(alphabet, 40)];
        const until = start + random.below(2 * window);
        const fresh = (await nonces.claim(user, nonce, until, start)) === 'fresh';
        assert.equal(fresh, !claims.has(JSON.stringify([user, nonce])), `SEED=${random.seed}`);
        if (fresh) claims.set(JSON.stringify([user, nonce]), [user, nonce, until]);
      }
      await nonces.close();
    }
  });

  test('retains nonces beyond a reduced limit, and accepts no new ones until they expire', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const before = await open({ directory, clock });
    for (const nonce of 'abcde') await claim(before, clock, nonce);
    await before.close();
    const nonces = await open({ directory, clock, max: 2, maxPerUser: 2 });
    assert.equal(nonces.size, 5);
    assert.equal(await claim(nonces, clock, 'f'), 'full');
    for (const nonce of 'abcde') assert.equal(await replay(nonces, clock, nonce, start), 'seen');
    clock.advance(window + span);
    assert.equal(await claim(nonces, clock, 'f'), 'fresh');
    await nonces.close();
  });

  test('counts the nonces of a user from before a restart towards the share until they expire', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const before = await open({ directory, clock, maxPerUser: 2 });
    for (const nonce of 'ab') assert.equal(await claim(before, clock, nonce), 'fresh');
    await before.close();
    const nonces = await open({ directory, clock, maxPerUser: 2 });
    const claimed = await claim(nonces, clock, 'c');
    assert.ok(typeof claimed === 'object' && 'freeAt' in claimed, `c was ${JSON.stringify(claimed)}`);
    assert.equal(await nonces.claim('other', 'c', start + window, start), 'fresh');
    await nonces.close();
    clock.set(claimed.freeAt);
    const later = await open({ directory, clock, maxPerUser: 2 });
    assert.equal(await claim(later, clock, 'c'), 'fresh');
    await later.close();
  });

  test('is rejected if its version is unknown, with the way out', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    await writeFile(join(directory, 'nonces-1.jsonl'), formatLine('"version":4}'));
    await assert.rejects(open({ directory, clock }), {
      name: 'StoreError',
      code: 'damaged',
      message:
        /nonces-1\.jsonl .* its version is 4, and this program reads 3; export the data with the version that wrote it/,
    });
  });
});

function runPython(program: string, argument: string): string | undefined {
  try {
    return execFileSync('python3', ['-c', program, argument], { encoding: 'utf8' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

describe('a nonce store after a restart', () => {
  test("rejects all replays, and accepts a user's new nonces", async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const dates: number[] = [];
    for (let restart = 0; restart < 60; restart += 1) {
      const nonces = await open({ directory, clock });
      for (const [number, date] of dates.entries()) {
        if (clock.now() - date <= window)
          assert.equal(await replay(nonces, clock, `n${number}`, date), 'seen');
      }
      assert.equal(await claim(nonces, clock, `n${restart}`), 'fresh');
      dates.push(clock.now());
      if (restart % 3 > 0) await nonces.close(); // else it ends as kill -9 ends it
      clock.advance(minute);
    }
    // A turn's files, and one for each restart in what is not yet over.
    assert.ok((await filesIn(directory)).length < 30, (await filesIn(directory)).join(' '));
  });

  test('rejects replays if its window is longer or shorter than before', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const short = await open({ directory, clock, window: 5 * minute });
    for (let turn = 0; turn < 6; turn += 1) {
      assert.equal(await short.claim('demo', `n${turn}`, clock.now() + 5 * minute, clock.now()), 'fresh');
      clock.advance(6 * minute);
    }
    await short.close();
    const long = await open({ directory, clock, window: hour });
    for (let turn = 0; turn < 6; turn += 1) {
      const date = start + turn * 6 * minute;
      assert.equal(
        seenOrLost(await long.claim('demo', `n${turn}`, date + hour, clock.now())),
        'seen',
        `n${turn}`,
      );
    }
    assert.equal(await long.claim('demo', 'new', clock.now() + hour, clock.now()), 'fresh');
    await long.close();
    const again = await open({ directory, clock, window: 5 * minute });
    assert.equal(seenOrLost(await again.claim('demo', 'new', clock.now() + 5 * minute, clock.now())), 'seen');
    assert.equal(await again.claim('demo', 'newer', clock.now() + 5 * minute, clock.now()), 'fresh');
    await again.close();
  });

  for (const jump of [-3 * hour, -window, -minute, minute, window, 3 * hour, 50 * hour]) {
    test(`rejects replays, and later accepts new nonces, if the clock jumps by ${jump / minute} minutes and back`, async (context) => {
      const directory = temporaryDirectory(context);
      const clock = createManualClock(start);
      const dates: number[] = [];
      const run = async (minutes: number): Promise<void> => {
        const nonces = await open({ directory, clock });
        for (let passed = 0; passed < minutes; passed += 1) {
          for (const [number, date] of dates.entries()) {
            if (Math.abs(clock.now() - date) <= window) {
              assert.equal(await replay(nonces, clock, `n${number}`, date), 'seen', `n${number}`);
            }
          }
          const name = `n${dates.length}`;
          if ((await claim(nonces, clock, name)) === 'fresh') dates.push(clock.now());
          clock.advance(minute);
        }
        await nonces.close();
      };
      await run(60);
      clock.set(clock.now() + jump);
      await run(30);
      clock.set(clock.now() - jump);
      await run(60);
      clock.set(clock.now() - 20 * minute);
      await run(60);
      const before = dates.length;
      await run(10);
      assert.equal(dates.length, before + 10, 'somebody is still locked out');
    });
  }

  test('rejects a replay of a nonce that was claimed again after it had expired', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const nonces = await open({ directory, clock });
    await nonces.claim('demo', 'n', start + 1000, start);
    clock.advance(span + 1000);
    assert.equal(await nonces.claim('demo', 'n', clock.now() + window, clock.now()), 'fresh');
    const date = clock.now();
    await nonces.close();
    const again = await open({ directory, clock });
    await claim(again, clock, 'other');
    clock.advance(window - 1000);
    assert.equal(await replay(again, clock, 'n', date), 'seen');
    await again.close();
  });
});

describe('the rotation of nonce files', () => {
  test('removes a file once all its nonces have expired, and not before', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const nonces = await open({ directory, clock });
    await claim(nonces, clock, 'ahead', window);
    for (let passed = 0; passed < 120; passed += 1) {
      clock.advance(minute);
      await claim(nonces, clock, `n${passed}`);
      const { length } = await filesIn(directory);
      assert.ok(length <= 4, `${length} files after ${passed} minutes`);
      const last = (await filesIn(directory))[0];
      if (passed < 19) assert.equal(last, 'nonces-1.jsonl', `after ${passed} minutes`);
    }
    await nonces.close();
  });

  test('starts a new file early if the current one is large', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const nonces = await open({ directory, clock });
    const user = 'u'.repeat(4 * 1024 * 1024);
    for (let number = 0; number < 18; number += 1) {
      await nonces.claim(user, String(number), start + window, start);
    }
    assert.equal((await filesIn(directory)).length, 3);
    await nonces.close();
    const again = await open({ directory, clock });
    assert.equal(again.size, 18);
    await again.close();
  });

  test('retains files after a jump of the clock ahead, for as long as it may jump back', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const nonces = await open({ directory, clock });
    await claim(nonces, clock, 'n');
    clock.set(start + 24 * hour);
    for (let passed = 0; passed < 60; passed += 1) {
      await claim(nonces, clock, `ahead${passed}`);
      clock.advance(minute);
    }
    assert.equal((await filesIn(directory))[0], 'nonces-1.jsonl');
    clock.set(start + hour);
    await nonces.close();
    clock.set(start + minute);
    const again = await open({ directory, clock });
    assert.equal(await replay(again, clock, 'n', start), 'seen');
    await again.close();
  });
});

/** Writes three files, ends in order or not, and gives what must be refused. */
async function threeFiles(
  directory: string,
  clock: ManualClock,
  inOrder: boolean,
): Promise<Map<string, number>> {
  const dates = new Map<string, number>();
  const nonces = await open({ directory, clock });
  for (let turn = 0; turn < 3; turn += 1) {
    for (let number = 0; number < 3; number += 1) {
      const name = `n${turn}.${number}`;
      dates.set(name, clock.now() + window);
      assert.equal(await claim(nonces, clock, name, window), 'fresh');
    }
    if (turn < 2) clock.advance(window);
  }
  if (inOrder) await nonces.close();
  return dates;
}

/** Opens a directory in which something is wrong: either that is refused, or every replay is, as long as it could pass. */
async function refusesAll(
  given: Given,
  dates: ReadonlyMap<string, number>,
  where: string,
): Promise<'opened' | 'refused'> {
  const { clock } = given;
  const told: string[] = [];
  let nonces: FileNonces;
  try {
    nonces = await open({ ...given, onWarning: (loss) => told.push(loss) });
    await nonces.begin();
  } catch (error) {
    assert.ok(error instanceof Error && error.name === 'StoreError', String(error));
    assert.match(
      error.message,
      /nonces-[0-9]\.jsonl cannot be used: line [0-9]+, at byte [0-9]+, is /,
      where,
    );
    return 'refused';
  }
  assert.equal(told.length, 1, where);
  const begun = clock.now();
  for (let passed = 0; passed <= 2 * window; passed += span) {
    clock.set(begun + passed);
    for (const [name, date] of dates) {
      if (Math.abs(date - clock.now()) > window) continue;
      assert.equal(await replay(nonces, clock, name, date), 'seen', `${where}: ${name} after ${passed} ms`);
    }
  }
  clock.set(begun + window);
  assert.equal(await claim(nonces, clock, 'too early'), 'seen', where);
  clock.set(begun + window + 1000);
  assert.equal(await claim(nonces, clock, 'later'), 'fresh', where);
  await nonces.close();
  clock.set(begun);
  return 'opened';
}

/** Where the last lines begin, and where all ends. */
function lastLines(content: Uint8Array, count: number): { from: number; lastLine: number; end: number } {
  const starts = [0];
  for (const [at, byte] of content.entries()) if (byte === 10) starts.push(at + 1);
  return { from: starts.at(-1 - count) ?? 0, lastLine: starts.at(-2) ?? 0, end: content.length };
}

describe('a nonce store with a damaged file', () => {
  for (const inOrder of [true, false]) {
    const ended = inOrder ? 'an end in order' : 'a crash';
    for (const name of inOrder
      ? ['nonces-1.jsonl', 'nonces-3.jsonl', 'nonces-4.jsonl']
      : ['nonces-3.jsonl']) {
      test(`accepts no replays if ${name} is truncated at any byte of its last lines after ${ended}`, async (context) => {
        const random = seeded();
        const clock = createManualClock(start);
        const [original, directory] = [temporaryDirectory(context), temporaryDirectory(context)];
        const dates = await threeFiles(original, clock, inOrder);
        const content = await readFile(join(original, name));
        const { from, end } = lastLines(content, 3);
        const openEnd = !inOrder && name === 'nonces-3.jsonl';
        for (let length = from + random.below(wideStride); length < end; length += wideStride) {
          // What a crash cuts off between two lines was told to nobody.
          if (openEnd && content[length - 1] === 10) continue;
          await cp(original, directory, { recursive: true });
          await truncate(join(directory, name), length);
          const where = `${name} cut to ${length} of ${end} bytes (SEED=${random.seed})`;
          const outcome = await refusesAll({ directory, clock }, dates, where);
          const opens = openEnd || (name === 'nonces-4.jsonl' && inOrder) || length === 0;
          assert.equal(outcome, opens ? 'opened' : 'refused', where);
          await rm(directory, { recursive: true });
        }
      });

      test(`accepts no replays if any byte of the last lines of ${name} is flipped after ${ended}`, async (context) => {
        const random = seeded();
        const clock = createManualClock(start);
        const [original, directory] = [temporaryDirectory(context), temporaryDirectory(context)];
        const dates = await threeFiles(original, clock, inOrder);
        const content = await readFile(join(original, name));
        const { from, lastLine, end } = lastLines(content, 3);
        const openEnd = (!inOrder && name === 'nonces-3.jsonl') || name === 'nonces-4.jsonl';
        for (let at = from + random.below(wideStride); at < end; at += wideStride) {
          await cp(original, directory, { recursive: true });
          const flipped = Buffer.from(content);
          flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
          await writeFile(join(directory, name), flipped);
          const where = `byte ${at} of ${name} flipped (SEED=${random.seed})`;
          const outcome = await refusesAll({ directory, clock }, dates, where);
          // Without its end the last line but one is one with the last.
          if (openEnd && flipped[at] !== 10 && at !== lastLine - 1) {
            assert.equal(outcome, at >= lastLine ? 'opened' : 'refused', where);
          }
          await rm(directory, { recursive: true });
        }
      });
    }
  }

  test('accepts no replays if a file is emptied or removed', async (context) => {
    for (const name of ['nonces-1.jsonl', 'nonces-2.jsonl', 'nonces-3.jsonl']) {
      for (const spoil of [(path: string) => writeFile(path, ''), (path: string) => rm(path)]) {
        const directory = temporaryDirectory(context);
        const clock = createManualClock(start);
        const dates = await threeFiles(directory, clock, true);
        await spoil(join(directory, name));
        assert.equal(await refusesAll({ directory, clock }, dates, name), 'opened');
        const again = await open({ directory, clock });
        for (const [nonce, date] of dates) assert.equal(await replay(again, clock, nonce, date), 'seen');
        await again.close();
      }
    }
  });

  test('reports the line, the byte and the remedy, and changes no file', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    await threeFiles(directory, clock, true);
    const path = join(directory, 'nonces-2.jsonl');
    const content = await readFile(path, 'latin1');
    const second = content.indexOf('\n') + 1;
    const third = content.indexOf('\n', second) + 1;
    await writeFile(path, content.replace('n1.1', 'n1.7'), 'latin1');
    const files = await filesIn(directory);
    await assert.rejects(open({ directory, clock }), {
      message: `${path} cannot be used: line 3, at byte ${third}, is missing or damaged. Restore a copy of the file, or empty it: the server then starts, and rejects all requests with a date for one window. Nothing was changed.`,
    });
    assert.deepEqual(await filesIn(directory), files);
  });
});

describe('a nonce store after a crash', () => {
  test('changes no file if it is opened and closed without being begun', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const { nonces } = await openLost({ directory, clock });
    assert.equal(await claim(nonces, clock, 'one'), 'fresh');
    const kept = async (): Promise<string[]> =>
      Promise.all((await filesIn(directory)).map((name) => readFile(join(directory, name), 'utf8')));
    const before = await kept();
    await (await open({ directory, clock })).close();
    assert.deepEqual(await kept(), before);
  });

  test('rejects replays after a write truncated at a page boundary, and does not report that as a loss', async (context) => {
    const [original, directory] = [temporaryDirectory(context), temporaryDirectory(context)];
    const clock = createManualClock(start);
    const nonces = await open({ directory: original, clock });
    for (let number = 0; number < 100; number += 1) await claim(nonces, clock, `n${number}`);
    const content = await readFile(join(original, 'nonces-1.jsonl'));
    const told = content.toString('latin1', 0, 4096).split('\n').length - 2;
    assert.ok(content.length > 4096 && content[4095] !== 10);
    for (const length of [4095, 4096, 4097]) {
      await cp(original, directory, { recursive: true });
      await truncate(join(directory, 'nonces-1.jsonl'), length);
      const { nonces: again, messages: losses } = await openLost({ directory, clock });
      for (let number = 0; number < told; number += 1)
        assert.equal(await replay(again, clock, `n${number}`, start), 'seen');
      assert.equal(losses.length, length === 4096 ? 0 : 1, `${length} bytes`);
      assert.equal(await claim(again, clock, 'new'), length === 4096 ? 'fresh' : 'seen', `${length} bytes`);
      await again.close();
      await rm(directory, { recursive: true });
    }
  });

  test('rejects for one window the nonces that a crash of the host may have lost, and reports this once', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    await threeFiles(directory, clock, false);
    const boot = async () => 'second';
    const { nonces, messages: told } = await openLost({ directory, clock, boot });
    assert.equal(told.length, 1);
    assert.match(
      told[0] ?? '',
      /was probably in use when the host stopped.* dated before 2013-04-20T13:29:25\.000Z are rejected$/,
    );
    assert.equal(await claim(nonces, clock, 'early'), 'seen');
    await nonces.close();
    clock.advance(window / 2);
    const again = await open({ directory, clock, boot });
    assert.equal(await claim(again, clock, 'still early'), 'seen');
    clock.advance(window / 2 + 1000);
    assert.equal(await claim(again, clock, 'in time'), 'fresh');
    await again.close();
  });

  test('rejects requests that may have been signed before if a directory has a store but no nonce files', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const nonces = await open({ directory, clock });
    await nonces.begin();
    await writeFile(join(directory, 'journal-1.jsonl'), '');
    await nonces.close();
    const next = await open({ directory, clock });
    assert.equal(await claim(next, clock, 'nobody signed before'), 'fresh');
    await next.close();
    for (const name of await readdir(directory))
      if (name.startsWith('nonces')) await unlink(join(directory, name));
    const { nonces: bare, messages: told } = await openLost({ directory, clock });
    assert.match(told.join(), /has a store, but no nonce files/);
    assert.equal(await claim(bare, clock, 'dated now'), 'seen');
    clock.advance(2 * window + 2000);
    assert.equal(await claim(bare, clock, 'dated later'), 'fresh');
    await bare.close();
  });

  test('accepts new nonces after an orderly close, even if the host has restarted', async (context) => {
    for (const durability of ['fsync', 'os'] as const) {
      const directory = temporaryDirectory(context);
      const clock = createManualClock(start);
      const nonces = await open({ directory, clock, durability });
      await claim(nonces, clock, 'n');
      await nonces.close();
      const next = await open({ directory, clock, durability, boot: async () => 'second' });
      await next.begin();
      assert.equal(await replay(next, clock, 'n', start), 'seen');
      assert.equal(await claim(next, clock, 'new'), 'fresh');
      await next.close();
    }
  });

  test('treats a truncated file as lost, and not as damaged, if the host may have crashed', async (context) => {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const dates = await threeFiles(directory, clock, false);
    await truncate(join(directory, 'nonces-2.jsonl'), 400);
    await assert.rejects(open({ directory, clock }), { name: 'StoreError', code: 'damaged' });
    assert.equal(await refusesAll({ directory, clock, boot: async () => undefined }, dates, 'cut'), 'opened');
  });

  test('rejects every acknowledged nonce after kill -9 at any time', async (context) => {
    const directory = temporaryDirectory(context);
    const random = seeded();
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 4; round += 1) {
      const child = startChild('claiming-child.ts', directory, String(round));
      const target = acknowledged.size + 1 + random.below(3000);
      const note = (line: string): void => {
        const [nonce = '', until = ''] = line.split(' ');
        acknowledged.set(nonce, Number(until));
      };
      while (acknowledged.size < target)
        note((await child.line()) ?? assert.fail('the child ended by itself'));
      await child.kill();
      for (let line = await child.line(); line !== undefined; line = await child.line()) note(line);
      const told: string[] = [];
      const clock = systemClock;
      const options = {
        directory,
        durability: 'os',
        window,
        max: 1e6,
        key: new Uint8Array(16),
        disk,
        clock,
      } as const;
      const nonces = await openNonces({ ...options, onWarning: (loss) => told.push(loss) });
      await nonces.begin();
      for (const [nonce, until] of acknowledged) {
        const where = `${nonce} (SEED=${random.seed}, round ${round})`;
        assert.equal(seenOrLost(await nonces.claim('demo', nonce, until, clock.now())), 'seen', where);
      }
      if (told.length === 0) {
        assert.equal(await nonces.claim('demo', `new${round}`, clock.now() + window, clock.now()), 'fresh');
      }
      if (round % 2 === 0) await nonces.close();
    }
  });
});

describe('a nonce store on a disk', () => {
  async function openFaulty(context: TestContext, durability: 'fsync' | 'os' = 'fsync') {
    const directory = temporaryDirectory(context);
    const clock = createManualClock(start);
    const disk = faultyDisk();
    const told: string[] = [];
    const nonces = await open({ directory, clock, durability, disk, onWarning: (line) => told.push(line) });
    const use = async (nonce: string): Promise<void> =>
      assert.equal(await nonces.claim('demo', nonce, start + window, start), 'fresh');
    return { directory, clock, disk, nonces, use, told };
  }

  test('uses one write for all claims that arrive during another one', async (context) => {
    const { disk, use, nonces } = await openFaulty(context);
    await use('first');
    const before = { ...Object.fromEntries(disk.counts) };
    const held = disk.hold('write');
    const waiting = [use('a')];
    await held.reached;
    for (const nonce of 'bcdefgh') waiting.push(use(nonce));
    held.release();
    await Promise.all(waiting);
    assert.equal(disk.counts.get('write'), Number(before['write']) + 2);
    assert.equal(disk.counts.get('sync'), before['sync'], 'no claim waits for a sync');
    await nonces.close();
  });

  test('never syncs if the durability is os', async (context) => {
    const { disk, use, nonces, directory, clock } = await openFaulty(context, 'os');
    await use('a');
    await use('b');
    clock.advance(window);
    await use('c');
    await nonces.close();
    assert.deepEqual([disk.counts.get('sync'), disk.counts.get('syncDirectory')], [undefined, undefined]);
    assert.equal((await filesIn(directory)).length, 3);
  });

  for (const operation of ['write', 'create'] as const) {
    test(`rejects claims while the disk is full at ${operation}, and loses no stored nonces`, async (context) => {
      const { disk, use, nonces, directory, clock, told } = await openFaulty(context);
      if (operation === 'write') await use('before');
      disk.shortWrites(20);
      for (const nonce of ['no room', 'still none']) {
        disk.failNext(operation, 'ENOSPC');
        const refused = { name: 'StoreError', code: 'full', reported: true };
        await assert.rejects(use(nonce), refused);
        assert.equal(await replay(nonces, clock, nonce, start), 'seen');
      }
      await use('after');
      assert.match(told.join('\n'), /^.*ENOSPC\); no nonce is stored for now\nnonces are stored again$/);
      await nonces.close();
      const again = await open({ directory, clock });
      if (operation === 'write') assert.equal(await replay(again, clock, 'before', start), 'seen');
      assert.equal(await replay(again, clock, 'after', start), 'seen');
      await again.close();
    });
  }

  test('stores claims again after a new file had no space, and could not be removed', async (context) => {
    const { disk, use, nonces, directory, clock, told } = await openFaulty(context);
    disk.failNext('write', 'ENOSPC');
    disk.failNext('unlink', 'EACCES');
    await assert.rejects(use('no room'), { name: 'StoreError', code: 'full' });
    await use('after');
    assert.match(told.join('\n'), /; no nonce is stored for now\nnonces are stored again$/);
    await nonces.close();
    const again = await open({ directory, clock });
    assert.equal(await replay(again, clock, 'after', start), 'seen');
    await again.close();
  });

  for (const [operation, code] of [
    ['sync', 'EIO'],
    ['sync', 'ENOSPC'],
    ['write', 'EIO'],
    ['syncDirectory', 'EIO'],
  ] as const) {
    test(`rejects all claims after a failed ${operation} (${code})`, async (context) => {
      const { disk, use, nonces, told } = await openFaulty(context);
      // A new file is synced.
      if (operation === 'write') await use('before');
      disk.failNext(operation, code);
      await assert.rejects(use('a'), { name: 'StoreError', code: 'failed' });
      for (const nonce of ['b', 'c'])
        await assert.rejects(use(nonce), (error) => error instanceof StoreError && error.code === 'failed');
      assert.match(told.join('\n'), /^.*; no nonce is stored any more$/);
      await assert.rejects(nonces.close(), { name: 'StoreError', code: 'failed' }, 'the end is no success');
    });
  }
});
