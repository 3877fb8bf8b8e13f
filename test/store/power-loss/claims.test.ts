import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock, type ManualClock } from '../../../src/clock.ts';
import { type FileNonces, openNonces } from '../../../src/store/nonces/file.ts';
import type { NonceClaim } from '../../../src/store/nonces/nonces.ts';
import { seeded } from '../../support/seeded.ts';
import { start, window } from '../../support/store/nonces-contract.ts';
import { type Files, PowerLossDisk } from '../../support/store/power-loss-disk.ts';
import { stride } from '../../support/store/thoroughness.ts';
import { always, Run as StoreRun } from './power-loss.ts';

const random = seeded();
const sampling = { random, all: 200, drawn: 40, bytes: true };

/** A claim that was made, and how many operations the disk had done when its request was answered. */
interface Claimed extends NonceClaim {
  answered: number;
}

/** Opens the nonces on a disk, during one boot of the host. */
async function open(disk: PowerLossDisk, clock: ManualClock, boot: string): Promise<FileNonces> {
  const nonces = await openNonces({
    directory: '/data',
    durability: 'fsync',
    window,
    max: 1_000_000,
    key: new Uint8Array(16),
    clock,
    onWarning: () => {},
    disk,
    boot: async () => boot,
  });
  await nonces.begin();
  return nonces;
}

/** Nonces on a disk, and all claims of requests. */
class Run {
  readonly disk: PowerLossDisk;
  readonly clock: ManualClock;
  readonly claims: Claimed[] = [];
  readonly #nonces: FileNonces;

  private constructor(disk: PowerLossDisk, clock: ManualClock, nonces: FileNonces) {
    this.disk = disk;
    this.clock = clock;
    this.#nonces = nonces;
  }

  static async open(): Promise<Run> {
    const [disk, clock] = [new PowerLossDisk(), createManualClock(start)];
    return new Run(disk, clock, await open(disk, clock, 'first'));
  }

  /** Stores a change in the same directory, which copies its journals to a new snapshot after each change. */
  async openStore(): Promise<StoreRun> {
    return StoreRun.open({ disk: this.disk, limits: always });
  }

  /** Claims a nonce, and answers its request when that is stored. */
  async claim(): Promise<void> {
    const nonce = `nonce ${this.claims.length} ${'x'.repeat(random.below(400))}`;
    const claim = { user: `user ${random.below(3)}`, nonce, until: this.clock.now() + window };
    const claimed = { ...claim, answered: Number.POSITIVE_INFINITY };
    this.claims.push(claimed);
    assert.equal(await this.#nonces.claim(claim.user, nonce, claim.until, this.clock.now()), 'fresh');
    claimed.answered = this.disk.operations;
  }

  /** Claims so many nonces at once. */
  async claimAll(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.claim()));
  }

  close(): Promise<void> {
    return this.#nonces.close();
  }
}

/** Makes claims in several files, which are sealed one after the other. */
async function makeClaims(): Promise<Run> {
  const run = await Run.open();
  for (let round = 0; round < 4; round += 1) {
    await run.claimAll(1 + random.below(4));
    await run.claimAll(2);
    run.clock.advance(window + 1000);
  }
  await run.claimAll(3);
  return run;
}

/** Requires that no claim that was answered is accepted again by a start on these files. */
async function requireRefused(
  { claims, clock }: Run,
  files: Files | PowerLossDisk,
  { boot, operations }: { readonly boot: string; readonly operations: number },
): Promise<void> {
  const where = `after ${operations} operations, SEED=${random.seed}`;
  const disk = files instanceof PowerLossDisk ? files : new PowerLossDisk(files);
  const now = clock.now();
  const nonces = await open(disk, createManualClock(now), boot).catch((error: unknown) => {
    throw new Error(`the start is refused ${where}`, { cause: error });
  });
  assert.ok(
    [...disk.files().keys()].every((name) => !name.startsWith('nonces') || name.endsWith('.jsonl')),
    `a temporary file is left ${where}`,
  );
  for (const { user, nonce, until, answered } of claims)
    if (answered <= operations)
      assert.notEqual(await nonces.claim(user, nonce, until, now), 'fresh', `${nonce.slice(0, 9)} ${where}`);
  await nonces.close();
}

describe('a claim whose request was answered is never accepted again', () => {
  test('after a power loss at any operation', async (context) => {
    const run = await makeClaims();
    await run.close();
    let [states, passed] = [0, random.below(stride)];
    for (const { operations, states: found } of run.disk.losses(sampling))
      for (const files of found) {
        passed += 1;
        if (passed % stride !== 0) continue;
        states += 1;
        await requireRefused(run, files, { boot: 'second', operations });
      }
    context.diagnostic(`seed ${random.seed}: ${states} states`);
  });

  test('after a power loss at any operation while changes are stored and copied to snapshots beside it', async (context) => {
    const run = await Run.open();
    const changes = await run.openStore();
    for (let round = 0; round < 3; round += 1) {
      const put = { kind: 'put', collection: '/a', expected: 'absent', value: { round } } as const;
      await Promise.all([run.claimAll(3), changes.ask({ ...put, id: `${round}`, at: start })]);
      await changes.settle();
      run.clock.advance(window / 2);
    }
    assert.ok([...run.disk.files().keys()].includes('store.previous.jsonl'), 'journals were dropped');
    await changes.store.close();
    await run.close();
    let [states, passed] = [0, random.below(stride)];
    for (const { operations, states: found } of run.disk.losses({ random, all: 20, drawn: 8 })) {
      await requireRefused(run, run.disk.after(operations), { boot: 'first', operations });
      for (const files of found) {
        passed += 1;
        if (passed % stride !== 0) continue;
        states += 1;
        await requireRefused(run, files, { boot: 'second', operations });
      }
    }
    context.diagnostic(`seed ${random.seed}: ${states} states`);
  });

  test('after the process ends at any operation, and the power stays', async () => {
    const run = await makeClaims();
    for (let operations = 0; operations <= run.disk.operations; operations += 1)
      await requireRefused(run, run.disk.after(operations), { boot: 'first', operations });
  });

  test('after a power loss at any operation of the start that follows another one', async () => {
    const run = await makeClaims();
    const files = run.disk.leastFiles();
    const disk = new PowerLossDisk(files);
    await (await open(disk, createManualClock(run.clock.now()), 'second')).close();
    const before = run.disk.operations;
    for (const { states } of disk.losses({ random, all: 60, drawn: 20 }))
      for (const found of states) await requireRefused(run, found, { boot: 'third', operations: before });
  });

  for (const operation of ['write', 'sync', 'create', 'rename', 'sync directory'] as const)
    test(`after a power loss at any operation, where a ${operation} failed`, async () => {
      for (const code of ['EIO', 'ENOSPC']) {
        const run = await Run.open();
        await run.claimAll(2);
        run.disk.failNext(operation, code, operation === 'sync directory' ? '' : 'nonces', random.below(3));
        for (let round = 0; round < 3; round += 1) {
          const made = Array.from({ length: 2 }, () => run.claim().catch(() => {}));
          await Promise.all(made);
          run.clock.advance(window + 1000);
        }
        for (const { operations, states } of run.disk.losses({ random, all: 40, drawn: 10 }))
          for (const files of states) await requireRefused(run, files, { boot: 'second', operations });
      }
    });
});
