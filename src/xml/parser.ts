import { CARRIAGE_RETURN, LESS_THAN } from './characters.ts';
import { clipText, XmlError } from './error.ts';
import { readLimits, type XmlHandler, type XmlParserOptions } from './handler.ts';
import { advance, type Ending, NO_BYTES, type Position, Reader, UNDECODED } from './reader.ts';
import { TokenBuffer } from './token-buffer.ts';
import { areAscii, asciiText, checkUtf8, Utf8Decoder } from './utf8.ts';

/** A streaming parser for one document. */
export interface XmlParser {
  /**
   * Parses a chunk of the document. The parser does not retain the bytes.
   * @throws {XmlError} at the first error, after all events before it; every later call throws the same error
   */
  write(bytes: Uint8Array): void;
  /**
   * Ends the document.
   * @throws {XmlError} if the document is incomplete
   */
  end(): void;
  /** Returns the position at which the current event begins; line and column from 1, in characters. */
  position(): { line: number; column: number };
}

/**
 * Creates a streaming, non-validating parser for XML 1.0 (fifth edition) in UTF-8.
 *
 *   document    ::= declaration? misc* element misc*          misc ::= comment | instruction | S
 *   element     ::= '<' Name (S attribute)* S? ('/>' | '>' content '</' Name S? '>')
 *   attribute   ::= Name S? '=' S? ('"' value '"' | "'" value "'")
 *   content     ::= (text | reference | element | comment | instruction | '<![CDATA[' … ']]>')*
 *   reference   ::= '&' ('lt' | 'gt' | 'amp' | 'apos' | 'quot' | '#' [0-9]+ | '#x' [0-9A-Fa-f]+) ';'
 *   comment     ::= '<!--' … '-->'                            instruction ::= '<?' Name (S …)? '?>'
 *
 * It rejects document type declarations, and therefore does not support entity declarations, default
 * attribute values and attribute types. It does not support encodings other than UTF-8.
 */
export function createParser(handler: XmlHandler, options: XmlParserOptions = {}): XmlParser {
  return new Parser(handler, readLimits(options));
}

/** Larger chunks are split into pieces of this size, which bounds the memory for decoded text. */
const MAX_CHUNK = 65_536;

/** From this size on, a chunk is examined first, so that long runs of text can be skipped. */
const LONG_CHUNK = 1024;

/** A UTF-16 unit takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;

/** The first byte that begins a multi-byte sequence of UTF-8. */
const FIRST_LEAD = 0xc2;

/** The ASCII characters as strings. */
const ASCII: readonly string[] = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code));

// The states of a parser.
const READY = 0;
const BUSY = 1; // inside write() or end(), which handlers must not call
const ENDED = 2; // after end()
const FAILED = 3; // after an error

class Parser extends Reader implements XmlParser {
  private state = READY;
  private failure: unknown = undefined;
  /** Whether the encoding has been detected. */
  private encodingKnown = false;
  private pending: TokenBuffer | undefined = undefined;
  private decoder: Utf8Decoder | undefined = undefined;
  private copy = NO_BYTES;

  write(bytes: Uint8Array): void {
    if (this.state !== READY) throw this.closedError();
    this.state = BUSY;
    try {
      if (bytes.length <= MAX_CHUNK) this.receive(bytes);
      else
        for (let from = 0; from < bytes.length; from += MAX_CHUNK)
          this.receive(bytes.subarray(from, from + MAX_CHUNK));
      this.state = READY;
    } catch (error) {
      throw this.fail(error);
    }
  }

  end(): void {
    if (this.state !== READY) throw this.closedError();
    this.state = BUSY;
    try {
      this.finish();
      this.state = ENDED;
    } catch (error) {
      throw this.fail(error);
    }
  }

  position(): Position {
    return this.positionOf(this.begin);
  }

  private fail(error: unknown): unknown {
    this.state = FAILED;
    this.failure = error;
    return error;
  }

  private closedError(): unknown {
    if (this.state === FAILED) return this.failure;
    const found = this.state === BUSY ? 'a call from a handler' : 'a call after end()';
    return new XmlError('closed', { ...this.position(), path: '', found, expected: 'no further call' });
  }

  private receive(bytes: Uint8Array): void {
    if (this.pending !== undefined && this.pending.length > 0) this.receiveBuffered(bytes, this.pending);
    else if (this.encodingKnown && isLead(bytes)) this.buffer(bytes);
    else this.receiveUnbuffered(bytes);
  }

  private receiveUnbuffered(bytes: Uint8Array): void {
    const mark = this.encodingKnown ? 0 : this.detectEncoding(bytes);
    const rest = mark < 0 ? bytes.length : this.read(mark === 0 ? bytes : bytes.subarray(mark), undefined);
    if (rest > 0) this.buffer(bytes.subarray(bytes.length - rest));
  }

  private buffer(bytes: Uint8Array): void {
    this.pending ??= new TokenBuffer();
    this.pending.append(bytes);
  }

  /** Appends the bytes to the buffered ones and parses all of them. */
  private receiveBuffered(bytes: Uint8Array, pending: TokenBuffer): void {
    pending.append(bytes);
    if (!this.encodingKnown) {
      const mark = this.detectEncoding(pending.view());
      if (mark < 0) return;
      pending.drop(mark);
    }
    // With more bytes than this, the token is too long even if it is incomplete.
    if (pending.length <= BYTES_PER_UNIT * this.limits.maxToken && !pending.mayBeWhole()) return;
    const rest = this.read(pending.view(), undefined);
    pending.drop(pending.length - rest);
  }

  /** Detects the encoding. Returns the length of the byte order mark, or −1 if more bytes are required. */
  private detectEncoding(bytes: Uint8Array, whole = false): number {
    if (bytes.length < SIGNATURE_BYTES && !whole) return -1;
    this.encodingKnown = true;
    if (bytes[0] === LESS_THAN && bytes[1] !== 0) return 0;
    const encoding = detectEncoding(bytes);
    if (encoding !== undefined)
      throw this.errorAt('encoding', 0, 'UTF-8', `a document in ${encoding}`, encoding);
    this.hasMark = hasByteOrderMark(bytes);
    return this.hasMark ? MARK_BYTES : 0;
  }

  /** Parses all complete tokens; returns how many bytes remain. */
  private read(bytes: Uint8Array, ending: Ending | undefined): number {
    if (this.cursor > 0) this.finishChunk();
    const first = bytes[0] ?? 0;
    if (bytes.length === 1 && first < ASCII.length) this.setSingleByte(first);
    else if (
      bytes.length < LONG_CHUNK &&
      first < ASCII.length &&
      this.decoder === undefined &&
      ending === undefined
    )
      return this.readRaw(bytes);
    else if (areAscii(bytes)) this.setAscii(bytes);
    else return this.readDecoded(bytes, ending);
    this.ending = ending;
    this.scan();
    return this.length - this.cursor;
  }

  /**
   * Parses a short chunk on the assumption that it is ASCII. The scan examines each byte anyway; at a byte
   * that is not ASCII it returns to the beginning of the token. Testing the chunk first would add a tenth to
   * the time of a short document.
   */
  private readRaw(bytes: Uint8Array): number {
    this.setChunk(bytes, asciiText(bytes), false);
    this.raw = true;
    try {
      this.scan();
    } catch (error) {
      if (error !== UNDECODED) throw error;
      this.restart();
    }
    this.raw = false;
    const rest = this.length - this.cursor;
    if (rest === 0 || this.isRestAscii(this.cursor)) return rest;
    if (rest < this.length) this.finishChunk();
    return this.readDecoded(bytes.subarray(bytes.length - rest), undefined);
  }

  private setAscii(bytes: Uint8Array): void {
    const text = asciiText(bytes);
    if (bytes.length < LONG_CHUNK) this.setChunk(bytes, text, false);
    else this.setChunk(this.withTerminator(bytes), text, isPlain(bytes));
  }

  /** Sets a chunk of one ASCII byte without calling Node, which would dominate the cost. */
  private setSingleByte(byte: number): void {
    if (this.copy.length < 2) this.copy = Buffer.alloc(2);
    this.copy[0] = byte;
    this.copy[1] = 0;
    this.setChunk(this.copy, ASCII[byte] ?? '', false);
  }

  private readDecoded(bytes: Uint8Array, ending: Ending | undefined): number {
    const { length, broken } = checkUtf8(bytes);
    this.decoder ??= new Utf8Decoder();
    this.decoder.decode(bytes, length);
    this.setChunk(this.decoder.codes, this.decoder.text, false);
    this.words = this.decoder.words;
    const invalid = broken || (ending !== undefined && length < bytes.length);
    this.ending = invalid ? { code: 'invalid-utf8', found: byteName(bytes[length]) } : ending;
    this.scan();
    if (invalid) throw this.invalidUtf8();
    const cut = bytes.length - length;
    return this.cursor === this.length ? cut : cut + Buffer.byteLength(this.text.substring(this.cursor));
  }

  /**
   * Returns a copy with a terminating 0. Because scans stop at the 0, they never read past the end of the
   * Buffer, and V8 omits the code for that case. This saves a seventh of the time.
   */
  private withTerminator(bytes: Uint8Array): Buffer {
    if (this.copy.length <= bytes.length) {
      this.copy = Buffer.allocUnsafeSlow(Math.max(bytes.length + 1, 2 * this.copy.length));
    }
    this.copy.set(bytes);
    this.copy[bytes.length] = 0;
    return this.copy;
  }

  private setChunk(codes: Uint8Array, text: string, plain: boolean): void {
    this.codes = codes;
    this.text = text;
    this.length = text.length;
    this.plain = plain;
    this.ampersand = this.bracket = -1;
  }

  /** Advances the position past the chunk that was parsed last. A document in one chunk is never counted. */
  private finishChunk(): void {
    const { codes, cursor, decoder } = this;
    // String.indexOf for CR is slow in text with many units above ASCII, so the codes are searched instead.
    const firstReturn = codes === decoder?.codes ? codes.indexOf(CARRIAGE_RETURN) : undefined;
    this.chunkStart = advance(this.chunkStart, this.text, cursor, this.afterReturn, firstReturn);
    this.afterReturn = this.text.charCodeAt(this.cursor - 1) === CARRIAGE_RETURN;
    this.fresh = false;
    this.begin = this.cursor = 0;
  }

  private invalidUtf8(): XmlError {
    this.begin = this.length;
    return this.errorAt('invalid-utf8', this.length, 'UTF-8', this.ending?.found);
  }

  private finish(): void {
    let waiting = this.pending?.view() ?? NO_BYTES;
    if (!this.encodingKnown) waiting = waiting.subarray(this.detectEncoding(waiting, true));
    if (waiting.length > 0) this.read(waiting, { code: 'truncated', found: 'the end of the document' });
    this.begin = this.length;
    if (this.inSection) throw this.errorAt('truncated', this.length, '"]]>"');
    const inner = this.depth === 0 ? undefined : this.open[this.depth - 1];
    if (inner !== undefined) throw this.errorAt('unclosed', this.length, `</${clipText(inner.text)}>`);
    if (this.rooted) return;
    throw this.errorAt(this.fresh && this.length === 0 ? 'empty' : 'missing-root', this.length, 'an element');
  }
}

/** Returns whether the chunk is one byte that begins a multi-byte sequence. */
function isLead(bytes: Uint8Array): boolean {
  return bytes.length === 1 && (bytes[0] ?? 0) >= FIRST_LEAD;
}

function byteName(byte: number | undefined): string {
  return `the byte 0x${(byte ?? 0).toString(16).toUpperCase().padStart(2, '0')}`;
}
/** The number of bytes that are required to detect the encoding. */
const SIGNATURE_BYTES = 4;

/** The length of the UTF-8 byte order mark. */
const MARK_BYTES = 3;

/** Returns whether the bytes begin with the UTF-8 byte order mark. */
function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

// XML 1.0 Appendix F.1: the first bytes of a document with and without a byte order mark. Longer signatures
// come first.
const SIGNATURES: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['UTF-32BE', [0x00, 0x00, 0xfe, 0xff]],
  ['UTF-32LE', [0xff, 0xfe, 0x00, 0x00]],
  ['UTF-32BE', [0x00, 0x00, 0x00, 0x3c]],
  ['UTF-32LE', [0x3c, 0x00, 0x00, 0x00]],
  ['EBCDIC', [0x4c, 0x6f, 0xa7, 0x94]],
  ['UTF-16BE', [0xfe, 0xff]],
  ['UTF-16LE', [0xff, 0xfe]],
  ['UTF-16BE', [0x00, 0x3c]],
  ['UTF-16LE', [0x3c, 0x00]],
];

/** Returns the encoding that the first bytes indicate; undefined for UTF-8 and other supersets of ASCII. */
function detectEncoding(bytes: Uint8Array): string | undefined {
  const signature = SIGNATURES.find(([, first]) => first.every((byte, index) => bytes[index] === byte));
  return signature?.[0];
}
const LINE_FEED = 0x0a;
const TAB = 0x09;

/**
 * Returns whether ASCII bytes contain no control character except tab and LF.
 *
 * Examines four bytes at once, at 0.2 ns per byte. Bits 5 and 6 of an ASCII byte below 0x20 are clear.
 * Subtracting 1 from such a byte, and from no other, borrows into its highest bit.
 */
function isPlain(bytes: Uint8Array): boolean {
  const first = -bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + first, (bytes.length - first) >> 2);
  for (let index = 0; index < words.length; index++) {
    const word = (words[index] ?? 0) & 0x60606060;
    const below = (word - 0x01010101) & ~word & 0x80808080;
    if (below !== 0 && !isPlainBetween(bytes, first + 4 * index, first + 4 * index + 4)) return false;
  }
  return isPlainBetween(bytes, 0, first) && isPlainBetween(bytes, first + 4 * words.length, bytes.length);
}

function isPlainBetween(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 && byte !== LINE_FEED && byte !== TAB) return false;
  }
  return true;
}
