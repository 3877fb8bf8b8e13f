import { describeVersion } from '../corruption-error.ts';
import type { Disk } from '../files/disk.ts';
import { readInChunks } from '../files/read-chunks.ts';
import { type LogContent, type LogFormat, LogReader } from '../log/reader.ts';
import type { Progress } from '../snapshot/reader.ts';
import {
  type JournalHeader,
  type JournalLine,
  journalVersion,
  parseJournalHeader,
  parseJournalLine,
  parseJournalVersion,
} from './line.ts';

/** The content of a journal. */
export interface JournalContent extends LogContent<JournalHeader> {
  /** The number of valid changes. */
  readonly changes: number;
  /** The number of the last valid change; that of the last change before the journal if there is none. */
  readonly seq: number;
  /** The highest `durable` in the valid lines that follow the invalid one; 0 if there are none. */
  readonly highestDurable: number;
}

/**
 * Reads a journal, and calls `onLine` with each valid line before the first invalid one. Returns undefined if there is
 * no such file.
 */
export async function readJournal(
  disk: Disk,
  path: string,
  onLine: (line: JournalLine, header: JournalHeader, at: number) => void,
  progress: Progress = () => {},
): Promise<JournalContent | undefined> {
  const file = await disk.openToRead(path);
  if (file === undefined) return undefined;
  const format = new JournalFormat();
  const reader = new LogReader(format, onLine);
  try {
    await readInChunks(file, (bytes, ended) => {
      const taken = reader.take(bytes, ended);
      progress(reader.position, file.size, reader.entries);
      return taken;
    });
  } finally {
    await file.close();
  }
  const { seq, highestDurable } = format;
  return { ...reader.content(), changes: reader.entries, seq, highestDurable };
}

/** The format of one journal, whose changes are numbered without gaps. */
class JournalFormat implements LogFormat<JournalHeader, JournalLine> {
  readonly coverage = 'line';
  readonly preallocated = true;
  seq = 0;
  highestDurable = 0;

  parseHeader(text: string): JournalHeader | string {
    const header = parseJournalHeader(text);
    if (header !== undefined) {
      this.seq = header.sequence;
      return header;
    }
    const version = parseJournalVersion(text);
    return version === undefined || version === journalVersion
      ? 'this is not the first line of a journal'
      : describeVersion(version, journalVersion);
  }

  parseEntry(text: string): JournalLine | string {
    const line = parseJournalLine(text);
    if (line === undefined) return 'this is not a change';
    if (line.seq !== this.seq + 1) return `it is change ${line.seq}, and ${this.seq + 1} was expected`;
    this.seq = line.seq;
    return line;
  }

  parseStray(text: string): boolean {
    const line = parseJournalLine(text);
    this.highestDurable = Math.max(this.highestDurable, line?.durable ?? 0);
    return line !== undefined;
  }
}
