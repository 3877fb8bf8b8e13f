import type { Clock } from '../../clock.ts';
import type { NonceClaim } from '../../principal.ts';
import { formatIsoDate } from '../encoding/iso-date.ts';
import { StoreError } from '../errors.ts';
import { AtomicWriteError, removeLeftovers } from '../files/atomic-write.ts';
import { type Disk, nodeDisk } from '../files/disk.ts';
import { bootId } from '../files/process-liveness.ts';
import {
  bucketSpanFor,
  createNonces,
  type MemoryNonces,
  type NonceLimits,
  type NonceResult,
  type SynchronousNonces,
} from './nonces.ts';
import { type RecoveredNonces, readNonces } from './recovery.ts';
import { earliest, endOfLost, latest } from './time.ts';
import { NonceWriter } from './writer.ts';

/** The options of nonces in files. */
export interface NonceFileOptions {
  /** The data directory. It exists, and the caller holds its lock. */
  readonly directory: string;
  /** Whether `kept(true)` waits for the disk (`fsync`) or for the operating system (`os`). */
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
export interface FileNonces extends SynchronousNonces {
  /**
   * Adds a nonce that was stored with a change, whatever the clock and however many there are. If it is new, it is also
   * written here, with the next claims.
   */
  remember(nonce: NonceClaim): void;
  /** Records that a held claim was stored with a change. It is also written here; no request waits for that. */
  storedWithChange(claim: NonceClaim): void;
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
  const sync = durability === 'fsync';
  const writer = new NonceWriter({ directory, disk, sync, window, clock, boot }, stored);
  const begin =
    stored.losses.length > 0 ? rejectLost(stored, memory, writer, options) : createFirstFile(stored, writer);
  return new NonceFile(memory, writer, options, begin);
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

/** Returns a time (ms) that is later than `until` of every claim lost before `now`. */
function endOfUnknown({ opened }: RecoveredNonces, window: number, now: number): number {
  // The clock may have been set back since then; the creation time of the last file is a lower bound of its old time.
  return endOfLost(Math.max(now, opened), window);
}

/** Describes what was lost, and the consequence. */
function describeLoss({ losses }: RecoveredNonces, window: number, end: number): string {
  const time = formatIsoDate(end - window);
  return `${losses.join('; ')}. Nonces may be lost: full signed requests dated before ${time} are rejected`;
}

/** Rejects the nonces that may have been lost. Returns a function that reports and records the loss. */
function rejectLost(
  stored: RecoveredNonces,
  memory: MemoryNonces,
  writer: NonceWriter,
  { window, clock, onWarning }: NonceFileOptions,
): () => Promise<void> {
  const end = endOfUnknown(stored, window, clock.now());
  memory.forget(earliest, end);
  return async () => {
    onWarning(describeLoss(stored, window, end));
    // If that fails, it is recorded with the next claim. Until then, the next start detects the loss again.
    await writer.forget(earliest, end).catch(() => {});
  };
}

/** Returns a function that creates the first file if there is none. */
function createFirstFile({ highest }: RecoveredNonces, writer: NonceWriter): () => Promise<void> {
  return async () => {
    if (highest === 0) await writer.write([]);
  };
}

/** A promise that waits until the first `position` claims are stored. */
interface Waiting {
  readonly position: number;
  resolve(): void;
  reject(error: StoreError): void;
}

/**
 * Claims are checked in memory, and written in groups: claims during a write form the next one, and claims that are
 * written during a sync share the next one. Only callers that need durability wait for a sync.
 */
class NonceFile implements FileNonces {
  readonly limits: NonceLimits;
  readonly window: number;
  readonly #memory: MemoryNonces;
  readonly #writer: NonceWriter;
  readonly #sync: boolean;
  readonly #onWarning: (line: string) => void;
  readonly #begin: () => Promise<void>;
  #pending: NonceClaim[] = [];
  /** Held claims that were stored with a change. */
  readonly #withChange = new WeakSet<NonceClaim>();
  /** The number of claims, of written claims, and of claims on the disk. */
  #claimed = 0;
  #written = 0;
  #synced = 0;
  /** In ascending order of position. */
  #awaitingWrite: Waiting[] = [];
  #awaitingSync: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  /** Whether `begin` was called. Otherwise `close` does not change the files. */
  #begun = false;
  /** The permanent failure; undefined if there is none. */
  #failure: StoreError | undefined;
  /** Whether the current failure was reported. */
  #failureReported = false;

  constructor(
    memory: MemoryNonces,
    writer: NonceWriter,
    { durability, onWarning, window }: NonceFileOptions,
    begin: () => Promise<void>,
  ) {
    this.window = window / 1000;
    this.limits = memory.limits;
    this.#begin = begin;
    this.#memory = memory;
    this.#writer = writer;
    this.#sync = durability === 'fsync';
    this.#onWarning = onWarning;
  }

  get size(): number {
    return this.#memory.size;
  }

  claim(user: string, nonce: string, until: number, now: number): NonceResult {
    // A time outside the range of dates cannot be written.
    if (!(until > earliest && until < latest)) return 'seen';
    const claimed = this.#memory.claim(user, nonce, until, now);
    if (claimed === 'fresh') {
      this.#pending.push({ user, nonce, until });
      this.#claimed += 1;
    }
    return claimed;
  }

  kept(durably: boolean): Promise<void> | undefined {
    const toMedium = durably && this.#sync;
    if (this.#failure === undefined && this.#claimed <= (toMedium ? this.#synced : this.#written))
      return undefined;
    return new Promise((resolve, reject) => {
      const list = toMedium ? this.#awaitingSync : this.#awaitingWrite;
      list.push({ position: this.#claimed, resolve, reject });
      this.#work();
    });
  }

  hold(user: string, nonce: string, until: number): NonceClaim | undefined {
    const latest = this.#pending.at(-1);
    const isLatest = latest !== undefined && latest.user === user && latest.nonce === nonce;
    // A claim that is being written, or that `kept` waits for, is written once more: with the change, or by `release`.
    if (!isLatest || this.#isAwaited(this.#claimed)) return { user, nonce, until };
    this.#pending.pop();
    this.#claimed -= 1;
    return latest;
  }

  release(claim: NonceClaim, durably: boolean): Promise<void> | undefined {
    if (this.#withChange.has(claim)) return undefined;
    this.#pending.push(claim);
    this.#claimed += 1;
    return this.kept(durably);
  }

  remember(nonce: NonceClaim): void {
    if (!this.#memory.remember(nonce.user, nonce.nonce, nonce.until)) return;
    this.#pending.push(nonce);
    this.#claimed += 1;
  }

  storedWithChange(claim: NonceClaim): void {
    this.#withChange.add(claim);
    this.#pending.push(claim);
    this.#claimed += 1;
    this.#work();
  }

  async begin(): Promise<void> {
    this.#begun = true;
    await this.#begin();
  }

  async close(): Promise<void> {
    this.#work();
    while (this.#writing !== undefined || this.#syncing !== undefined) {
      await this.#writing;
      await this.#syncing;
    }
    try {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#begun || this.#claimed > 0) await this.#writer.seal();
    } finally {
      await this.#writer.close();
    }
  }

  /** Returns whether a promise waits for the claim at a position, or a later one. */
  #isAwaited(position: number): boolean {
    const waitsFor = (list: readonly Waiting[]): number => list.at(-1)?.position ?? 0;
    return waitsFor(this.#awaitingWrite) >= position || waitsFor(this.#awaitingSync) >= position;
  }

  /** Starts writing pending claims, or a sync that a caller waits for. */
  #work(): void {
    if (this.#failure !== undefined) this.#fail(this.#failure, -1, this.#claimed);
    else if (this.#pending.length > 0) this.#writing ??= this.#writeAll();
    else if (this.#writing === undefined) this.#beginSync();
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // the claims of one turn of the event loop share the first write
    while (this.#pending.length > 0 && this.#failure === undefined) await this.#writePending();
    this.#writing = undefined;
  }

  async #writePending(): Promise<void> {
    const claims = this.#pending;
    const position = this.#claimed;
    this.#pending = [];
    try {
      if (await this.#writer.write(claims)) this.#synced = position;
      if (this.#failureReported) this.#onWarning('nonces are stored again');
      this.#failureReported = false;
    } catch (error) {
      this.#fail(error, this.#written, position);
    }
    this.#written = position;
    this.#awaitingWrite = resolveWaiting(this.#awaitingWrite, position);
    this.#awaitingSync = resolveWaiting(this.#awaitingSync, this.#synced);
    this.#beginSync();
  }

  /** Starts a sync if a caller waits for one and none is running. */
  #beginSync(): void {
    if (this.#isSyncWanted()) this.#syncing ??= this.#syncAll();
  }

  #isSyncWanted(): boolean {
    return (this.#awaitingSync[0]?.position ?? Number.POSITIVE_INFINITY) <= this.#written;
  }

  /** Syncs while a caller waits for it. Must only be called if one does: `#syncing` is set after the call. */
  async #syncAll(): Promise<void> {
    while (this.#isSyncWanted()) {
      const position = this.#written;
      try {
        await this.#writer.sync();
        this.#synced = Math.max(this.#synced, position);
        this.#awaitingSync = resolveWaiting(this.#awaitingSync, position);
      } catch (error) {
        this.#fail(error, -1, this.#claimed);
      }
    }
    this.#syncing = undefined;
  }

  /** Rejects the promises for positions after `after` and up to `position`; all of them after a permanent failure. */
  #fail(error: unknown, after: number, position: number): void {
    const failure =
      error instanceof StoreError
        ? error
        : new StoreError('failed', 'nonces were not stored', { cause: error });
    const permanent = !(failure instanceof AtomicWriteError) || failure.final;
    if (permanent) this.#failure = failure;
    if (!this.#failureReported)
      this.#onWarning(`${failure.message}; no nonce is stored ${permanent ? 'any more' : 'for now'}`);
    this.#failureReported = true;
    const [from, to] = permanent ? [-1, this.#claimed] : [after, position];
    this.#awaitingWrite = rejectWaiting(this.#awaitingWrite, from, to, failure);
    this.#awaitingSync = rejectWaiting(this.#awaitingSync, from, to, failure);
  }
}

/** Resolves the promises up to a position. Returns the others. */
function resolveWaiting(list: readonly Waiting[], position: number): Waiting[] {
  for (const waiting of list) if (waiting.position <= position) waiting.resolve();
  return list.filter((waiting) => waiting.position > position);
}

/** Rejects the promises after one position and up to another, each with a new error. Returns the others. */
function rejectWaiting(
  list: readonly Waiting[],
  after: number,
  position: number,
  { code, message, cause }: StoreError,
): Waiting[] {
  const isAffected = (waiting: Waiting): boolean => after < waiting.position && waiting.position <= position;
  for (const waiting of list)
    if (isAffected(waiting)) waiting.reject(new StoreError(code, message, { cause, reported: true }));
  return list.filter((waiting) => !isAffected(waiting));
}
