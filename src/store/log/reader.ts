import { type Coverage, verifyLine } from './line.ts';

const newline = 0x0a;
/** The beginning of every line. */
const lineStart = '{"crc":"';

/** The format of the lines of a log. One value reads one file. A text that is returned by a parser is the reason of a fault. */
export interface LogFormat<Header, Entry> {
  /** The bytes that a checksum covers. */
  readonly coverage: Coverage;
  /** Whether NUL bytes at the end of a file are preallocated space. */
  readonly preallocated: boolean;
  /** Parses a first line with a correct checksum. */
  parseHeader(text: string): Header | string;
  /** Parses any other line with a correct checksum. `line` is its number, from 1. */
  parseEntry(text: string, line: number): Entry | string;
  /**
   * Called with each line with a correct checksum from the first invalid line on, also within others. Returns whether it is an
   * entry. Lines of a chain cannot be verified any more, so it is not called for them.
   */
  parseStray?(text: string): boolean;
}

/** The first line of a file that is not as it was written. */
interface Break {
  /** From 1. */
  readonly line: number;
  readonly byte: number;
  readonly reason: string;
  /** Whether a crash can cause it: the checksum is wrong. Otherwise the line was edited, or is of another version. */
  readonly torn: boolean;
  /** Whether it has no line end. */
  readonly incomplete: boolean;
}

/** The content of a file of a log. */
export interface LogContent<Header> {
  /** The length of the file in bytes. */
  readonly size: number;
  /** The first line; undefined if it is not valid. */
  readonly header: Header | undefined;
  /** The number of valid lines, from the first one on, with the header. */
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
export class LogReader<Header extends object, Entry extends object> {
  readonly #format: LogFormat<Header, Entry>;
  readonly #onEntry: (entry: Entry, header: Header, at: number) => void;
  #header: Header | undefined;
  #lines = 0;
  #bytes = 0;
  #checksum = 0;
  #broken: Break | undefined;
  #more = false;
  /** Whether NUL bytes precede the current position. */
  #nuls = false;
  #position = 0;

  /** @param onEntry called with each valid entry before the first invalid line, and its position in bytes */
  constructor(format: LogFormat<Header, Entry>, onEntry: (entry: Entry, header: Header, at: number) => void) {
    this.#format = format;
    this.#onEntry = onEntry;
  }

  /** The number of valid entries so far. */
  get entries(): number {
    return Math.max(0, this.#lines - 1);
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

  /** Returns the content, once all bytes are read. */
  content(): LogContent<Header> {
    return {
      size: this.#position,
      header: this.#header,
      lines: this.#lines,
      bytes: this.#bytes,
      checksum: this.#checksum,
      broken: this.#broken,
      more: this.#more,
    };
  }

  #takeLine(line: Buffer): void {
    if (this.#nuls) this.#break('something other than preallocated space follows', { torn: true });
    this.#nuls = false;
    if (this.#broken !== undefined) this.#takeAfterBreak(line);
    else this.#takeNext(line);
  }

  #takeNext(line: Buffer): void {
    const { coverage } = this.#format;
    const checksum = verifyLine(line, coverage, this.#checksum);
    const header = this.#header;
    if (checksum === undefined) {
      const what = header === undefined ? 'its first line' : 'the line';
      this.#takeInvalid(line, `${what} does not match its checksum`, false);
      return;
    }
    const text = line.toString('utf8');
    const fault = header === undefined ? this.#takeHeader(text) : this.#takeEntry(text, header);
    if (fault !== undefined) {
      this.#break(fault, { torn: false });
      return;
    }
    this.#lines += 1;
    this.#checksum = checksum;
    this.#bytes = this.#position + line.length + 1;
  }

  /** Returns the reason of a fault, or undefined. */
  #takeHeader(text: string): string | undefined {
    const parsed = this.#format.parseHeader(text);
    if (typeof parsed === 'string') return parsed;
    this.#header = parsed;
    return undefined;
  }

  /** Returns the reason of a fault, or undefined. */
  #takeEntry(text: string, header: Header): string | undefined {
    const parsed = this.#format.parseEntry(text, this.#lines + 1);
    if (typeof parsed === 'string') return parsed;
    this.#onEntry(parsed, header, this.#position);
    return undefined;
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
    this.#break(reason, { torn: true, incomplete });
    this.#searchLines(line, 1);
  }

  #takeAfterBreak(line: Buffer): void {
    if (!this.#format.preallocated || !isAllNul(line)) this.#more = true;
    this.#searchLines(line, 0);
  }

  /** Searches for valid lines, which may follow remains of others, to find out what was on the disk. */
  #searchLines(line: Buffer, from: number): void {
    if (this.#format.parseStray === undefined) return;
    for (let at = line.indexOf(lineStart, from); at >= 0; at = line.indexOf(lineStart, at + 1)) {
      const stray = line.subarray(at);
      if (verifyLine(stray, 'line', 0) === undefined) continue;
      if (this.#format.parseStray(stray.toString('utf8')) && at > 0) this.#more = true;
    }
  }

  #break(reason: string, { torn, incomplete = false }: { torn: boolean; incomplete?: boolean }): void {
    this.#broken ??= { line: this.#lines + 1, byte: this.#bytes, reason, torn, incomplete };
  }
}

function isAllNul(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}
