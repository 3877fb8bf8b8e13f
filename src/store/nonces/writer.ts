import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { Disk } from '../files/disk.ts';
import { LogCreateError, LogFile } from '../log/file.ts';
import { ChainedLines, formatLogName } from '../log/line.ts';
import { formatClaim, formatNoncesHead } from '../record.ts';
import { bucketSpanFor, type NonceClaim, trustDelayFor } from './nonces.ts';
import { type ClaimFile, noClaims, type RecoveredNonces } from './recovery.ts';
import { ForgottenSpans, MinTime } from './time.ts';

/** The length in bytes at which a file is closed. */
const maxBytes = 32 * 1024 * 1024;
/** The minimum time (ms) for which a file receives claims; otherwise it is one window. */
const minFileAge = 60_000;

/** The options of a writer. */
interface WriterOptions {
  readonly directory: string;
  readonly disk: Disk;
  /** Whether files are synced at all. */
  readonly sync: boolean;
  /** The maximum difference between a date and the clock (ms). */
  readonly window: number;
  readonly clock: Clock;
  /** Returns the id of the current boot of the host. */
  readonly boot: () => Promise<string | undefined>;
}

/** The file that receives claims. */
interface Current {
  readonly file: LogFile;
  /** The time of its creation, by the monotonic clock (ms). */
  readonly begun: number;
  /** The valid part of the file. */
  extent: ClaimFile;
}

/**
 * Writes claims to files. The first line of a file seals the earlier ones: it lists them with their lengths and
 * checksums. A file is deleted when all its claims have expired by the minimum time that the clock has reached. The
 * first line of later files then contains their span, so that none of them is accepted if the clock is set back.
 *
 * Only one call may be pending at a time. All throw AtomicWriteError.
 */
export class NonceWriter {
  readonly #options: WriterOptions;
  readonly #minTime: MinTime;
  readonly #forgotten = new ForgottenSpans();
  /** The sealed files that are still needed. */
  #files: readonly ClaimFile[];
  /** The numbers of files that are to be deleted. */
  #obsolete: readonly number[];
  #highest: number;
  /** Whether the last file records an orderly stop. */
  #closed: boolean;
  #current: Current | undefined;
  /** Whether the current file may end with an incomplete line. */
  #torn = false;

  /** Continues after the files that were read. */
  constructor(options: WriterOptions, recovered: RecoveredNonces) {
    this.#options = options;
    this.#minTime = new MinTime(trustDelayFor(bucketSpanFor(options.window)));
    for (const { from, to } of recovered.forgotten) this.#forgotten.add(from, to);
    this.#files = recovered.files;
    this.#obsolete = recovered.obsolete;
    this.#highest = recovered.highest;
    this.#closed = recovered.closed;
  }

  /** Writes claims. */
  async write(claims: readonly NonceClaim[]): Promise<void> {
    const { clock, window } = this.#options;
    const current = this.#current;
    const min = this.#minTime.at(clock.now(), clock.steady());
    const maxAge = Math.max(window, minFileAge);
    if (current === undefined || this.#torn || isFull(current, clock.steady() - maxAge)) {
      await this.#createNext(claims, min, false);
      return;
    }
    await this.#append(current, claims);
  }

  /** Records that the claims with `until` in this span, from `from` inclusive to `to` exclusive, are unknown. */
  async forget(from: number, to: number): Promise<void> {
    this.#forgotten.add(from, to);
    await this.#createNext([], Number.NEGATIVE_INFINITY, false);
  }

  /** Records an orderly stop, if anything was written since the last one. */
  async seal(): Promise<void> {
    const { clock } = this.#options;
    if (!this.#closed) await this.#createNext([], this.#minTime.at(clock.now(), clock.steady()), true);
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#current?.file.abandon();
  }

  async #append(current: Current, claims: readonly NonceClaim[]): Promise<void> {
    const lines = new ChainedLines(current.extent.crc);
    for (const claim of claims) lines.add(formatClaim(claim));
    const bytes = Buffer.from(lines.text);
    this.#torn = true;
    await current.file.append(bytes);
    this.#torn = false;
    current.extent = extendFile(current.extent, bytes.length, lines.checksum, claims);
  }

  /** Creates a file with these claims, and deletes the files whose claims have all expired at the time `least`. */
  async #createNext(claims: readonly NonceClaim[], least: number, closed: boolean): Promise<void> {
    const before = this.#current;
    // The files that it seals must be on the disk first.
    if (this.#options.sync) await before?.file.sync();
    const all = before === undefined ? this.#files : [...this.#files, before.extent];
    const files = all.filter(({ until }) => until >= least);
    const expired = all.filter(({ until }) => until < least);
    for (const { from, until } of expired) if (from <= until) this.#forgotten.add(from, until + 1);
    this.#current = await this.#create(claims, files, closed);
    this.#torn = false;
    this.#files = files;
    this.#closed = closed;
    this.#obsolete = [...this.#obsolete, ...expired.map(({ number }) => number)];
    await before?.file.abandon();
    await this.#deleteObsolete();
  }

  async #create(
    claims: readonly NonceClaim[],
    files: readonly ClaimFile[],
    closed: boolean,
  ): Promise<Current> {
    const { directory, disk, sync, clock } = this.#options;
    const lines = await this.#withHeader(files, closed);
    for (const claim of claims) lines.add(formatClaim(claim));
    const bytes = Buffer.from(lines.text);
    this.#highest += 1;
    const number = this.#highest;
    // It is renamed when it is complete: an empty file after a crash would count as a loss. If a file of a failed attempt cannot
    // be removed, it is ignored, because no other file seals it.
    const name = formatLogName('nonces', number);
    const options = { directory, name, lines: bytes, sync, temporary: 'nonces', inBackground: true };
    const file = await LogFile.create(disk, options).catch((error) => {
      throw error instanceof LogCreateError ? error.cause : error;
    });
    const empty = { number, bytes: 0, crc: 0, ...noClaims };
    return { file, begun: clock.steady(), extent: extendFile(empty, bytes.length, lines.checksum, claims) };
  }

  async #withHeader(files: readonly ClaimFile[], closed: boolean): Promise<ChainedLines> {
    const { window, sync, clock, boot } = this.#options;
    const lines = new ChainedLines();
    const forgotten = this.#forgotten.list();
    const [opened, booted] = [clock.now(), await boot()];
    const head = { opened, boot: booted, window, synced: sync, closed, forgotten, files };
    lines.add(formatNoncesHead(head));
    return lines;
  }

  async #deleteObsolete(): Promise<void> {
    const { directory, disk } = this.#options;
    const numbers = this.#obsolete;
    this.#obsolete = [];
    // If that fails, the next start deletes it.
    for (const number of numbers)
      await disk.unlink(join(directory, formatLogName('nonces', number))).catch(() => {});
  }
}

function isFull({ begun, extent }: Current, since: number): boolean {
  return begun <= since || extent.bytes >= maxBytes;
}

function extendFile(extent: ClaimFile, bytes: number, crc: number, claims: readonly NonceClaim[]): ClaimFile {
  let { from, until } = extent;
  for (const claim of claims) {
    from = Math.min(from, claim.until);
    until = Math.max(until, claim.until);
  }
  return { number: extent.number, bytes: extent.bytes + bytes, crc, from, until };
}
