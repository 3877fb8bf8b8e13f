import { type Coverage, verifyLine } from './line.ts';

const newline = 0x0a;
/** The beginning of every line. */
const lineStart = '{"crc":"';

/** The position of a line. */
interface LinePosition {
  /** From 1. */
  readonly line: number;
  readonly byte: number;
}

/** How a log is read. */
export interface LogFormat {
  /** The bytes that a checksum covers. */
  readonly coverage: Coverage;
  /** Whether NUL bytes at the end of a file are preallocated space. */
  readonly preallocated: boolean;
  /** Called with each valid line before the first invalid one. It may throw. */
  onLine(text: string, position: LinePosition): void;
  /**
   * Called with each line with a correct checksum from the first invalid line on, also within others. Returns whether it is a
   * record. Lines of a chain cannot be verified any more, so it is not called for them.
   */
  onStray?(text: string): boolean;
}

/** The first line of a file that is not as it was written: its checksum is wrong, or its end is missing. */
interface Break extends LinePosition {
  readonly reason: string;
  /** Whether it has no line end. */
  readonly incomplete: boolean;
}

/** The extent of the valid lines in a file of a log. */
export interface LogContent {
  /** The length of the file in bytes. */
  readonly size: number;
  /** The number of valid lines, from the first one on. */
  readonly lines: number;
  /** The length of these lines in bytes. */
  readonly bytes: number;
  /** The checksum of the last one. */
  readonly checksum: number;
  /** Undefined if nothing but preallocated space follows the valid lines. */
  readonly broken: Break | undefined;
  /** Whether other lines, complete or not, follow the invalid line. */
  readonly more: boolean;
}

/** Reads a file of a log. */
export class LogReader {
  readonly #format: LogFormat;
  #lines = 0;
  #bytes = 0;
  #checksum = 0;
  #broken: Break | undefined;
  #more = false;
  /** Whether NUL bytes precede the current position. */
  #nuls = false;
  #position = 0;

  constructor(format: LogFormat) {
    this.#format = format;
  }

  /** The number of valid lines so far. */
  get lines(): number {
    return this.#lines;
  }

  /** The number of bytes read. */
  get position(): number {
    return this.#position;
  }

  /** Reads complete lines and preallocated space, and at the end of the file all bytes. Returns the number of bytes read. */
  take(bytes: Buffer, ended: boolean): number {
    let at = 0;
    for (;;) {
      const end = bytes.indexOf(newline, at);
      if (end < 0) break;
      this.#takeLine(bytes.subarray(at, end));
      this.#position += end + 1 - at;
      at = end + 1;
    }
    const rest = bytes.subarray(at);
    const allocated = rest.length === 0 || (this.#format.preallocated && isAllNul(rest));
    if (allocated && rest.length > 0) this.#nuls = true;
    if (ended && !allocated) this.#takeRest(rest);
    if (!allocated && !ended) return at;
    this.#position += rest.length;
    return bytes.length;
  }

  /** Returns the extent of the lines, once all bytes are read. */
  content(): LogContent {
    return {
      size: this.#position,
      lines: this.#lines,
      bytes: this.#bytes,
      checksum: this.#checksum,
      broken: this.#broken,
      more: this.#more,
    };
  }

  #takeLine(line: Buffer): void {
    if (this.#nuls) this.#break('something other than preallocated space follows', false);
    this.#nuls = false;
    if (this.#broken !== undefined) this.#takeAfterBreak(line);
    else this.#takeNext(line);
  }

  #takeNext(line: Buffer): void {
    const checksum = verifyLine(line, this.#format.coverage, this.#checksum);
    if (checksum === undefined) {
      const what = this.#lines === 0 ? 'its first line' : 'the line';
      this.#takeInvalid(line, `${what} does not match its checksum`, false);
      return;
    }
    this.#format.onLine(line.toString('utf8'), { line: this.#lines + 1, byte: this.#bytes });
    this.#lines += 1;
    this.#checksum = checksum;
    this.#bytes = this.#position + line.length + 1;
  }

  /** Reads the bytes after the last line end. */
  #takeRest(rest: Buffer): void {
    let end = rest.length;
    if (this.#format.preallocated) while (rest[end - 1] === 0) end -= 1;
    if (this.#broken === undefined) this.#takeInvalid(rest.subarray(0, end), 'the line is incomplete', true);
    else this.#takeAfterBreak(rest.subarray(0, end));
  }

  /** Records an invalid line. Its line end may be what is damaged, so the line may contain other lines. */
  #takeInvalid(line: Buffer, reason: string, incomplete: boolean): void {
    this.#break(reason, incomplete);
    this.#searchLines(line, 1);
  }

  #takeAfterBreak(line: Buffer): void {
    if (!this.#format.preallocated || !isAllNul(line)) this.#more = true;
    this.#searchLines(line, 0);
  }

  /** Searches for valid lines, which may follow remains of others, to find out what was on the disk. */
  #searchLines(line: Buffer, from: number): void {
    if (this.#format.onStray === undefined) return;
    for (let at = line.indexOf(lineStart, from); at >= 0; at = line.indexOf(lineStart, at + 1)) {
      const stray = line.subarray(at);
      if (verifyLine(stray, 'line', 0) === undefined) continue;
      if (this.#format.onStray(stray.toString('utf8')) && at > 0) this.#more = true;
    }
  }

  #break(reason: string, incomplete: boolean): void {
    this.#broken ??= { line: this.#lines + 1, byte: this.#bytes, reason, incomplete };
  }
}

function isAllNul(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}
