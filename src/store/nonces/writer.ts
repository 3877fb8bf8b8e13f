import type { Clock } from '../../clock.ts';
import { createTemporary, step, writeWhole } from '../files/atomic-write.ts';
import type { Disk, DiskFile } from '../files/disk.ts';
import { bucketSpanFor, doubtFor } from './nonces.ts';
import { type Claim, RecordLines } from './record.ts';
import { type ClaimFile, type KeptNonces, noClaims, nonceFilePath } from './recovery.ts';
import { ForgottenSpans, LeastTime } from './time.ts';

/** A file takes no more claims when it has so many bytes. */
const mostBytes = 32 * 1024 * 1024;
/** A file takes claims for one window, and at least so long (ms). */
const shortestTurn = 60_000;

/** Where claims are written, and how. */
export interface WriterOptions {
  readonly directory: string;
  readonly disk: Disk;
  /** Whether anything is ever put on the medium before the system does that by itself. */
  readonly sync: boolean;
  /** How far a date may be from the clock, either way, in ms. */
  readonly window: number;
  readonly clock: Clock;
  /** Names this start of the host. */
  readonly boot: () => Promise<string | undefined>;
}

/** The file that takes claims. */
interface Current {
  readonly file: DiskFile;
  readonly path: string;
  /** When it was begun, by the steady clock (ms). */
  readonly begun: number;
  /** Up to where it is good, and with what. */
  extent: ClaimFile;
}

/**
 * Writes claims, a file for each turn. The first line of a file seals those before it: which they are, and how far they
 * reach. A file is deleted when all in it has passed by the least time that the clock may have reached; the span of its
 * claims is in that first line then, so that a clock that is set back later lets in none of them.
 *
 * One call of `write` or `close` may be under way at a time, and one of `sync` beside it. All throw AtomicWriteError.
 */
export class NonceWriter {
  readonly #options: WriterOptions;
  readonly #leastTime: LeastTime;
  readonly #forgotten = new ForgottenSpans();
  /** The files that count and take no more claims. */
  #files: readonly ClaimFile[];
  /** Those that count no more and may still be there. */
  #obsolete: readonly number[];
  #highest: number;
  /** Whether the last file says that the end was in order. */
  #closed: boolean;
  #current: Current | undefined;
  /** Whether the current file ends with what could not be written whole. */
  #torn = false;
  #syncing: Promise<void> | undefined;

  /** Goes on after what is kept already. */
  constructor(options: WriterOptions, kept: KeptNonces) {
    this.#options = options;
    this.#leastTime = new LeastTime(doubtFor(bucketSpanFor(options.window)));
    for (const { from, to } of kept.forgotten) this.#forgotten.add(from, to);
    this.#files = kept.files;
    this.#obsolete = kept.obsolete;
    this.#highest = kept.highest;
    this.#closed = kept.closed;
  }

  /** Writes claims. Whether they, and all before, are then on the medium already. */
  async write(claims: readonly Claim[]): Promise<boolean> {
    const { clock, window, sync } = this.#options;
    const current = this.#current;
    const least = this.#leastTime.at(clock.now(), clock.steady());
    const turn = Math.max(window, shortestTurn);
    if (current === undefined || this.#torn || isOver(current, clock.steady() - turn)) {
      await this.#begin(claims, least, false);
      return sync;
    }
    await this.#append(current, claims);
    return false;
  }

  /** Resolves when what was written before the call is on the medium. */
  async sync(): Promise<void> {
    this.#syncing = this.#syncAfter(this.#settled());
    await this.#syncing;
  }

  /** Keeps that the claims of this span (of their `until`, from `from` to before `to`) are not known. */
  async forget(from: number, to: number): Promise<void> {
    this.#forgotten.add(from, to);
    await this.#begin([], Number.NEGATIVE_INFINITY, false);
  }

  /** Keeps that the end was in order, where there was anything since the last one. */
  async seal(): Promise<void> {
    const { clock } = this.#options;
    if (!this.#closed) await this.#begin([], this.#leastTime.at(clock.now(), clock.steady()), true);
  }

  /** Lets go of the file. */
  async close(): Promise<void> {
    await this.#settled();
    await this.#current?.file.close();
  }

  async #append(current: Current, claims: readonly Claim[]): Promise<void> {
    const lines = new RecordLines(current.extent.crc);
    for (const claim of claims) lines.addClaim(claim);
    const bytes = Buffer.from(lines.text);
    this.#torn = true;
    await writeWhole(current.file, bytes, current.path);
    this.#torn = false;
    current.extent = extended(current.extent, bytes.length, lines.crc, claims);
  }

  /** Begins a file with these claims, and deletes those of which all has passed at the time `least`. */
  async #begin(claims: readonly Claim[], least: number, closed: boolean): Promise<void> {
    const before = this.#current;
    await this.#settled();
    // What it seals must be on the medium before it is.
    if (before !== undefined && this.#options.sync) await this.sync();
    const all = before === undefined ? this.#files : [...this.#files, before.extent];
    const files = all.filter(({ until }) => until >= least);
    const passed = all.filter(({ until }) => until < least);
    for (const { from, until } of passed) if (from <= until) this.#forgotten.add(from, until + 1);
    this.#current = await this.#create(claims, files, closed);
    this.#torn = false;
    this.#files = files;
    this.#closed = closed;
    this.#obsolete = [...this.#obsolete, ...passed.map(({ number }) => number)];
    await before?.file.close().catch(() => {}); // it is whole already
    await this.#deleteObsolete();
  }

  async #create(claims: readonly Claim[], files: readonly ClaimFile[], closed: boolean): Promise<Current> {
    const { directory, disk, sync, clock } = this.#options;
    const lines = await this.#headed(files, closed);
    for (const claim of claims) lines.addClaim(claim);
    const bytes = Buffer.from(lines.text);
    this.#highest += 1;
    const number = this.#highest;
    const path = nonceFilePath(directory, number);
    // It has its name when it is whole: else one that a crash left empty would count as a loss.
    const { path: temporary, file } = await createTemporary(disk, directory, 'nonces');
    try {
      await writeWhole(file, bytes, path);
      if (sync) await step(path, 'fsync', file.sync());
      await step(path, 'rename', disk.rename(temporary, path));
      if (sync) await step(path, 'fsync', disk.syncDirectory(directory));
    } catch (error) {
      await file.close().catch(() => {}); // the first failure is the one to tell
      // What stays is sealed by none, and so counts for nothing.
      for (const each of [temporary, path]) await disk.unlink(each).catch(() => {});
      throw error;
    }
    const empty = { number, bytes: 0, crc: 0, ...noClaims };
    return { file, path, begun: clock.steady(), extent: extended(empty, bytes.length, lines.crc, claims) };
  }

  async #headed(files: readonly ClaimFile[], closed: boolean): Promise<RecordLines> {
    const { window, sync, clock, boot } = this.#options;
    const lines = new RecordLines();
    const forgotten = this.#forgotten.list();
    lines.addHeader({
      opened: clock.now(),
      boot: await boot(),
      window,
      synced: sync,
      closed,
      forgotten,
      files,
    });
    return lines;
  }

  async #deleteObsolete(): Promise<void> {
    const { directory, disk } = this.#options;
    const numbers = this.#obsolete;
    this.#obsolete = [];
    // One that stays is found again at the next start.
    for (const number of numbers) await disk.unlink(nonceFilePath(directory, number)).catch(() => {});
  }

  async #syncAfter(others: Promise<void>): Promise<void> {
    await others; // one at a time
    const current = this.#current;
    if (current !== undefined) await step(current.path, 'fsync', current.file.syncData());
  }

  /** Resolves when no sync is under way. */
  async #settled(): Promise<void> {
    await this.#syncing?.catch(() => {}); // told to who began it
  }
}

function isOver({ begun, extent }: Current, since: number): boolean {
  return begun <= since || extent.bytes >= mostBytes;
}

function extended(extent: ClaimFile, bytes: number, crc: number, claims: readonly Claim[]): ClaimFile {
  let { from, until } = extent;
  for (const claim of claims) {
    from = Math.min(from, claim.until);
    until = Math.max(until, claim.until);
  }
  return { number: extent.number, bytes: extent.bytes + bytes, crc, from, until };
}
