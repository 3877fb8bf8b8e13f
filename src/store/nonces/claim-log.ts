import type { Clock } from '../../clock.ts';
import type { Disk } from '../files/disk.ts';
import { Log } from '../log/log.ts';
import { formatClaim, formatNoncesHead } from '../record.ts';
import type { MemoryNonces, NonceClaim } from './nonces.ts';
import { type ClaimFile, noClaims, type RecoveredNonces } from './recovery.ts';

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
interface Current extends ClaimFile {
  /** The time of its creation, by the monotonic clock (ms). */
  readonly begun: number;
}

/**
 * Decides which files the claims are written to, and how long these are needed: a file is deleted when the nonces in memory do not have
 * its claims any more. The first line of a file seals the earlier ones, which must have all claims up to its own sequence, and contains
 * the spans of time whose claims are unknown, so that none of them is accepted if the clock is set back.
 *
 * Only one call may be pending at a time. All throw StoreError.
 */
export class ClaimLog {
  readonly #options: ClaimLogOptions;
  readonly #log: Log<NonceClaim>;
  readonly #memory: Pick<MemoryNonces, 'forgotten' | 'keeps'>;
  /** The sealed files that are still needed. */
  #files: readonly ClaimFile[];
  /** Whether the last file records an orderly stop. */
  #closed: boolean;
  #current: Current | undefined;

  private constructor(
    options: ClaimLogOptions,
    log: Log<NonceClaim>,
    memory: MemoryNonces,
    { files, closed, losses }: RecoveredNonces,
  ) {
    this.#options = options;
    this.#log = log;
    this.#memory = memory;
    // After a loss, all claims of the files that were read are forgotten.
    this.#files = losses.length > 0 ? [] : files;
    this.#closed = closed;
  }

  /** Continues after the files that were read into `memory`, with a new one. */
  static async open(
    options: ClaimLogOptions,
    memory: MemoryNonces,
    recovered: RecoveredNonces,
  ): Promise<ClaimLog> {
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
    return new ClaimLog(options, log, memory, recovered);
  }

  /** Writes claims. */
  async write(claims: readonly NonceClaim[]): Promise<void> {
    const current = this.#current;
    if (current === undefined || this.#isFull(current)) {
      await this.#continue(claims, false);
      return;
    }
    await this.#log.append(claims);
    this.#current = extend(current, claims);
  }

  /** Records an orderly stop, if anything was written since the last one. */
  async seal(): Promise<void> {
    if (!this.#closed) await this.#continue([], true);
  }

  /** Closes the file. */
  close(): Promise<void> {
    return this.#log.close();
  }

  #isFull({ begun }: Current): boolean {
    const { window, clock } = this.#options;
    return begun <= clock.steady() - Math.max(window, minFileAge) || this.#log.bytes >= maxBytes;
  }

  /** Continues in a new file with these claims, and deletes the files that are not needed. */
  async #continue(claims: readonly NonceClaim[], closed: boolean): Promise<void> {
    const { window, sync, clock, boot } = this.#options;
    const log = this.#log;
    const number = log.number + 1;
    const all = this.#current === undefined ? this.#files : [...this.#files, this.#current];
    const needed = all.findIndex(({ from, until }) => this.#memory.keeps(from, until));
    const files = needed < 0 ? [] : all.slice(needed);
    const first = files[0]?.number ?? number;
    const head = {
      sequence: log.sequence,
      opened: clock.now(),
      boot: await boot(),
      window,
      synced: sync,
      closed,
      forgotten: this.#memory.forgotten,
      first,
    };
    await log.begin(formatNoncesHead(head), claims);
    this.#files = files;
    this.#closed = closed;
    this.#current = extend({ number, begun: clock.steady(), ...noClaims }, claims);
    await log.drop((each) => each >= first);
  }
}

/** Returns a file with these claims added. */
function extend(file: Current, claims: readonly NonceClaim[]): Current {
  let { from, until } = file;
  for (const claim of claims) {
    from = Math.min(from, claim.until);
    until = Math.max(until, claim.until);
  }
  return { ...file, from, until };
}
