import { formatIsoDate, parseIsoDate } from '../encoding/iso-date.ts';
import { JsonFields } from '../encoding/json-fields.ts';
import { ChainedLines, formatChecksum } from '../log/line.ts';
import type { LogFormat } from '../log/reader.ts';
import type { Span } from './time.ts';

/** The version of the format of the files `nonces-N.jsonl`, which is described in docs/data-format.md. */
const version = 1;

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
export class RecordLines extends ChainedLines {
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
    this.add(JSON.stringify(members).slice(1));
  }

  addClaim({ until, user, nonce }: Claim): void {
    const time = formatIsoDate(Math.ceil(until));
    this.add(`"until":"${time}","user":${JSON.stringify(user)},"nonce":${JSON.stringify(nonce)}}`);
  }
}

/** The format of the file at `path`. Its parsers throw CorruptionError: the checksum shows that some version wrote the line. */
export function createRecordFormat(path: string): LogFormat<Header, Claim> {
  const claims = new ClaimReader(path);
  return {
    coverage: 'chain',
    preallocated: false,
    parseHeader: (text) => readHeader(path, text),
    parseEntry: (text, line) => claims.read(text, line),
  };
}

function readHeader(file: string, text: string): Header {
  const document = new JsonFields(file);
  const names = ['crc', 'opened', 'boot', 'window', 'synced', 'closed', 'forgotten', 'files'];
  const members = document.versioned(Buffer.from(text), version, names);
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
        return { user, nonce, until: this.#parseTime(until, line) };
      }
    }
    throw this.#document.corruption(`line ${line} is not a claim`);
  }

  #parseTime(date: string, line: number): number {
    if (date !== this.#date) {
      const time = parseIsoDate(date);
      if (time === undefined) throw this.#document.corruption(`until of line ${line} is not a date`);
      this.#date = date;
      this.#time = time;
    }
    return this.#time;
  }
}
