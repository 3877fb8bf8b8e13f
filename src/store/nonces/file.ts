import type { Clock } from '../../clock.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { formatIsoDate } from '../encoding/iso-date.ts';
import { StoreError } from '../errors.ts';
import { AtomicWriteError, removeLeftovers } from '../files/atomic-write.ts';
import { type Disk, nodeDisk } from '../files/disk.ts';
import { bootId } from '../files/process-liveness.ts';
import { GroupCommit } from '../log/group-commit.ts';
import { ClaimLog } from './claim-log.ts';
import {
  bucketSpanFor,
  createNonces,
  type MemoryNonces,
  type NonceClaim,
  type NonceLimits,
  type NonceResult,
  type NonceStore,
} from './nonces.ts';
import { type RecoveredNonces, readNonces } from './recovery.ts';
import { earliest, endOfLost, latest } from './time.ts';

/** The options of nonces in files. */
export interface NonceFileOptions {
  /** The data directory. It exists, and the caller holds its lock. */
  readonly directory: string;
  /** Whether files are synced before others replace them. A claim resolves when the operating system has it. */
  readonly durability: 'fsync' | 'os';
  /** The maximum difference between a date and the clock, in ms. */
  readonly window: number;
  /** The maximum number of nonces. If the files contain more, no new one is accepted. */
  readonly max: number;
  /** The maximum number of nonces of one user. Default: a tenth of `max`. Those in the files count. */
  readonly maxPerUser?: number | undefined;
  /** 16 secret random bytes. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** Called with one line when nonces were lost, when none can be stored, and when they can again. */
  readonly onWarning: (line: string) => void;
  /** The file operations. Default: those of the host. */
  readonly disk?: Disk | undefined;
  /** Returns the id of the current boot of the host. Default: read from the host. */
  readonly boot?: () => Promise<string | undefined>;
}

/** Nonces that survive the process. */
export interface FileNonces extends NonceStore {
  readonly size: number;
  readonly window: number;
  readonly limits: NonceLimits;
  /**
   * Starts storing. Must be called before the first claim, and before a new store stores anything: from then on, missing
   * nonce files are detected. Reports and records a loss of nonces. Rejects with StoreError.
   */
  begin(): Promise<void>;
  /**
   * Writes pending claims, records an orderly stop, and closes the files. No other method may be called afterwards.
   * Rejects with StoreError if that failed, or if an earlier failure was permanent.
   */
  close(): Promise<void>;
}

/**
 * Opens the nonces in a directory, without writing. If nonces were lost, requests with a date that one of these may have
 * are rejected. Throws CorruptionError if a file is corrupt.
 */
export async function openNonces(options: NonceFileOptions): Promise<FileNonces> {
  const { directory, durability, window, clock, disk = nodeDisk, boot = bootId } = options;
  const bucketSpan = bucketSpanFor(window);
  const memory = createNonces({ ...options, bucketSpan, monotonic: () => clock.steady() });
  const onClaim = ({ user, nonce, until }: NonceClaim): void => void memory.remember(user, nonce, until);
  const stored = await readNonces({ directory, disk, window, boot, onClaim });
  // The process that created them held the lock then, so it has ended.
  await removeLeftovers(disk, directory, 'nonces', () => true);
  for (const { from, to } of stored.forgotten) memory.forget(from, to);
  const lostUntil = stored.losses.length > 0 ? endOfUnknown(stored, window, clock.now()) : undefined;
  if (lostUntil !== undefined) memory.forget(earliest, lostUntil);
  const sync = durability === 'fsync';
  const log = await ClaimLog.open({ directory, disk, sync, window, clock, boot }, memory, stored);
  return new NonceFile(memory, log, options, stored, lostUntil);
}

/** The result of reading the nonces of a directory. */
export interface NonceReport {
  /** The number of nonces that have not expired. */
  readonly live: number;
  /** What was lost, and the consequence; undefined if nothing was. */
  readonly loss: string | undefined;
}

/** Reads the nonces in a directory that is not in use, and changes nothing. Throws CorruptionError. */
export async function inspectNonces(directory: string, window: number, clock: Clock): Promise<NonceReport> {
  const now = clock.now();
  let live = 0;
  const onClaim = ({ until }: NonceClaim): void => {
    if (until >= now) live += 1;
  };
  const stored = await readNonces({ directory, disk: nodeDisk, window, boot: bootId, onClaim });
  const lost = stored.losses.length > 0;
  return { live, loss: lost ? describeLoss(stored, window, endOfUnknown(stored, window, now)) : undefined };
}

/** Returns a time (ms) that is later than `until` of every claim before `now`, lost or not. */
function endOfUnknown({ opened, files }: RecoveredNonces, window: number, now: number): number {
  // The clock may have been set back since then; the creation time of the last file is a lower bound of its old time.
  const ends = files.map(({ until }) => until + 1);
  return Math.max(endOfLost(Math.max(now, opened), window), ...ends);
}

/** Describes what was lost, and the consequence. */
function describeLoss({ losses }: RecoveredNonces, window: number, end: number): string {
  const time = formatIsoDate(end - window);
  return `${losses.join('; ')}. Nonces may be lost: full signed requests dated before ${time} are rejected`;
}

/** A claim that waits for its group, with the callbacks of its promise. */
interface PendingClaim {
  readonly claim: NonceClaim;
  resolve(result: 'fresh'): void;
  reject(error: StoreError): void;
}

/** Claims are checked in memory, and written in groups: claims during a write form the next one. */
class NonceFile implements FileNonces {
  readonly limits: NonceLimits;
  readonly window: number;
  readonly #memory: MemoryNonces;
  readonly #log: ClaimLog;
  readonly #onWarning: (line: string) => void;
  readonly #stored: RecoveredNonces;
  /** The first `until` (ms) that no lost nonce can have; undefined if none was lost. */
  readonly #lostUntil: number | undefined;
  /** The claims of one turn of the event loop share the first write. */
  readonly #groups = new GroupCommit<PendingClaim>(
    () => this.#writeGroup(),
    () => Promise.resolve(),
  );
  /** Whether `begin` was called, or a nonce was claimed. Otherwise `close` does not change the files. */
  #begun = false;
  #claimed = false;
  /** The permanent failure; undefined if there is none. */
  #failure: StoreError | undefined;
  /** Whether the current failure was reported. */
  #failureReported = false;

  constructor(
    memory: MemoryNonces,
    log: ClaimLog,
    { onWarning, window }: NonceFileOptions,
    stored: RecoveredNonces,
    lostUntil: number | undefined,
  ) {
    this.window = window / 1000;
    this.limits = memory.limits;
    this.#stored = stored;
    this.#lostUntil = lostUntil;
    this.#memory = memory;
    this.#log = log;
    this.#onWarning = onWarning;
  }

  get size(): number {
    return this.#memory.size;
  }

  claim(user: string, nonce: string, until: number, now: number): MaybePromise<NonceResult> {
    // A time outside the range of dates cannot be written.
    if (!(until > earliest && until < latest)) return 'seen';
    const claimed = this.#memory.claim(user, nonce, until, now);
    if (claimed !== 'fresh') return claimed;
    this.#claimed = true;
    return new Promise((resolve, reject) => {
      this.#groups.add({ claim: { user, nonce, until }, resolve, reject });
    });
  }

  async begin(): Promise<void> {
    this.#begun = true;
    const lost = this.#lostUntil;
    if (lost !== undefined) {
      this.#onWarning(describeLoss(this.#stored, this.window * 1000, lost));
      // If that fails, it is recorded with the next claim. Until then, the next start detects the loss again.
      await this.#log.write([]).catch(() => {});
    } else if (this.#stored.highest === 0) await this.#log.write([]);
  }

  async close(): Promise<void> {
    await this.#groups.idle;
    try {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#begun || this.#claimed) await this.#log.seal();
    } finally {
      await this.#log.close();
    }
  }

  async #writeGroup(): Promise<void> {
    const pending = this.#groups.waiting;
    this.#groups.waiting = [];
    try {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#log.write(pending.map(({ claim }) => claim));
      if (this.#failureReported) this.#onWarning('nonces are stored again');
      this.#failureReported = false;
      for (const { resolve } of pending) resolve('fresh');
    } catch (error) {
      const { code, message, cause } = this.#fail(error);
      // Each claim gets an error of its own.
      for (const { reject } of pending) reject(new StoreError(code, message, { cause, reported: true }));
    }
  }

  /** Reports a failure once. Returns it as StoreError. */
  #fail(error: unknown): StoreError {
    const failure =
      error instanceof StoreError
        ? error
        : new StoreError('failed', 'nonces were not stored', { cause: error });
    const permanent = !(failure instanceof AtomicWriteError) || failure.final;
    if (permanent) this.#failure = failure;
    if (!this.#failureReported)
      this.#onWarning(`${failure.message}; no nonce is stored ${permanent ? 'any more' : 'for now'}`);
    this.#failureReported = true;
    return failure;
  }
}
