import { RecordFault } from '../encoding/members.ts';
import type { Disk } from '../files/disk.ts';
import { readInChunks, splitLines } from '../files/read-chunks.ts';
import { isVerified, type LogName } from './line.ts';

/** The beginning of every line. */
const lineStart = '{"crc":"';

/** The position of a line. */
interface LinePosition {
  /** From 1. */
  readonly line: number;
  readonly byte: number;
}

/** The first record of a file of a log. */
interface LogHead {
  readonly kind: 'head';
  /** The number of the last line before the file. */
  readonly sequence: number;
}

/** Any other record of a log. */
interface LogRecord {
  readonly kind: 'change' | 'claim' | 'block' | 'end';
  /** The number of the line. */
  readonly seq: number;
}

/** How a log is read. */
export interface LogFormat<Head extends LogHead, Other extends LogRecord> {
  readonly name: LogName | 'snapshot';
  /** Whether NUL bytes at the end of a file are preallocated space. */
  readonly preallocated: boolean;
  /** Reads a line. Throws RecordFault. */
  read(text: string): Head | Other;
  /** Called with the record of each valid line before the first invalid one. May throw RecordFault. */
  take(record: Head | Other, position: LinePosition): void;
  /**
   * Called with the position and the bytes of each line that cannot be read. It is skipped, and the lines after it are read, whatever
   * their numbers are. Default: the first such line ends the valid ones.
   */
  readonly skip?: ((position: LinePosition, line: Buffer) => void) | undefined;
  /** Returns what to throw for a line whose checksum is correct, so that some program wrote it, but whose record is not. */
  reject(fault: RecordFault, position: LinePosition): Error;
  /** Called with each record from the first invalid line on, also one within that line. */
  onStray?(record: Other): void;
}

/** The first line of a file that is not as it was written: its checksum is wrong, or its end is missing. */
interface Break extends LinePosition {
  readonly reason: string;
  /** Whether it has no line end. */
  readonly incomplete: boolean;
}

/** The extent of the valid lines in a file of a log. */
export interface LogContent<Head> {
  /** The first record; undefined if the first line is not valid. */
  readonly head: Head | undefined;
  /** The number of the last valid line, or of the last one before the file; 0 if there is no head. */
  readonly sequence: number;
  /** The length of the file in bytes. */
  readonly size: number;
  /** The number of valid lines, from the first one on. */
  readonly lines: number;
  /** The length of these lines in bytes. */
  readonly bytes: number;
  /** Undefined if nothing but preallocated space follows the valid lines. */
  readonly broken: Break | undefined;
  /** Whether other lines, complete or not, follow the invalid line. */
  readonly more: boolean;
}

/**
 * Reads a file of a log. Returns undefined if there is no such file.
 * @param progress called with the bytes read, the length of the file, and the number of lines read
 */
export async function readLogFile<Head extends LogHead, Other extends LogRecord>(
  disk: Disk,
  path: string,
  format: LogFormat<Head, Other>,
  progress: (done: number, size: number, lines: number) => void = () => {},
): Promise<LogContent<Head> | undefined> {
  const reader = new LogReader(format);
  const exists = await readInChunks(disk, path, (bytes, ended, size) => {
    const taken = reader.take(bytes, ended);
    progress(reader.position, size, reader.lines);
    return taken;
  });
  return exists ? reader.content() : undefined;
}

/** Reads the bytes of a file of a log. */
export class LogReader<Head extends LogHead, Other extends LogRecord> {
  readonly #format: LogFormat<Head, Other>;
  #head: Head | undefined;
  #sequence = 0;
  #lines = 0;
  #bytes = 0;
  #broken: Break | undefined;
  #more = false;
  /** Whether NUL bytes precede the current position. */
  #nuls = false;
  #position = 0;

  constructor(format: LogFormat<Head, Other>) {
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
    const at = splitLines(bytes, false, (line) => {
      this.#takeLine(line);
      this.#position += line.length + 1;
    });
    const rest = bytes.subarray(at);
    const allocated = rest.length === 0 || (this.#format.preallocated && isAllNul(rest));
    if (allocated && rest.length > 0) this.#nuls = true;
    if (ended && !allocated) this.#takeRest(rest);
    if (!allocated && !ended) return at;
    this.#position += rest.length;
    return bytes.length;
  }

  /** Returns the extent of the lines, once all bytes are read. */
  content(): LogContent<Head> {
    return {
      head: this.#head,
      sequence: this.#sequence,
      size: this.#position,
      lines: this.#lines,
      bytes: this.#bytes,
      broken: this.#broken,
      more: this.#more,
    };
  }

  #takeLine(line: Buffer): void {
    if (this.#format.skip !== undefined) {
      this.#takeOrSkip(line);
      return;
    }
    if (this.#nuls) this.#break('something other than preallocated space follows', false);
    this.#nuls = false;
    if (this.#broken !== undefined) this.#takeAfterBreak(line);
    else this.#takeNext(line);
  }

  /** Reads a line. One that has no correct record, or follows NUL bytes, is skipped. */
  #takeOrSkip(line: Buffer): void {
    const position = { line: this.#lines + 1, byte: this.#position };
    const record = !this.#nuls && isVerified(line) ? this.#tryRead(line.toString('utf8')) : undefined;
    if (record === undefined) this.#format.skip?.(position, line);
    else this.#format.take(record, position);
    this.#nuls = false;
    this.#lines += 1;
  }

  #takeNext(line: Buffer): void {
    if (!isVerified(line)) {
      const what = this.#lines === 0 ? 'its first line' : 'the line';
      this.#takeInvalid(line, `${what} does not match its checksum`, false);
      return;
    }
    this.#takeValid(line.toString('utf8'));
    this.#lines += 1;
    this.#bytes = this.#position + line.length + 1;
  }

  #takeValid(text: string): void {
    const position = { line: this.#lines + 1, byte: this.#bytes };
    try {
      const record = this.#format.read(text);
      this.#checkOrder(record);
      this.#format.take(record, position);
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error;
      throw this.#format.reject(error, position);
    }
  }

  #checkOrder(record: Head | Other): void {
    if (isHead(record)) {
      if (this.#lines > 0) throw new RecordFault(`this is the first line of a ${this.#format.name} file`);
      this.#head = record;
      this.#sequence = record.sequence;
      return;
    }
    if (this.#lines === 0) throw new RecordFault(`this is not the first line of a ${this.#format.name} file`);
    const expected = this.#sequence + 1;
    if (record.seq !== expected)
      throw new RecordFault(`it is ${record.kind} ${record.seq}, and ${expected} was expected`);
    this.#sequence = expected;
  }

  /** Reads the bytes after the last line end. */
  #takeRest(rest: Buffer): void {
    let end = rest.length;
    if (this.#format.preallocated) while (rest[end - 1] === 0) end -= 1;
    if (this.#format.skip !== undefined) this.#takeOrSkip(rest.subarray(0, end));
    else if (this.#broken === undefined)
      this.#takeInvalid(rest.subarray(0, end), 'the line is incomplete', true);
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
    for (let at = line.indexOf(lineStart, from); at >= 0; at = line.indexOf(lineStart, at + 1)) {
      const stray = line.subarray(at);
      const record = isVerified(stray) ? this.#tryRead(stray.toString('utf8')) : undefined;
      if (record === undefined || isHead(record)) continue;
      if (at > 0) this.#more = true;
      this.#format.onStray?.(record);
    }
  }

  /** Reads a line with a correct checksum. Returns undefined if it is not a record. */
  #tryRead(text: string): Head | Other | undefined {
    try {
      return this.#format.read(text);
    } catch (error) {
      if (error instanceof RecordFault) return undefined;
      throw error;
    }
  }

  #break(reason: string, incomplete: boolean): void {
    this.#broken ??= { line: this.#lines + 1, byte: this.#bytes, reason, incomplete };
  }
}

function isHead<Head extends LogHead, Other extends LogRecord>(record: Head | Other): record is Head {
  return record.kind === 'head';
}

function isAllNul(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}
