import { isAscii, isUtf8, transcode } from 'node:buffer';
import * as characters from './characters.ts';

// Constants of this module, not imported ones, are folded into the machine code: it is a third faster.
const { FIRST_ILLEGAL, WIDE, WIDE_ILLEGAL } = characters;

const NO_UNITS = new Uint16Array(0);
/** No words at all. */
export const NO_WORDS: Int32Array = new Int32Array(0);
const NO_PAIRS = new Uint32Array(0);
const NO_BYTES = Buffer.alloc(0);

/** How far bytes are UTF-8 (RFC 3629). */
export interface Validity {
  /** How many of them are whole characters. */
  readonly length: number;
  /** True if what comes after those can never be UTF-8; else it may be the beginning of a character. */
  readonly broken: boolean;
}

/** So many bytes a loop looks at as quickly as a call into Node comes back. */
const FEW = 16;

/** True if bytes are ASCII. Text that is not shows it at its beginning, more often than not. */
export function areAscii(bytes: Uint8Array): boolean {
  const few = Math.min(bytes.length, FEW);
  for (let at = 0; at < few; at++) {
    if ((bytes[at] ?? 0) >= 0x80) return false;
  }
  return bytes.length <= FEW || isAscii(bytes);
}

interface Sliced {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
}

function isSliced(bytes: Buffer): bytes is Buffer & Sliced {
  return 'latin1Slice' in bytes;
}

/** What `toString('latin1')` comes to after a while of looking for it, where Node has it. */
const latin1Slice = isSliced(NO_BYTES) ? NO_BYTES.latin1Slice : undefined;

/** The text of ASCII bytes; for others, one character for each. */
export function asciiText(bytes: Uint8Array): string {
  if (latin1Slice !== undefined) return latin1Slice.call(bytes, 0, bytes.length);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** Finds how far bytes are UTF-8. */
export function validityOf(bytes: Uint8Array): Validity {
  const whole = bytes.length - unfinished(bytes);
  if (whole === sequenceAt(bytes, 0, whole)) return { length: whole, broken: false }; // one character, come byte by byte
  if (isUtf8(whole === bytes.length ? bytes : bytes.subarray(0, whole)))
    return { length: whole, broken: false };
  return { length: firstInvalid(bytes, whole), broken: true };
}

/** From this many bytes on, the calls into Node cost less than what they save. */
const LONG = 512;

/** False where Node was built without the tables of Unicode. */
const CAN_TRANSCODE = typeof transcode === 'function';

/**
 * Decodes UTF-8 that is not ASCII, into the string and the codes of its units. `toString()` takes 4 ns a byte for
 * that. `transcode`, which looks at many bytes at once, takes 0.3 ns, and leaves the units, a third as many as the
 * bytes, to be looked up one by one; short stretches are decoded here at 1 ns a byte, without a call.
 */
export class Utf8Decoder {
  /** The codes of what was decoded last, and behind them a 0. */
  codes: Buffer = NO_BYTES;
  /** The same, four codes at a time. */
  words: Int32Array = NO_WORDS;
  text = '';
  private units = NO_UNITS;
  private unitBytes = NO_BYTES;
  /** Both again, two units and two codes at a time. */
  private pairs: Uint32Array = NO_PAIRS;
  private codePairs: Uint16Array = NO_UNITS;

  /** Decodes `bytes[0..length)`, which is valid. */
  decode(bytes: Uint8Array, length: number): void {
    if (this.codes.length <= length) this.grow(length + 1);
    const count =
      length >= LONG && CAN_TRANSCODE ? this.decodeLong(bytes, length) : this.decodeShort(bytes, length);
    this.codes[count] = 0; // stops every scan, as reading behind the end of a Buffer does
  }

  private decodeShort(bytes: Uint8Array, length: number): number {
    const count = decode(bytes, length, this.units, this.codes);
    this.text =
      count === 1
        ? String.fromCharCode(this.units[0] ?? 0)
        : this.unitBytes.toString('utf16le', 0, 2 * count);
    return count;
  }

  private decodeLong(bytes: Uint8Array, length: number): number {
    const decoded = transcode(bytes.subarray(0, length), 'utf8', 'utf16le');
    const count = decoded.length >> 1;
    this.units[count] = 0;
    decoded.copy(this.unitBytes); // where they can be read two at a time
    writeCodes(this.pairs, this.codePairs, (count + 1) >> 1);
    this.text = decoded.toString('utf16le');
    return count;
  }

  private grow(length: number): void {
    const size = 4 * Math.ceil(Math.max(length, 2 * this.codes.length) / 4);
    this.units = new Uint16Array(size);
    this.unitBytes = Buffer.from(this.units.buffer);
    this.pairs = new Uint32Array(this.units.buffer);
    this.codes = Buffer.allocUnsafeSlow(size);
    this.words = new Int32Array(this.codes.buffer);
    this.codePairs = new Uint16Array(this.codes.buffer);
  }
}

/** Two units that are both {@link WIDE}, as codes. */
const WIDE_PAIR = 0x8080;

/** How many units, from the first wide one on, are neither ASCII nor illegal. */
const WIDE_UNITS = FIRST_ILLEGAL - WIDE;

/**
 * Writes the codes of `count` pairs of units. Text that is not ASCII has long runs of units that are not, so that
 * most pairs take one comparison each and no look-up.
 */
function writeCodes(pairs: Uint32Array, codePairs: Uint16Array, count: number): void {
  for (let index = 0; index < count; index++) {
    const pair = pairs[index] ?? 0;
    const first = pair & 0xffff;
    const second = pair >>> 16;
    codePairs[index] =
      (first - WIDE) >>> 0 < WIDE_UNITS && (second - WIDE) >>> 0 < WIDE_UNITS
        ? WIDE_PAIR
        : codeOf(first) | (codeOf(second) << 8);
  }
}

function codeOf(unit: number): number {
  if (unit < WIDE) return unit;
  return unit < FIRST_ILLEGAL ? WIDE : WIDE_ILLEGAL;
}

/** Writes the UTF-16 units of `bytes[0..length)`, which is valid UTF-8, and their codes; returns how many. */
function decode(bytes: Uint8Array, length: number, units: Uint16Array, codes: Uint8Array): number {
  let count = 0;
  let at = 0;
  while (at < length) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      units[count] = lead;
      codes[count++] = lead;
      at += 1;
    } else if (lead >= 0xf0) {
      count = decodePair(bytes, at, units, codes, count);
      at += 4;
    } else {
      const long = lead >= 0xe0;
      const next = (bytes[at + 1] ?? 0) & 0x3f;
      const unit = long
        ? ((lead & 0x0f) << 12) | (next << 6) | ((bytes[at + 2] ?? 0) & 0x3f)
        : ((lead & 0x1f) << 6) | next;
      units[count] = unit;
      codes[count++] = codeOf(unit);
      at += long ? 3 : 2;
    }
  }
  return count;
}

/** Writes a surrogate pair. */
function decodePair(
  bytes: Uint8Array,
  at: number,
  units: Uint16Array,
  codes: Uint8Array,
  count: number,
): number {
  const high = (((bytes[at] ?? 0) & 0x07) << 18) | (((bytes[at + 1] ?? 0) & 0x3f) << 12);
  const point = high | (((bytes[at + 2] ?? 0) & 0x3f) << 6) | ((bytes[at + 3] ?? 0) & 0x3f);
  units[count] = 0xd800 + ((point - 0x10000) >> 10);
  units[count + 1] = 0xdc00 + (point & 0x3ff);
  codes[count] = codes[count + 1] = WIDE;
  return count + 2;
}

/** How many bytes at the end begin a character that is not whole: 0 to 3. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < sequenceLength(byte) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** How many bytes the character has that a lead byte begins. */
export function sequenceLength(lead: number): number {
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 1;
}

/** Where the first sequence begins that is not UTF-8; `length` if there is none. */
function firstInvalid(bytes: Uint8Array, length: number): number {
  let at = 0;
  while (at < length) {
    const size = sequenceAt(bytes, at, length);
    if (size === 0) return at;
    at += size;
  }
  return length;
}

/** The length of the sequence at `at`, 0 if it is none (RFC 3629 §4). */
function sequenceAt(bytes: Uint8Array, at: number, length: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const size = sequenceLength(lead);
  if (lead < 0xc2 || lead > 0xf4 || at + size > length) return 0;
  const second = bytes[at + 1] ?? 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  for (let index = 2; index < size; index++) {
    if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return size;
}
