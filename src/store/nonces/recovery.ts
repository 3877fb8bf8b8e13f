import { join } from 'node:path';
import { CorruptionError } from '../corruption-error.ts';
import type { Disk } from '../files/disk.ts';
import { journalGeneration, previousName, snapshotName } from '../recovery/recovery.ts';
import { type Claim, type Extent, earliest, type Header, type RecordContent, readRecord } from './record.ts';
import type { Span } from './time.ts';

/** A file of claims, and when they have passed. */
export interface ClaimFile extends Extent {
  /** The earliest and the latest `until` in it; Infinity and -Infinity when it has no claim. */
  readonly from: number;
  readonly until: number;
}

/** What is kept in a directory. */
export interface KeptNonces {
  /** The files that count, in order. */
  readonly files: readonly ClaimFile[];
  /** What counts no more, and was not deleted yet. */
  readonly obsolete: readonly number[];
  /** The highest number that a file has; 0 without any. */
  readonly highest: number;
  /** Whether the last server stopped in order, or there never was one. */
  readonly closed: boolean;
  /** Times of which claims are not known any more. */
  readonly forgotten: readonly Readonly<Span>[];
  /** When the last file was begun (ms). */
  readonly opened: number;
  /** What was lost, a sentence each; nothing when every claim is known. */
  readonly losses: readonly string[];
}

/** What is read, and how. */
export interface Reading {
  readonly directory: string;
  readonly disk: Disk;
  /** How far a date may now be from the clock (ms): `until` of what was claimed under another is counted anew. */
  readonly window: number;
  /** Names this start of the host. */
  readonly boot: () => Promise<string | undefined>;
  /** Shown every claim. */
  readonly show: (claim: Claim) => void;
}

/** The path of a file of claims. */
export function nonceFilePath(directory: string, number: number): string {
  return join(directory, `nonces-${number}.jsonl`);
}

/**
 * Reads all claims that are kept, and changes nothing. The last file says which others count, and how far: these must
 * be there whole. In the last one itself a line that a crash cut off is a loss, and so is a loss of power, since what
 * was not yet on the medium then leaves no trace. Throws CorruptionError for damage that no crash makes.
 */
export function readNonces(reading: Reading): Promise<KeptNonces> {
  return new Recovery(reading).run();
}

/** The least page there is, in bytes: the others are multiples of it. */
const leastPage = 4096;

/** What to do about damage. */
const choices =
  'Put back an intact copy of it; or, without one, empty the file: the server then starts, and for one window refuses every request that is dated';

class Recovery {
  readonly #reading: Reading;
  readonly #files: ClaimFile[] = [];
  readonly #losses: string[] = [];
  /** Which files may lack what was written, because the host ended: the last one, and those before it. */
  #unwritten = { last: false, others: false };

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  async run(): Promise<KeptNonces> {
    const { directory, disk, window } = this.#reading;
    const names = await disk.list(directory);
    const numbers = names.map(numberOf).filter((number) => number > 0);
    numbers.sort((one, other) => other - one);
    if (numbers.length === 0 && names.some(isOfStore))
      this.#losses.push(`${directory} has a store, and no file of nonces any more`);
    const last = await this.#readLast(numbers);
    for (const extent of last?.files ?? []) await this.#readSealed(extent);
    this.#files.sort((one, other) => one.number - other.number);
    const shift = window - (last?.window ?? window);
    return {
      files: this.#files,
      obsolete: numbers.filter((number) => !this.#files.some((file) => file.number === number)),
      highest: numbers[0] ?? 0,
      closed: numbers.length === 0 || last?.closed === true,
      forgotten: (last?.forgotten ?? []).map(({ from, to }) => ({
        from: Math.max(earliest, from + shift),
        to: to + shift,
      })),
      opened: last?.opened ?? Number.NEGATIVE_INFINITY,
      losses: this.#losses,
    };
  }

  /** Reads the last file whose first line is whole, and gives that. What comes after it was cut off at its beginning. */
  async #readLast(descending: readonly number[]): Promise<Header | undefined> {
    for (const number of descending) {
      const all = await this.#bytesOf(number);
      const content = this.#read(number, all);
      const { header, lines, bytes, rest } = content;
      if (header !== undefined) await this.#judgeEnd(header);
      if (rest === 'bad lines' && !this.#unwritten.last) throw this.#damaged(number, content);
      // A kill stops a write between two pages, and what it was writing then had been told to nobody. A line that is cut
      // off anywhere else was cut by somebody, and others may be gone with it.
      const betweenPages = rest === 'cut line' && all.length % leastPage === 0;
      const killed = header !== undefined && betweenPages && !this.#unwritten.last;
      if (header === undefined || (rest !== 'nothing' && !killed))
        this.#losses.push(`${this.#path(number)} is cut off in line ${lines + 1}, at byte ${bytes}`);
      if (header !== undefined) return header;
    }
    return undefined;
  }

  /** Finds out whether the host ended when what was written was not on the medium. */
  async #judgeEnd({ closed, synced, boot }: Header): Promise<void> {
    if (closed && synced) return;
    const now = await this.#reading.boot();
    if (now !== undefined && now === boot) return;
    this.#unwritten = { last: !closed, others: !synced };
    if (!closed)
      this.#losses.push(`${this.#reading.directory} was in use when the host ended, as far as can be told`);
  }

  /** Reads a file that must be as long as it was. */
  async #readSealed(extent: Extent): Promise<void> {
    if (extent.bytes === 0) {
      this.#files.push({ ...extent, ...noClaims });
      return;
    }
    const all = await this.#bytesOf(extent.number);
    const content = this.#read(extent.number, all.subarray(0, extent.bytes));
    if (content.bytes === extent.bytes && content.crc === extent.crc) return;
    if (all.length > 0 && !this.#unwritten.others) throw this.#damaged(extent.number, content);
    this.#losses.push(
      `${this.#path(extent.number)} is empty, or lacks what the host had not yet put on the medium`,
    );
  }

  /** The content of a file; nothing when there is none. */
  async #bytesOf(number: number): Promise<Uint8Array> {
    return (await this.#reading.disk.read(this.#path(number))) ?? new Uint8Array();
  }

  #read(number: number, bytes: Uint8Array): RecordContent {
    const { window, show } = this.#reading;
    let { from, until } = noClaims;
    const content = readRecord(this.#path(number), bytes, (claim, header) => {
      const moved = { ...claim, until: claim.until - header.window + window };
      from = Math.min(from, moved.until);
      until = Math.max(until, moved.until);
      show(moved);
    });
    this.#files.push({ number, bytes: content.bytes, crc: content.crc, from, until });
    return content;
  }

  #path(number: number): string {
    return nonceFilePath(this.#reading.directory, number);
  }

  #damaged(number: number, { lines, bytes }: RecordContent): CorruptionError {
    const place = `line ${lines + 1}, at byte ${bytes}, is missing or not what was written there`;
    return new CorruptionError(this.#path(number), `${place}. ${choices}`);
  }
}

/** The times of a file that has none. */
export const noClaims = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };

/** Whether a file of this name is made only after the first file of claims. */
function isOfStore(name: string): boolean {
  return name === snapshotName || name === previousName || journalGeneration(name) !== undefined;
}

/** The number of a file of claims; 0 for any other name. */
function numberOf(name: string): number {
  return Number(/^nonces-([1-9][0-9]{0,14})\.jsonl$/.exec(name)?.[1] ?? 0);
}
