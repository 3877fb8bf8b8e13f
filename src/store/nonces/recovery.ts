import { join } from 'node:path';
import { CorruptionError } from '../corruption-error.ts';
import { kindOf } from '../files/data-files.ts';
import type { Disk } from '../files/disk.ts';
import { formatLogName, listLogNumbers } from '../log/line.ts';
import { type LogContent, readLogFile } from '../log/reader.ts';
import { type ClaimRecord, type NoncesHead, NoncesReader } from '../record.ts';
import type { NonceClaim } from './nonces.ts';
import { earliest, type Span } from './time.ts';

/** A file of claims. */
export interface ClaimFile {
  readonly number: number;
  /** The earliest and the latest `until` in the file; Infinity and -Infinity if it has no claims. */
  readonly from: number;
  readonly until: number;
}

/** The nonces in a directory. */
export interface RecoveredNonces {
  /** The files that were read, in order. */
  readonly files: readonly ClaimFile[];
  /** The highest number of a file; 0 if there are none. */
  readonly highest: number;
  /** The number of the last claim; 0 if it is not known. */
  readonly sequence: number;
  /** Whether the last server stopped in an orderly way, or there was none. */
  readonly closed: boolean;
  /** The spans of time whose claims are unknown. */
  readonly forgotten: readonly Span[];
  /** The creation time of the last file (ms). */
  readonly opened: number;
  /** Descriptions of what was lost, one sentence each; empty if all claims are known. */
  readonly losses: readonly string[];
}

/** The options of reading nonces. */
interface ReadNoncesOptions {
  readonly directory: string;
  readonly disk: Disk;
  /** The maximum difference between a date and the clock (ms). `until` of claims with another window is adjusted. */
  readonly window: number;
  /** Returns the id of the current boot of the host. */
  readonly boot: () => Promise<string | undefined>;
  /** Called with every claim. */
  readonly onClaim: (claim: NonceClaim) => void;
}

/**
 * Reads all claims, and changes nothing. The last file names the first one that is needed. Those before the last one must have all
 * claims up to the sequence of the next one. In the last file, an incomplete line is a loss. A power failure is a loss too, because
 * claims that were not on the disk are then missing without a trace. Throws CorruptionError for damage that no crash causes.
 */
export function readNonces(options: ReadNoncesOptions): Promise<RecoveredNonces> {
  return new Recovery(options).run();
}

type NoncesContent = LogContent<NoncesHead>;

/** The smallest page size in bytes. All other page sizes are multiples of it. */
const minPageSize = 4096;

/** What the user can do about a corrupt file. */
const advice =
  'Restore a copy of the file, or empty it: the server then starts, and rejects all requests with a date for one window';

class Recovery {
  readonly #options: ReadNoncesOptions;
  readonly #files: ClaimFile[] = [];
  readonly #losses: string[] = [];
  /** Whether the last file, and the earlier ones, may be incomplete because the host stopped. */
  #unwritten = { last: false, others: false };

  constructor(options: ReadNoncesOptions) {
    this.#options = options;
  }

  async run(): Promise<RecoveredNonces> {
    const { directory, disk, window } = this.#options;
    const names = await disk.list(directory);
    const numbers = listLogNumbers('nonces', names)
      .filter((number) => number > 0)
      .reverse();
    if (numbers.length === 0 && names.some((name) => kindOf(name) === 'store'))
      this.#losses.push(`${directory} has a store, but no nonce files any more`);
    const found = await this.#readLast(numbers);
    const last = found?.head;
    if (last !== undefined) await this.#readSealed(last);
    const shift = window - (last?.window ?? window);
    return {
      files: this.#files.toReversed(),
      highest: numbers[0] ?? 0,
      sequence: found?.sequence ?? 0,
      closed: numbers.length === 0 || last?.closed === true,
      forgotten: (last?.forgotten ?? []).map(({ from, to }) => ({
        from: Math.max(earliest, from + shift),
        to: to + shift,
      })),
      opened: last?.opened ?? Number.NEGATIVE_INFINITY,
      losses: this.#losses,
    };
  }

  /** Reads the last file with a valid head. Later files are incomplete. */
  async #readLast(descending: readonly number[]): Promise<NoncesContent | undefined> {
    for (const number of descending) {
      const content = await this.#read(number);
      const { head, lines, size = 0, bytes = 0, broken, more = false } = content ?? {};
      if (head !== undefined) await this.#checkHost(head);
      if (more && !this.#unwritten.last) throw this.#damaged(number, content);
      // If the process is killed, a write ends between two pages, and its claims were not acknowledged. A line that ends
      // elsewhere was truncated in another way, and other lines may be missing too.
      const betweenPages = broken?.incomplete === true && size % minPageSize === 0;
      const killed = head !== undefined && betweenPages && !this.#unwritten.last;
      if (head === undefined || (broken !== undefined && !killed))
        this.#losses.push(`${this.#path(number)} is truncated in line ${(lines ?? 0) + 1}, at byte ${bytes}`);
      if (head !== undefined) return content;
    }
    return undefined;
  }

  /** Checks whether the host stopped while written data was not on the disk. */
  async #checkHost({ closed, synced, boot }: NoncesHead): Promise<void> {
    if (closed && synced) return;
    const now = await this.#options.boot();
    if (now !== undefined && now === boot) return;
    this.#unwritten = { last: !closed, others: !synced };
    if (!closed) this.#losses.push(`${this.#options.directory} was probably in use when the host stopped`);
  }

  /** Reads the files that the last one seals, which must be complete, from the latest to the first one that is needed. */
  async #readSealed(last: NoncesHead): Promise<void> {
    let expected = last.sequence;
    for (let number = (this.#files.at(-1)?.number ?? 0) - 1; number >= last.first; number -= 1) {
      const content = await this.#read(number);
      if (content?.head !== undefined && content.sequence >= expected) {
        expected = content.head.sequence;
        continue;
      }
      if ((content?.size ?? 0) > 0 && !this.#unwritten.others) throw this.#damaged(number, content);
      this.#losses.push(
        `${this.#path(number)} is empty, or lacks data that was not on the disk when the host stopped`,
      );
      expected = 0;
    }
  }

  /** Reads a file. Returns undefined if there is no such file. */
  async #read(number: number): Promise<NoncesContent | undefined> {
    const { disk, window, onClaim } = this.#options;
    const nonces = new NoncesReader();
    let { from, until } = noClaims;
    let shift = 0;
    const content = await readLogFile<NoncesHead, ClaimRecord>(disk, this.#path(number), {
      name: 'nonces',
      preallocated: false,
      read: (text) => nonces.read(text),
      take(record) {
        if (record.kind === 'head') {
          shift = window - record.window;
          return;
        }
        const moved = { ...record.claim, until: record.claim.until + shift };
        from = Math.min(from, moved.until);
        until = Math.max(until, moved.until);
        onClaim(moved);
      },
      reject: ({ message }, { line, byte }) =>
        new CorruptionError(this.#path(number), message, { line, byte }),
    });
    this.#files.push({ number, from, until });
    return content;
  }

  #path(number: number): string {
    return join(this.#options.directory, formatLogName('nonces', number));
  }

  #damaged(number: number, content: NoncesContent | undefined): CorruptionError {
    const { lines = 0, bytes = 0 } = content ?? {};
    const reason = `line ${lines + 1}, at byte ${bytes}, is missing or damaged`;
    return new CorruptionError(this.#path(number), `${reason}. ${advice}`);
  }
}

/** The times of a file without claims. */
export const noClaims = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
