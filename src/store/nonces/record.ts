import { crc32 } from '../encoding/crc32.ts';
import { formatIsoDate, parseIsoDate } from '../encoding/iso-date.ts';
import { JsonFields } from '../encoding/json-fields.ts';
import type { Span } from './time.ts';

/**
 * The format of the files `nonces-N.jsonl`. Every line is JSON and begins with `{"crc":"xxxxxxxx"`: the CRC-32 of
 * what follows in the line, its end included, begun with that of the line before, so that no line can be missing,
 * stand twice or have another's place. The first line says what the file is; each further one is a claim.
 */
const version = 1;

/** What every line begins with; the checksum of what follows is in the place of the x. */
const emptyPrefix = '{"crc":"xxxxxxxx"';
const prefixLength = emptyPrefix.length;
const firstDigit = emptyPrefix.indexOf('x');
const digits = '0123456789abcdef';

/** The earliest and the latest time there is (ECMA-262 §21.4.1.1), in ms. */
export const earliest = -8.64e15;
export const latest = 8.64e15;

/** A claim as it is kept. */
export interface Claim {
  readonly user: string;
  readonly nonce: string;
  /** The time (ms) up to which a request that carries it could be accepted. */
  readonly until: number;
}

/** How far a file reaches that is written no more. */
export interface Extent {
  readonly number: number;
  readonly bytes: number;
  /** The checksum of its last line. */
  readonly crc: number;
}

/** What a file says of itself and of those before it. */
export interface Header {
  /** When it was begun, by the clock (ms). */
  readonly opened: number;
  /** Which start of the host that was in; undefined where the host does not say. */
  readonly boot: string | undefined;
  /** How far a date could be from the clock (ms): what `until` is counted with. */
  readonly window: number;
  /** Whether the files before are on the medium, and not only with the system. */
  readonly synced: boolean;
  /** Whether it was made by a server that stopped in order: it is the last then, and has no claims. */
  readonly closed: boolean;
  /** Times of which claims are not known any more. */
  readonly forgotten: readonly Readonly<Span>[];
  /** The files before it that count. */
  readonly files: readonly Extent[];
}

/** Gathers lines for a file. */
export class RecordLines {
  /** All lines so far. */
  text = '';
  /** The checksum of the last one. */
  crc: number;

  /** They follow a line with this checksum. */
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
      files: files.map(({ number, bytes, crc }) => ({ number, bytes, crc: hex(crc) })),
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
    this.text += `{"crc":"${hex(this.crc)}"${rest}`;
  }
}

/** What is in a file. */
export interface RecordContent {
  /** Undefined when already the first line is bad. */
  readonly header: Header | undefined;
  /** How many lines are good, and all before them. */
  readonly lines: number;
  /** How many bytes these have. */
  readonly bytes: number;
  /** The checksum of the last of them. */
  readonly crc: number;
  /** What follows them: nothing, a line without its end, one that is not what was written, or more. */
  readonly rest: 'nothing' | 'cut line' | 'bad line' | 'bad lines';
}

/**
 * Reads the bytes of a file, `file` being its path for messages, and shows every claim up to the first line that is bad.
 * Throws CorruptionError for lines that are as they were written and yet say nothing that is known.
 */
export function readRecord(
  file: string,
  content: Uint8Array,
  show: (claim: Claim, header: Header) => void,
): RecordContent {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const claims = new ClaimReader(file);
  let header: Header | undefined;
  let [lines, start, crc] = [0, 0, 0];
  while (start < bytes.length) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const sum = crc32(bytes.subarray(start + prefixLength, end), crc);
    if (newline < 0 || !beginsWith(bytes, start, sum)) {
      const rest = newline < 0 ? 'cut line' : end === bytes.length ? 'bad line' : 'bad lines';
      return { header, lines, bytes: start, crc, rest };
    }
    lines += 1;
    if (header === undefined) header = readHeader(file, bytes.subarray(start, end));
    else show(claims.read(bytes.toString('utf8', start, end), lines), header);
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

/** Reads the lines of one file's claims. */
class ClaimReader {
  readonly #document: JsonFields;
  /** The date that was read last: many claims share one. */
  #date = '';
  #time = Number.NaN;

  constructor(file: string) {
    this.#document = new JsonFields(file);
  }

  read(text: string, line: number): Claim {
    // Its checksum fits, so it is a line that some version of this program wrote.
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
    throw this.#document.damage(`line ${line} is no claim`);
  }

  #timeOf(date: string, line: number): number {
    if (date !== this.#date) {
      const time = parseIsoDate(date);
      if (time === undefined) throw this.#document.damage(`until of line ${line} is not a date`);
      this.#date = date;
      this.#time = time;
    }
    return this.#time;
  }
}

/** Whether the line that starts there begins with this checksum. */
function beginsWith(bytes: Uint8Array, start: number, crc: number): boolean {
  for (let place = 0; place < prefixLength; place += 1) {
    const digit = place - firstDigit;
    const code =
      digit >= 0 && digit < 8
        ? digits.charCodeAt((crc >>> (28 - 4 * digit)) & 15)
        : emptyPrefix.charCodeAt(place);
    if (bytes[start + place] !== code) return false;
  }
  return true;
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}
