import type { Clock } from '../../clock.ts';
import type { Disk } from '../files/disk.ts';
import { Log } from '../log/log.ts';
import { formatClaim, formatNoncesHead } from '../record.ts';
import { bucketSpanFor, type NonceClaim, trustDelayFor } from './nonces.ts';
import { type ClaimFile, noClaims, type RecoveredNonces } from './recovery.ts';
import { ForgottenSpans, MinTime } from './time.ts';

/** The length in bytes at which a file is closed. */
const maxBytes = 32 * 1024 * 1024;
/** The minimum time (ms) for which a file receives claims; otherwise it is one window. */
const minFileAge = 60_000;

/** The options of a log of claims. */
interface ClaimLogOptions {
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
interface Current extends Pick<ClaimFile, 'from' | 'until'> {
  /** The time of its creation, by the monotonic clock (ms). */
  readonly begun: number;
}

/**
 * Decides which files the claims are written to, and how long these are needed. The first line of a file seals the earlier ones: it
 * lists them with their lengths and checksums. A file is deleted when all its claims have expired by the minimum time that the clock
 * has reached. The first line of later files then contains their span, so that none of them is accepted if the clock is set back.
 *
 * Only one call may be pending at a time. All throw StoreError.
 */
export class ClaimLog {
  readonly #options: ClaimLogOptions;
  readonly #log: Log<NonceClaim>;
  readonly #minTime: MinTime;
  readonly #forgotten = new ForgottenSpans();
  /** The sealed files that are still needed. */
  #files: readonly ClaimFile[];
  /** Whether the last file records an orderly stop. */
  #closed: boolean;
  #current: Current | undefined;

  private constructor(options: ClaimLogOptions, log: Log<NonceClaim>, recovered: RecoveredNonces) {
    this.#options = options;
    this.#log = log;
    this.#minTime = new MinTime(trustDelayFor(bucketSpanFor(options.window)));
    for (const { from, to } of recovered.forgotten) this.#forgotten.add(from, to);
    this.#files = recovered.files;
    this.#closed = recovered.closed;
  }

  /** Continues after the files that were read, with a new one. */
  static async open(options: ClaimLogOptions, recovered: RecoveredNonces): Promise<ClaimLog> {
    const { directory, disk, sync } = options;
    const { highest, sequence } = recovered;
    const log = await Log.open<NonceClaim>(
      {
        name: 'nonces',
        directory,
        disk,
        sync: sync ? 'files' : 'never',
        preallocated: false,
        // An empty file after a crash would count as a loss.
        renamed: true,
        inBackground: true,
        format: (claim, seq) => formatClaim(seq, claim),
      },
      { number: highest, sequence },
    );
    return new ClaimLog(options, log, recovered);
  }

  /** Writes claims. */
  async write(claims: readonly NonceClaim[]): Promise<void> {
    const { clock } = this.#options;
    const current = this.#current;
    const least = this.#minTime.at(clock.now(), clock.steady());
    if (current === undefined || this.#isFull(current)) {
      await this.#continue(claims, least, false);
      return;
    }
    await this.#log.append(claims);
    this.#current = extend(current, claims);
  }

  /** Records that the claims with `until` in this span, from `from` inclusive to `to` exclusive, are unknown. */
  async forget(from: number, to: number): Promise<void> {
    this.#forgotten.add(from, to);
    await this.#continue([], Number.NEGATIVE_INFINITY, false);
  }

  /** Records an orderly stop, if anything was written since the last one. */
  async seal(): Promise<void> {
    const { clock } = this.#options;
    if (!this.#closed) await this.#continue([], this.#minTime.at(clock.now(), clock.steady()), true);
  }

  /** Closes the file. */
  close(): Promise<void> {
    return this.#log.close();
  }

  #isFull({ begun }: Current): boolean {
    const { window, clock } = this.#options;
    return begun <= clock.steady() - Math.max(window, minFileAge) || this.#log.bytes >= maxBytes;
  }

  /** Continues in a new file with these claims, and deletes the files whose claims have all expired at the time `least`. */
  async #continue(claims: readonly NonceClaim[], least: number, closed: boolean): Promise<void> {
    const { window, sync, clock, boot } = this.#options;
    const log = this.#log;
    const all = this.#listFiles();
    const files = all.filter(({ until }) => until >= least);
    for (const { from, until } of all)
      if (until < least && from <= until) this.#forgotten.add(from, until + 1);
    const head = {
      sequence: log.sequence,
      opened: clock.now(),
      boot: await boot(),
      window,
      synced: sync,
      closed,
      forgotten: this.#forgotten.list(),
      files,
    };
    await log.begin(formatNoncesHead(head), claims);
    this.#files = files;
    this.#closed = closed;
    this.#current = extend({ begun: clock.steady(), ...noClaims }, claims);
    await log.drop((number) => files.some((file) => file.number === number));
  }

  /** Returns the files that a new one seals. */
  #listFiles(): readonly ClaimFile[] {
    const current = this.#current;
    if (current === undefined) return this.#files;
    const { number, bytes, checksum } = this.#log;
    return [...this.#files, { number, bytes, crc: checksum, from: current.from, until: current.until }];
  }
}

/** Returns a file with these claims added. */
function extend({ begun, from, until }: Current, claims: readonly NonceClaim[]): Current {
  let [first, last] = [from, until];
  for (const claim of claims) {
    first = Math.min(first, claim.until);
    last = Math.max(last, claim.until);
  }
  return { begun, from: first, until: last };
}
