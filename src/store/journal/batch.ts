import { crc32 } from '../encoding/crc32.ts';
import { formatLineBody, type JournalLineHead, prefixLength } from './line.ts';

/** So many characters are gathered before they are made bytes: to do it for many lines at once is faster. */
const mostGathered = 32_768;
/** The bytes that there is room for at first, and that are kept for the next batch at most. */
const smallest = 65_536;
const largestKept = 1024 * 1024;

const emptyPrefix = '{"crc":"00000000",';
/** Where the digits of the checksum are. */
const firstDigit = emptyPrefix.indexOf('0');
const hexDigits = '0123456789abcdef';
const digits = Buffer.from(hexDigits);
const newline = 0x0a;

/** The most bytes that one character of a text (UTF-16) takes in UTF-8. */
const mostPerCharacter = 3;

/** Gathers the lines of a batch as bytes. */
export class JournalBatch {
  #buffer: Buffer = Buffer.allocUnsafeSlow(smallest);
  /** How many bytes there are. */
  #length = 0;
  /** Lines that are not bytes yet. */
  #text = '';

  /** How many bytes there are, or a few more. */
  get length(): number {
    return this.#length + this.#text.length * mostPerCharacter;
  }

  /** The lines; good until the next one is added. */
  get bytes(): Uint8Array {
    this.#encode();
    return this.#buffer.subarray(0, this.#length);
  }

  /** Adds a line; `members` are those of its item, as JSON. */
  add(line: JournalLineHead, members: string): void {
    this.#text += `${emptyPrefix}${formatLineBody(line, members)}\n`;
    if (this.#text.length >= mostGathered) this.#encode();
  }

  /** Forgets all lines. */
  clear(): void {
    this.#length = 0;
    this.#text = '';
    if (this.#buffer.length > largestKept) this.#buffer = Buffer.allocUnsafeSlow(smallest);
  }

  /** Makes bytes of what is text. */
  #encode(): void {
    const text = this.#text;
    this.#text = '';
    this.#reserve(text);
    let start = this.#length;
    this.#length += this.#buffer.write(text, start);
    while (start < this.#length) {
      const end = this.#buffer.indexOf(newline, start);
      this.#seal(start + firstDigit, crc32(this.#buffer.subarray(start + prefixLength, end)));
      start = end + 1;
    }
  }

  #reserve(text: string): void {
    const free = this.#buffer.length - this.#length;
    if (text.length * mostPerCharacter <= free) return;
    const needed = this.#length + Buffer.byteLength(text);
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  #seal(at: number, checksum: number): void {
    for (let digit = 0; digit < 8; digit += 1) {
      // Four bits always name one of the sixteen digits.
      this.#buffer[at + digit] = digits[(checksum >>> (28 - 4 * digit)) & 15] ?? 0;
    }
  }
}
