import { crc32 } from 'node:zlib';
import { formatChecksum } from '../encoding/checksum.ts';
import { formatIsoDate, parseIsoDate } from '../encoding/iso-date.ts';
import { JsonFields } from '../encoding/json-fields.ts';
import type { Span } from './time.ts';

/**
 * The version of the format of the files `nonces-N.jsonl`. The checksum of a line continues that of the previous line, so
 * that a missing, repeated or moved line is detected. The format is described in docs/data-format.md.
 */
const version = 1;

/** The length of `{"crc":"89abcdef"`. */
const prefixLength = 17;

/** The earliest and the latest date in ms (ECMA-262 §21.4.1.1). */
export const earliest = -8.64e15;
export const latest = 8.64e15;

/** A stored claim. */
export interface Claim {
  readonly user: string;
  readonly nonce: string;
  /** The last time (ms) at which a request with this nonce could be accepted. */
  readonly until: number;
}

/** The length and the checksum of a file that is not changed any more. */
export interface Extent {
  readonly number: number;
  readonly bytes: number;
  /** The checksum of the last line. */
  readonly crc: number;
}

/** The first line of a file. */
export interface Header {
  /** The time of its creation, by the clock (ms). */
  readonly opened: number;
  /** The boot id of the host; undefined if the host does not provide one. */
  readonly boot: string | undefined;
  /** The maximum difference between a date and the clock (ms), from which `until` is computed. */
  readonly window: number;
  /** Whether the earlier files are on the disk. */
  readonly synced: boolean;
  /** Whether the file was created by an orderly stop: it is then the last one, and has no claims. */
  readonly closed: boolean;
  /** The spans of time whose claims are unknown. */
  readonly forgotten: readonly Readonly<Span>[];
  /** The earlier files that are needed. */
  readonly files: readonly Extent[];
}

/** Formats lines for a file. */
export class RecordLines {
  /** All lines. */
  text = '';
  /** The checksum of the last one. */
  crc: number;

  /** @param crc the checksum of the previous line */
  constructor(crc = 0) {
    this.crc = crc;
  }

  addHeader({ opened, boot, window, synced, closed, forgotten, files }: Header): void {
    const members = {
      version,
      opened: formatIsoDate(opened),
      boot,
      window,
      synced,
      closed,
      forgotten: forgotten.map(({ from, to }) => [formatIsoDate(from), formatIsoDate(to)]),
      files: files.map(({ number, bytes, crc }) => ({ number, bytes, crc: formatChecksum(crc) })),
    };
    this.#add(JSON.stringify(members).slice(1));
  }

  addClaim({ until, user, nonce }: Claim): void {
    const time = formatIsoDate(Math.ceil(until));
    this.#add(`"until":"${time}","user":${JSON.stringify(user)},"nonce":${JSON.stringify(nonce)}}`);
  }

  #add(members: string): void {
    const rest = `,${members}\n`;
    this.crc = crc32(rest, this.crc);
    this.text += prefixOf(this.crc) + rest;
  }
}

/** The content of a file. */
export interface RecordContent {
  /** The first line; undefined if it is invalid. */
  readonly header: Header | undefined;
  /** The number of valid lines from the start of the file. */
  readonly lines: number;
  /** The length of these lines in bytes. */
  readonly bytes: number;
  /** The checksum of the last of these lines. */
  readonly crc: number;
  /** What follows these lines: an incomplete line, one invalid line, or an invalid line and others. */
  readonly rest: 'nothing' | 'incomplete line' | 'invalid line' | 'invalid lines';
}

/**
 * Reads the bytes of a file, and calls `onClaim` with every claim before the first invalid line. Throws CorruptionError
 * for a line that has a correct checksum but an unknown content.
 * @param file the path of the file for messages
 */
export function readRecord(
  file: string,
  content: Uint8Array,
  onClaim: (claim: Claim, header: Header) => void,
): RecordContent {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const claims = new ClaimReader(file);
  let header: Header | undefined;
  let [lines, start, crc] = [0, 0, 0];
  while (start < bytes.length) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const sum = crc32(bytes.subarray(start + prefixLength, end), crc);
    if (newline < 0 || bytes.toString('latin1', start, start + prefixLength) !== prefixOf(sum)) {
      const rest = newline < 0 ? 'incomplete line' : end === bytes.length ? 'invalid line' : 'invalid lines';
      return { header, lines, bytes: start, crc, rest };
    }
    lines += 1;
    if (header === undefined) header = readHeader(file, bytes.subarray(start, end));
    else onClaim(claims.read(bytes.toString('utf8', start, end), lines), header);
    start = end;
    crc = sum;
  }
  return { header, lines, bytes: start, crc, rest: 'nothing' };
}

function readHeader(file: string, line: Uint8Array): Header {
  const document = new JsonFields(file);
  const names = ['crc', 'opened', 'boot', 'window', 'synced', 'closed', 'forgotten', 'files'];
  const members = document.versioned(line, version, names);
  const boot = members.get('boot');
  return {
    opened: document.time(members.get('opened'), 'opened'),
    boot: boot === undefined ? undefined : document.text(boot, 'boot'),
    window: document.count(members.get('window'), 'window'),
    synced: members.get('synced') === true,
    closed: members.get('closed') === true,
    forgotten: document.array(members.get('forgotten'), 'forgotten').map((span) => {
      const [from, to] = document.array(span, 'a span of forgotten');
      return {
        from: document.time(from, 'a start of forgotten'),
        to: document.time(to, 'an end of forgotten'),
      };
    }),
    files: document.array(members.get('files'), 'files').map((file) => {
      const extent = document.object(file, 'a file of files', ['number', 'bytes', 'crc']);
      return {
        number: document.count(extent.get('number'), 'a number of files'),
        bytes: document.count(extent.get('bytes'), 'bytes of files'),
        crc: Number.parseInt(document.text(extent.get('crc'), 'crc of files'), 16),
      };
    }),
  };
}

/** Parses the claims of one file. */
class ClaimReader {
  readonly #document: JsonFields;
  /** The last parsed date. Many claims have the same date. */
  #date = '';
  #time = Number.NaN;

  constructor(file: string) {
    this.#document = new JsonFields(file);
  }

  read(text: string, line: number): Claim {
    // The checksum is correct, so the line is JSON that some version of this program wrote.
    const value: unknown = JSON.parse(text);
    if (
      typeof value === 'object' &&
      value !== null &&
      'until' in value &&
      'user' in value &&
      'nonce' in value
    ) {
      const { until, user, nonce } = value;
      if (typeof until === 'string' && typeof user === 'string' && typeof nonce === 'string') {
        return { user, nonce, until: this.#timeOf(until, line) };
      }
    }
    throw this.#document.corruption(`line ${line} is not a claim`);
  }

  #timeOf(date: string, line: number): number {
    if (date !== this.#date) {
      const time = parseIsoDate(date);
      if (time === undefined) throw this.#document.corruption(`until of line ${line} is not a date`);
      this.#date = date;
      this.#time = time;
    }
    return this.#time;
  }
}

/** Returns the beginning of a line with this checksum. */
function prefixOf(checksum: number): string {
  return `{"crc":"${formatChecksum(checksum)}"`;
}
