import { crc32 } from 'node:zlib';
import type { CorruptionLocation } from '../corruption-error.ts';
import type { Disk } from '../files/disk.ts';
import { readLines } from '../files/read-chunks.ts';
import { formatChecksum } from '../log/line.ts';

/** A line of a snapshot, which may be corrupt. */
export interface SnapshotLine {
  readonly kind: 'head' | 'block' | 'item' | 'end' | 'footer' | 'other';
  /** The line without its end, and without the comma after an item. */
  readonly text: string;
  readonly location: CorruptionLocation;
  /** At the end of a block: whether the block matches its checksum. */
  readonly matches: boolean;
}

/** The length of `{"crc":"89abcdef",`. */
const checksumLength = 18;

/** Calls `onLine` with each line of a snapshot. Returns whether there is such a file. */
export function readSnapshotLines(
  disk: Disk,
  path: string,
  onLine: (line: SnapshotLine) => void,
): Promise<boolean> {
  const lines = new LineReader(onLine);
  return readLines(disk, path, (line) => lines.take(line));
}

class LineReader {
  readonly #onLine: (line: SnapshotLine) => void;
  #line = 0;
  #byte = 0;
  /** The checksum in the first line of the current block, and that of its lines so far. */
  #expected = '';
  #sum = 0;

  constructor(onLine: (line: SnapshotLine) => void) {
    this.#onLine = onLine;
  }

  take(bytes: Buffer): void {
    this.#line += 1;
    const line = bytes.toString('utf8').replace(/\r$/, '');
    const location = { line: this.#line, byte: this.#byte };
    const kind = kindOf(line);
    if (kind === 'block') {
      this.#expected = line.slice(8, 16);
      this.#sum = 0;
    }
    const counted = kind === 'end' ? bytes.subarray(0, 2) : bytes;
    this.#sum = crc32(kind === 'block' ? counted.subarray(checksumLength) : counted, this.#sum);
    const matches = kind === 'end' && this.#expected === formatChecksum(this.#sum);
    this.#sum = crc32('\n', this.#sum);
    this.#byte += bytes.length + 1;
    this.#onLine({ kind, text: kind === 'item' ? line.replace(/,\s*$/, '') : line, location, matches });
  }
}

function kindOf(line: string): SnapshotLine['kind'] {
  if (line.startsWith('{"version"')) return 'head';
  if (line.startsWith('{"crc"')) return 'block';
  if (line === ']}' || line === ']},') return 'end';
  if (line.startsWith('],"footer"')) return 'footer';
  return /^\s*\{/.test(line) ? 'item' : 'other';
}
