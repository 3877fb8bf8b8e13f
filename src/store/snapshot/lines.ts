import type { CorruptionLocation } from '../corruption-error.ts';
import { crc32 } from '../encoding/crc32.ts';
import type { Disk } from '../files/disk.ts';
import { readLines } from '../files/read-chunks.ts';
import { formatChecksum } from './writer.ts';

/** A line of a snapshot, whether or not it is as it was written. */
export interface SnapshotLine {
  readonly kind: 'head' | 'block' | 'item' | 'end' | 'footer' | 'other';
  /** Without its end, and without the comma after an item. */
  readonly text: string;
  readonly place: CorruptionLocation;
  /** At the end of a block: whether its lines are those that were written. */
  readonly fits: boolean;
}

/** `{"crc":"89abcdef",` */
const checksumLength = 18;

/** Calls `take` with each line of a snapshot; returns whether there is such a file. */
export function readSnapshotLines(
  disk: Disk,
  path: string,
  take: (line: SnapshotLine) => void,
): Promise<boolean> {
  const lines = new Lines(take);
  return readLines(disk, path, (line) => lines.take(line));
}

class Lines {
  readonly #take: (line: SnapshotLine) => void;
  #line = 0;
  #byte = 0;
  /** The checksum that the block under way says, and that of its lines so far. */
  #said = '';
  #sum = 0;

  constructor(take: (line: SnapshotLine) => void) {
    this.#take = take;
  }

  take(bytes: Buffer): void {
    this.#line += 1;
    const line = bytes.toString('utf8').replace(/\r$/, '');
    const place = { line: this.#line, byte: this.#byte };
    const kind = kindOf(line);
    if (kind === 'block') {
      this.#said = line.slice(8, 16);
      this.#sum = 0;
    }
    const counted = kind === 'end' ? bytes.subarray(0, 2) : bytes;
    this.#sum = crc32(kind === 'block' ? counted.subarray(checksumLength) : counted, this.#sum);
    const fits = kind === 'end' && this.#said === formatChecksum(this.#sum);
    this.#sum = crc32('\n', this.#sum);
    this.#byte += bytes.length + 1;
    this.#take({ kind, text: kind === 'item' ? line.replace(/,\s*$/, '') : line, place, fits });
  }
}

function kindOf(line: string): SnapshotLine['kind'] {
  if (line.startsWith('{"version"')) return 'head';
  if (line.startsWith('{"crc"')) return 'block';
  if (line === ']}' || line === ']},') return 'end';
  if (line.startsWith('],"footer"')) return 'footer';
  return /^\s*\{/.test(line) ? 'item' : 'other';
}
