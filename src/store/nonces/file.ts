import type { Clock } from '../../clock.ts';
import { formatIsoDate } from '../encoding/iso-date.ts';
import { AtomicWriteError, removeLeftovers } from '../files/atomic-write.ts';
import { type Disk, nodeDisk } from '../files/disk.ts';
import { bootId } from '../files/process-liveness.ts';
import { type StoredNonce, StoreError } from '../store.ts';
import { bucketSpanFor, type Claimed, createNonces, type MemoryNonces, type Nonces } from './nonces.ts';
import { type Claim, earliest, latest } from './record.ts';
import { type KeptNonces, readNonces } from './recovery.ts';
import { NonceWriter } from './writer.ts';

/** What nonces in a directory are opened with. */
export interface NonceFileOptions {
  /** Where the files are; it exists, and its lock is the caller's. */
  readonly directory: string;
  /** Whether `kept(true)` waits for the medium (`fsync`) or for the system (`os`). */
  readonly durability: 'fsync' | 'os';
  /** How far a date may be from the clock, either way, in ms. */
  readonly window: number;
  /** The most nonces remembered at once. Those kept from before may be more; then no new one is taken. */
  readonly max: number;
  /** The most nonces of one user remembered at once; default: a tenth of `max`. Those from before count. */
  readonly maxPerUser?: number | undefined;
  /** 16 random bytes that nobody else knows. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** Told once, in one line, that nonces were lost and what follows from that, that none are kept, or are again. */
  readonly tell: (line: string) => void;
  /** The file operations; the host's own by default. */
  readonly disk?: Disk;
  /** Names this start of the host; the host is asked by default. */
  readonly boot?: () => Promise<string | undefined>;
}

/** Nonces that outlive the process. */
export interface FileNonces extends Nonces {
  /**
   * Takes one that was kept with a change, whatever the clock says and however many there are. It is written here too,
   * where it is not yet, with what is claimed next.
   */
  remember(kept: StoredNonce): void;
  /** Tells that a claim which was held is kept with a change. It is written here too, which nobody waits for. */
  keptWithChange(held: StoredNonce): void;
  /**
   * Begins to keep, before anything is claimed or a store that is new keeps anything: from then on a directory without any
   * file of nonces tells that they were taken away. Where some were lost, that is told and kept. Rejects with StoreError.
   */
  begin(): Promise<void>;
  /**
   * Writes what is claimed and not yet kept, and that the end was in order. No call may follow. Rejects with StoreError
   * when that failed, or anything did for good before.
   */
  close(): Promise<void>;
}

/**
 * Opens the nonces in a directory; nothing is written yet. Where some were lost, requests with a date that one of these might
 * have are refused. Throws CorruptionError when the files cannot be used.
 */
export async function openNonces(options: NonceFileOptions): Promise<FileNonces> {
  const { directory, durability, window, clock, disk = nodeDisk, boot = bootId } = options;
  const bucketSpan = bucketSpanFor(window);
  const memory = createNonces({ ...options, bucketSpan, monotonic: () => clock.steady() });
  const show = ({ user, nonce, until }: Claim): void => void memory.remember(user, nonce, until);
  const kept = await readNonces({ directory, disk, window, boot, show });
  // Whoever made them held the lock then and does not now.
  await removeLeftovers(disk, directory, 'nonces', () => true);
  for (const { from, to } of kept.forgotten) memory.forget(from, to);
  const sync = durability === 'fsync';
  const writer = new NonceWriter({ directory, disk, sync, window, clock, boot }, kept);
  const begin = kept.losses.length > 0 ? refuseLost(kept, memory, writer, options) : firstFile(kept, writer);
  return new NonceFile(memory, writer, sync, options.tell, begin);
}

/** What an opening would find. */
export interface NonceReport {
  /** How many nonces have not passed. */
  readonly live: number;
  /** What was lost, and what follows from that; undefined when nothing was. */
  readonly loss: string | undefined;
}

/** Looks at the nonces in a directory that is not in use, and changes nothing. Throws CorruptionError as `openNonces` does. */
export async function inspectNonces(directory: string, window: number, clock: Clock): Promise<NonceReport> {
  const now = clock.now();
  let live = 0;
  const show = ({ until }: Claim): void => {
    if (until >= now) live += 1;
  };
  const kept = await readNonces({ directory, disk: nodeDisk, window, boot: bootId, show });
  const lost = kept.losses.length > 0;
  return { live, loss: lost ? describeLost(kept, window, endOfLost(kept, window, now)) : undefined };
}

/** The `until` (ms) from which on no claim can be that was lost before `now`. */
function endOfLost({ opened }: KeptNonces, window: number, now: number): number {
  // Its date is at most a window ahead of the clock, and good for a window, to the end of its second. The clock that it
  // was claimed by may have been set back since, but to what it was when the file was begun.
  return Math.max(now, opened) + 2 * window + 1000;
}

/** What was lost, and what follows from that. */
function describeLost({ losses }: KeptNonces, window: number, end: number): string {
  const time = formatIsoDate(end - window);
  return `${losses.join('; ')}. Nonces may be lost: full signed requests dated before ${time} are refused`;
}

/** Refuses what may have been claimed, and gives what tells and keeps that. */
function refuseLost(
  kept: KeptNonces,
  memory: MemoryNonces,
  writer: NonceWriter,
  { window, clock, tell }: NonceFileOptions,
): () => Promise<void> {
  const end = endOfLost(kept, window, clock.now());
  memory.forget(earliest, end);
  return async () => {
    tell(describeLost(kept, window, end));
    // When this cannot be kept now, it is with the next claim; and until then the loss is found again.
    await writer.forget(earliest, end).catch(() => {});
  };
}

/** Gives what makes the first file, where there is none. */
function firstFile({ highest }: KeptNonces, writer: NonceWriter): () => Promise<void> {
  return async () => {
    if (highest === 0) await writer.write([]);
  };
}

/** Somebody who waits until all up to the `position`th claim is kept. */
interface Waiting {
  readonly position: number;
  resolve(): void;
  reject(error: StoreError): void;
}

/**
 * Claims are answered from memory, and written in groups: what is claimed while a write is under way makes the next one,
 * and what is written while the medium is waited for shares the next wait. Who needs no medium waits for none.
 */
class NonceFile implements FileNonces {
  readonly #memory: MemoryNonces;
  readonly #writer: NonceWriter;
  readonly #sync: boolean;
  readonly #tell: (line: string) => void;
  readonly #begin: () => Promise<void>;
  #pending: Claim[] = [];
  /** Claims that were held and are kept with a change. */
  readonly #withChange = new WeakSet<StoredNonce>();
  /** How many claims there were, how many are written, and how many of these are on the medium. */
  #claimed = 0;
  #written = 0;
  #synced = 0;
  /** In the order of their positions. */
  #awaitingWrite: Waiting[] = [];
  #awaitingSync: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  /** Whether it is in use: what was only opened is left as it was found. */
  #begun = false;
  /** Why nothing is written any more. */
  #failure: StoreError | undefined;
  /** Whether it was told that nothing can be written. */
  #told = false;

  constructor(
    memory: MemoryNonces,
    writer: NonceWriter,
    sync: boolean,
    tell: (line: string) => void,
    begin: () => Promise<void>,
  ) {
    this.#begin = begin;
    this.#memory = memory;
    this.#writer = writer;
    this.#sync = sync;
    this.#tell = tell;
  }

  get size(): number {
    return this.#memory.size;
  }

  claim(user: string, nonce: string, until: number, now: number): Claimed {
    // What has no date cannot be written down.
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

  hold(): StoredNonce | undefined {
    const held = this.#pending.pop();
    if (held === undefined) return undefined;
    this.#claimed -= 1;
    return held;
  }

  release(held: StoredNonce, durably: boolean): Promise<void> | undefined {
    if (this.#withChange.has(held)) return undefined;
    this.#pending.push(held);
    this.#claimed += 1;
    return this.kept(durably);
  }

  remember(kept: StoredNonce): void {
    if (!this.#memory.remember(kept.user, kept.nonce, kept.until)) return;
    this.#pending.push(kept);
    this.#claimed += 1;
  }

  keptWithChange(held: StoredNonce): void {
    this.#withChange.add(held);
    this.#pending.push(held);
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

  /** Sees to it that somebody writes what is pending, and then waits for the medium where that is asked for. */
  #work(): void {
    if (this.#failure !== undefined) this.#fail(this.#failure, -1, this.#claimed);
    else if (this.#pending.length > 0) this.#writing ??= this.#writeAll();
    else if (this.#writing === undefined) this.#beginSync();
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // all that is claimed in this turn shares the first write
    while (this.#pending.length > 0 && this.#failure === undefined) await this.#writePending();
    this.#writing = undefined;
  }

  async #writePending(): Promise<void> {
    const claims = this.#pending;
    const position = this.#claimed;
    this.#pending = [];
    try {
      if (await this.#writer.write(claims)) this.#synced = position;
      if (this.#told) this.#tell('nonces are kept again');
      this.#told = false;
    } catch (error) {
      this.#fail(error, this.#written, position);
    }
    this.#written = position;
    this.#awaitingWrite = resolved(this.#awaitingWrite, position);
    this.#awaitingSync = resolved(this.#awaitingSync, this.#synced);
    this.#beginSync();
  }

  /** Begins to sync where somebody waits for what is written, and nobody does already. */
  #beginSync(): void {
    if (this.#isSyncWanted()) this.#syncing ??= this.#syncAll();
  }

  #isSyncWanted(): boolean {
    return (this.#awaitingSync[0]?.position ?? Number.POSITIVE_INFINITY) <= this.#written;
  }

  /** Only where one is wanted: else it would be over before it is known to be under way. */
  async #syncAll(): Promise<void> {
    while (this.#isSyncWanted()) {
      const position = this.#written;
      try {
        await this.#writer.sync();
        this.#synced = Math.max(this.#synced, position);
        this.#awaitingSync = resolved(this.#awaitingSync, position);
      } catch (error) {
        this.#fail(error, -1, this.#claimed);
      }
    }
    this.#syncing = undefined;
  }

  /** Tells those who wait for what is after one position and up to another that it is not kept. */
  #fail(error: unknown, after: number, position: number): void {
    const failure =
      error instanceof StoreError ? error : new StoreError('failed', 'nonces were not kept', error);
    const final = !(failure instanceof AtomicWriteError) || failure.final;
    if (final) this.#failure = failure;
    if (!this.#told) this.#tell(`${failure.message}; no nonce is kept ${final ? 'any more' : 'for now'}`);
    this.#told = true;
    const [from, to] = final ? [-1, this.#claimed] : [after, position];
    this.#awaitingWrite = rejected(this.#awaitingWrite, from, to, failure);
    this.#awaitingSync = rejected(this.#awaitingSync, from, to, failure);
  }
}

/** Resolves those who wait for what is up to this position, and gives the others. */
function resolved(list: readonly Waiting[], position: number): Waiting[] {
  for (const waiting of list) if (waiting.position <= position) waiting.resolve();
  return list.filter((waiting) => waiting.position > position);
}

/** Rejects those after one position and up to another, each with an error of its own, and gives the others. */
function rejected(
  list: readonly Waiting[],
  after: number,
  position: number,
  { code, message, cause }: StoreError,
): Waiting[] {
  const concerns = (waiting: Waiting): boolean => after < waiting.position && waiting.position <= position;
  for (const waiting of list)
    if (concerns(waiting)) waiting.reject(new StoreError(code, message, cause, true));
  return list.filter((waiting) => !concerns(waiting));
}
