import type { Disk } from '../files/disk.ts';
import { readInChunks } from '../files/read-chunks.ts';
import type { Progress } from '../snapshot/reader.ts';
import {
  checkedLine,
  type JournalHeader,
  type JournalLine,
  journalVersion,
  journalVersionOf,
  parseJournalHeader,
  parseJournalLine,
  receiptsVersion,
} from './line.ts';

const newline = 0x0a;
/** The beginning of every line. */
const lineStart = '{"crc":"';

/** The first line of a journal that is not as it was written. */
export interface Break {
  /** From 1. */
  readonly line: number;
  readonly byte: number;
  readonly reason: string;
  /** Whether a crash can cause it: the checksum is wrong. Otherwise the line was edited, or is of another version. */
  readonly torn: boolean;
}

/** The content of a journal. */
export interface JournalContent {
  /** The length of the file in bytes. */
  readonly size: number;
  /** The first line; undefined if it is not valid. */
  readonly header: JournalHeader | undefined;
  /** The length of the valid lines in bytes, from the first one on. */
  readonly bytes: number;
  /** The number of valid changes. */
  readonly changes: number;
  /** The number of the last valid change; that of the last change before the journal if there is none. */
  readonly seq: number;
  /** Undefined if nothing but preallocated space follows the valid lines. */
  readonly broken: Break | undefined;
  /** Whether other lines, complete or not, follow the invalid line. */
  readonly more: boolean;
  /** The highest `durable` in the valid lines that follow the invalid one; 0 if there are none. */
  readonly highestDurable: number;
}

/**
 * Reads a journal, and calls `onLine` with each valid line before the first invalid one. Returns undefined if there is
 * no such file. NUL bytes at the end are preallocated space.
 */
export async function readJournal(
  disk: Disk,
  path: string,
  onLine: (line: JournalLine, header: JournalHeader, at: number) => void,
  progress: Progress = () => {},
): Promise<JournalContent | undefined> {
  const file = await disk.openToRead(path);
  if (file === undefined) return undefined;
  const reader = new LineReader(onLine);
  try {
    await readInChunks(file, (bytes, ended) => {
      const taken = reader.take(bytes, ended);
      progress(reader.position, file.size, reader.changes);
      return taken;
    });
  } finally {
    await file.close();
  }
  return reader.content();
}

class LineReader {
  readonly #onLine: (line: JournalLine, header: JournalHeader, at: number) => void;
  #header: JournalHeader | undefined;
  #line = 1;
  #bytes = 0;
  #seq = 0;
  #broken: Break | undefined;
  #more = false;
  #highestDurable = 0;
  /** Where the NUL bytes begin that end at the current position. */
  #nuls: number | undefined;
  position = 0;
  changes = 0;

  constructor(onLine: (line: JournalLine, header: JournalHeader, at: number) => void) {
    this.#onLine = onLine;
  }

  /** Reads complete lines and preallocated space, and at the end of the file all bytes. Returns the number of bytes read. */
  take(bytes: Buffer, ended: boolean): number {
    let at = 0;
    for (;;) {
      const end = bytes.indexOf(newline, at);
      if (end < 0) break;
      this.#takeLine(bytes.subarray(at, end));
      this.#advance(end + 1 - at);
      at = end + 1;
    }
    const rest = bytes.subarray(at);
    const allocated = isAllNul(rest);
    if (allocated && rest.length > 0) this.#nuls ??= this.position;
    if (ended && !allocated) this.#takeRest(rest);
    if (!allocated && !ended) return at;
    this.#advance(rest.length);
    return bytes.length;
  }

  content(): JournalContent {
    return {
      size: this.position,
      header: this.#header,
      bytes: this.#bytes,
      changes: this.changes,
      seq: this.#seq,
      broken: this.#broken,
      more: this.#more,
      highestDurable: this.#highestDurable,
    };
  }

  #advance(length: number): void {
    this.position += length;
  }

  #takeLine(line: Buffer): void {
    if (this.#nuls !== undefined) this.#break('something other than preallocated space follows', true);
    this.#nuls = undefined;
    if (this.#broken !== undefined) this.#takeAfterBreak(line);
    else if (this.#header === undefined) this.#takeHeader(line);
    else this.#takeChange(line, this.#header);
    this.#line += 1;
  }

  #takeHeader(line: Buffer): void {
    const text = checkedLine(line);
    const header = text === undefined ? undefined : parseJournalHeader(text);
    if (header !== undefined) {
      this.#header = header;
      this.#seq = header.sequence;
      this.#bytes = this.position + line.length + 1;
    } else if (text === undefined) {
      this.#takeInvalid(line, 'its first line does not match its checksum');
    } else {
      const version = journalVersionOf(text);
      const otherVersion = `its version is ${version}, and this program reads ${journalVersion} and ${receiptsVersion}`;
      this.#break(
        version === undefined || version === journalVersion || version === receiptsVersion
          ? 'this is not the first line of a journal'
          : otherVersion,
        false,
      );
    }
  }

  #takeChange(line: Buffer, header: JournalHeader): void {
    const text = checkedLine(line);
    const parsed = text === undefined ? undefined : parseJournalLine(text);
    if (text === undefined) this.#takeInvalid(line, 'the line does not match its checksum');
    else if (parsed === undefined) this.#break('this is not a change', false);
    else if (parsed.seq !== this.#seq + 1)
      this.#break(`it is change ${parsed.seq}, and ${this.#seq + 1} was expected`, false);
    else {
      this.#onLine(parsed, header, this.position);
      this.#seq = parsed.seq;
      this.changes += 1;
      this.#bytes = this.position + line.length + 1;
    }
  }

  /** Reads the bytes after the last line end. */
  #takeRest(rest: Buffer): void {
    let end = rest.length;
    while (rest[end - 1] === 0) end -= 1;
    if (this.#broken === undefined) this.#takeInvalid(rest.subarray(0, end), 'the line is incomplete');
    else this.#takeAfterBreak(rest.subarray(0, end));
  }

  /** Records an invalid line. Its line end may be what is damaged, so the line may contain other lines. */
  #takeInvalid(line: Buffer, reason: string): void {
    this.#break(reason, true);
    this.#searchLines(line, 1);
  }

  #takeAfterBreak(line: Buffer): void {
    if (!isAllNul(line)) this.#more = true;
    this.#searchLines(line, 0);
  }

  /** Searches for valid lines, which may follow remains of others, to find out what was on the disk. */
  #searchLines(line: Buffer, from: number): void {
    for (let at = line.indexOf(lineStart, from); at >= 0; at = line.indexOf(lineStart, at + 1)) {
      const text = checkedLine(line.subarray(at));
      const parsed = text === undefined ? undefined : parseJournalLine(text);
      this.#highestDurable = Math.max(this.#highestDurable, parsed?.durable ?? 0);
      if (at > 0 && parsed !== undefined) this.#more = true;
    }
  }

  #break(reason: string, torn: boolean): void {
    this.#broken ??= { line: this.#line, byte: this.#bytes, reason, torn };
  }
}

function isAllNul(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}
