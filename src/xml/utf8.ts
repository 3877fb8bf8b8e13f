import { isAscii, isUtf8, transcode } from 'node:buffer';
import * as characters from './characters.ts';

// Destructured, because V8 constant-folds local constants but not imported ones. This makes the scan a third
// faster.
const { FIRST_ILLEGAL, WIDE, WIDE_ILLEGAL } = characters;

const NO_UNITS = new Uint16Array(0);
export const NO_WORDS: Int32Array = new Int32Array(0);
const NO_PAIRS = new Uint32Array(0);
const NO_BYTES = Buffer.alloc(0);

/** The result of validating bytes as UTF-8 (RFC 3629). */
interface Validity {
  /** The number of bytes in complete, valid characters. */
  readonly length: number;
  /** Whether the following bytes are invalid. If not, they may be the beginning of a character. */
  readonly broken: boolean;
}

/** Up to this many bytes, a loop is as fast as a call into Node. */
const FEW = 16;

/**
 * Returns whether the bytes are ASCII. Tests the first bytes in JavaScript, because other text rarely begins
 * with many ASCII characters.
 */
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

/** The function that `toString('latin1')` calls, if this Node.js exposes it. */
const latin1Slice = isSliced(NO_BYTES) ? NO_BYTES.latin1Slice : undefined;

/** Returns the text of ASCII bytes. Any other byte becomes one character. */
export function asciiText(bytes: Uint8Array): string {
  if (latin1Slice !== undefined) return latin1Slice.call(bytes, 0, bytes.length);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** Validates bytes as UTF-8. */
export function checkUtf8(bytes: Uint8Array): Validity {
  const whole = bytes.length - countUnfinished(bytes);
  if (whole === sequenceAt(bytes, 0, whole)) return { length: whole, broken: false }; // a single character that arrived byte by byte
  if (isUtf8(whole === bytes.length ? bytes : bytes.subarray(0, whole)))
    return { length: whole, broken: false };
  return { length: firstInvalid(bytes, whole), broken: true };
}

/** From this many bytes on, `transcode` is faster than a loop. */
const LONG = 512;

/** False in builds of Node.js without ICU. */
const CAN_TRANSCODE = typeof transcode === 'function';

/**
 * Decodes UTF-8 that is not ASCII into a string and the codes of its units. `toString()` takes 4 ns per byte.
 * `transcode` processes many bytes at once and takes 0.3 ns per byte, but the codes must then be derived from
 * its units. Short chunks are decoded in JavaScript at 1 ns per byte.
 */
export class Utf8Decoder {
  /** The codes of the last decoded bytes, followed by 0. */
  codes: Buffer = NO_BYTES;
  /** The codes as words of four. */
  words: Int32Array = NO_WORDS;
  text = '';
  private units = NO_UNITS;
  private unitBytes = NO_BYTES;
  /** Units and codes in pairs. */
  private pairs: Uint32Array = NO_PAIRS;
  private codePairs: Uint16Array = NO_UNITS;

  /** Decodes `bytes[0..length)`, which must be valid. */
  decode(bytes: Uint8Array, length: number): void {
    if (this.codes.length <= length) this.grow(length + 1);
    const count =
      length >= LONG && CAN_TRANSCODE ? this.decodeLong(bytes, length) : this.decodeShort(bytes, length);
    this.codes[count] = 0; // stops every scan
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
    decoded.copy(this.unitBytes); // aligned, so that units can be read in pairs
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

/** The codes of two units that are both {@link WIDE}. */
const WIDE_PAIR = 0x8080;

/** The number of units above ASCII that are legal. */
const WIDE_UNITS = FIRST_ILLEGAL - WIDE;

/**
 * Writes the codes of `count` pairs of units. Text that is not ASCII has long runs of such units, so most
 * pairs take one comparison per unit.
 */
function writeCodes(pairs: Uint32Array, codePairs: Uint16Array, count: number): void {
  for (let index = 0; index < count; index++) {
    const pair = pairs[index] ?? 0;
    const first = pair & 0xffff;
    const second = pair >>> 16;
    codePairs[index] =
      (first - WIDE) >>> 0 < WIDE_UNITS && (second - WIDE) >>> 0 < WIDE_UNITS
        ? WIDE_PAIR
        : toCode(first) | (toCode(second) << 8);
  }
}

function toCode(unit: number): number {
  if (unit < WIDE) return unit;
  return unit < FIRST_ILLEGAL ? WIDE : WIDE_ILLEGAL;
}

/**
 * Writes the UTF-16 units and the codes of `bytes[0..length)`, which must be valid UTF-8; returns their
 * number.
 */
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
      codes[count++] = toCode(unit);
      at += long ? 3 : 2;
    }
  }
  return count;
}

/** Writes a surrogate pair; returns the new number of units. */
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

/** Returns how many bytes at the end begin an incomplete character: 0 to 3. */
function countUnfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < sequenceLength(byte) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Returns the length of the sequence that a lead byte begins. */
export function sequenceLength(lead: number): number {
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 1;
}

/** Returns where the first invalid sequence begins; `length` if all are valid. */
function firstInvalid(bytes: Uint8Array, length: number): number {
  let at = 0;
  while (at < length) {
    const size = sequenceAt(bytes, at, length);
    if (size === 0) return at;
    at += size;
  }
  return length;
}

/** Returns the length of the sequence at `at`, or 0 if it is invalid (RFC 3629 §4). */
function sequenceAt(bytes: Uint8Array, at: number, length: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const size = sequenceLength(lead);
  if (lead < 0xc2 || lead > 0xf4 || at + size > length) return 0;
  const second = bytes[at + 1] ?? 0;
  const min = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const max = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < min || second > max) return 0;
  for (let index = 2; index < size; index++) {
    if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return size;
}
