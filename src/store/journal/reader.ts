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
} from './line.ts';

const newline = 0x0a;
/** How every line begins. */
const lineStart = '{"crc":"';

/** Where a journal stops being what was written, and how. */
export interface Break {
  /** Counted from 1. */
  readonly line: number;
  readonly byte: number;
  readonly what: string;
  /** Whether a crash can leave it so: the checksum does not fit. Otherwise somebody wrote it. */
  readonly torn: boolean;
}

/** What is in a journal. */
export interface JournalContent {
  /** How many bytes the file has. */
  readonly size: number;
  /** Its first line; undefined when that is not whole. */
  readonly header: JournalHeader | undefined;
  /** How many bytes the good lines have, from the first on. */
  readonly bytes: number;
  /** How many good changes it has. */
  readonly changes: number;
  /** The number of the last good line; that before the first when there is none. */
  readonly seq: number;
  /** Undefined when nothing but space that was allocated follows the good lines. */
  readonly broken: Break | undefined;
  /** Whether whole lines, or their remains, follow the line where it is broken. */
  readonly more: boolean;
  /** The highest number that a good line behind the break says was on the medium; 0 when none says so. */
  readonly shown: number;
}

/**
 * Reads a journal, and gives each good line up to the first that is not to `show`. Undefined when there is no such
 * file. NUL bytes at the end are space that was allocated ahead.
 */
export async function readJournal(
  disk: Disk,
  path: string,
  show: (line: JournalLine, header: JournalHeader, at: number) => void,
  progress: Progress = () => {},
): Promise<JournalContent | undefined> {
  const file = await disk.openToRead(path);
  if (file === undefined) return undefined;
  const reading = new LineReader(show);
  try {
    await readInChunks(file, (bytes, ended) => {
      const taken = reading.take(bytes, ended);
      progress(reading.position, file.size, reading.changes);
      return taken;
    });
  } finally {
    await file.close();
  }
  return reading.content();
}

class LineReader {
  readonly #show: (line: JournalLine, header: JournalHeader, at: number) => void;
  #header: JournalHeader | undefined;
  #line = 1;
  #bytes = 0;
  #seq = 0;
  #broken: Break | undefined;
  #more = false;
  #shown = 0;
  /** Where NUL bytes began that nothing has followed yet. */
  #nuls: number | undefined;
  position = 0;
  changes = 0;

  constructor(show: (line: JournalLine, header: JournalHeader, at: number) => void) {
    this.#show = show;
  }

  /** Takes whole lines and allocated space, and at the end of the file all the rest. */
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
      shown: this.#shown,
    };
  }

  #advance(length: number): void {
    this.position += length;
  }

  #takeLine(line: Buffer): void {
    if (this.#nuls !== undefined) this.#break('what follows is not space that was allocated', true);
    this.#nuls = undefined;
    if (this.#broken !== undefined) this.#takeBehind(line);
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
      this.#takeBad(line, 'its first line does not fit its checksum');
    } else {
      const version = journalVersionOf(text);
      const known = `its version is ${version}, and this program reads ${journalVersion}`;
      this.#break(
        version === undefined || version === journalVersion
          ? 'this is not the first line of a journal'
          : known,
        false,
      );
    }
  }

  #takeChange(line: Buffer, header: JournalHeader): void {
    const text = checkedLine(line);
    const parsed = text === undefined ? undefined : parseJournalLine(text);
    if (text === undefined) this.#takeBad(line, 'the line does not fit its checksum');
    else if (parsed === undefined) this.#break('this is not a change', false);
    else if (parsed.seq !== this.#seq + 1)
      this.#break(`change ${parsed.seq} stands where ${this.#seq + 1} belongs`, false);
    else {
      this.#show(parsed, header, this.position);
      this.#seq = parsed.seq;
      this.changes += 1;
      this.#bytes = this.position + line.length + 1;
    }
  }

  /** Takes what is left at the end without an end of line. */
  #takeRest(rest: Buffer): void {
    let end = rest.length;
    while (rest[end - 1] === 0) end -= 1;
    if (this.#broken === undefined) this.#takeBad(rest.subarray(0, end), 'the line is not whole');
    else this.#takeBehind(rest.subarray(0, end));
  }

  /** Breaks here. An end of line may be what is bad, so what follows in the line is looked at too. */
  #takeBad(line: Buffer, what: string): void {
    this.#break(what, true);
    this.#look(line, 1);
  }

  #takeBehind(line: Buffer): void {
    if (!isAllNul(line)) this.#more = true;
    this.#look(line, 0);
  }

  /** Looks for a whole line that says what was safe when it was written; some other remains may stand before it. */
  #look(line: Buffer, from: number): void {
    for (let at = line.indexOf(lineStart, from); at >= 0; at = line.indexOf(lineStart, at + 1)) {
      const text = checkedLine(line.subarray(at));
      const parsed = text === undefined ? undefined : parseJournalLine(text);
      this.#shown = Math.max(this.#shown, parsed?.durable ?? 0);
      if (at > 0 && parsed !== undefined) this.#more = true;
    }
  }

  #break(what: string, torn: boolean): void {
    this.#broken ??= { line: this.#line, byte: this.#bytes, what, torn };
  }
}

function isAllNul(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}
