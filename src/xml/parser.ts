import { CARRIAGE_RETURN, LESS_THAN } from './characters.ts';
import { foreignEncoding, hasByteOrderMark, MARK_BYTES, SIGNATURE_BYTES } from './encoding.ts';
import { clipped, XmlError } from './error.ts';
import { limitsOf, type XmlHandler, type XmlOptions } from './handler.ts';
import { isPlain } from './plain.ts';
import { advance, type Position } from './position.ts';
import { type Ending, NO_BYTES, UNDECODED } from './reader/base.ts';
import { ElementReader } from './reader/element.ts';
import { TokenBuffer } from './token-buffer.ts';
import { areAscii, asciiText, Utf8Decoder, validityOf } from './utf8.ts';

/** A parser for one document: bytes in, as they come; events out. */
export interface XmlParser {
  /**
   * Reads on. The bytes may be used for something else afterwards.
   * @throws {XmlError} at the first fault, after the events before it; from then on every call throws it again.
   */
  write(bytes: Uint8Array): void;
  /**
   * Says that the document ends here.
   * @throws {XmlError} if it is not whole.
   */
  end(): void;
  /** The line and column, from 1 and in characters, at which the event being delivered begins. */
  position(): { line: number; column: number };
}

/**
 * Makes a streaming, non-validating parser of XML 1.0 (fifth edition) in UTF-8, for documents without a
 * document type declaration.
 *
 *   document    ::= declaration? misc* element misc*          misc ::= comment | instruction | S
 *   element     ::= '<' Name (S attribute)* S? ('/>' | '>' content '</' Name S? '>')
 *   attribute   ::= Name S? '=' S? ('"' value '"' | "'" value "'")
 *   content     ::= (text | reference | element | comment | instruction | '<![CDATA[' … ']]>')*
 *   reference   ::= '&' ('lt' | 'gt' | 'amp' | 'apos' | 'quot' | '#' [0-9]+ | '#x' [0-9A-Fa-f]+) ';'
 *   comment     ::= '<!--' … '-->'                            instruction ::= '<?' Name (S …)? '?>'
 *
 * Left out: `<!DOCTYPE`, which is refused, and with it entities, default values and attribute types that a
 * document declares for itself; encodings other than UTF-8.
 */
export function createParser(handler: XmlHandler, options: XmlOptions = {}): XmlParser {
  return new Parser(handler, limitsOf(options));
}

/** Larger chunks are read in pieces of this size, so that what is decoded at a time stays small. */
const PIECE = 65_536;

/** A stretch of this size is worth a look that lets long text be skipped. */
const LARGE = 1024;

/** A UTF-16 unit takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;

/** Lead bytes of UTF-8 that more must follow. */
const FIRST_LEAD = 0xc2;

/** The characters of ASCII, as strings. */
const ASCII: readonly string[] = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code));

// What a parser can be asked for.
const READY = 0;
const BUSY = 1; //   inside write or end: a handler must not call them
const ENDED = 2; //  after end
const FAILED = 3; // after a fault

class Parser extends ElementReader implements XmlParser {
  private state = READY;
  private failure: unknown = undefined;
  /** True once the first bytes have shown that this may be UTF-8. */
  private recognised = false;
  private carry: TokenBuffer | undefined = undefined;
  private decoder: Utf8Decoder | undefined = undefined;
  private copy = NO_BYTES;

  write(bytes: Uint8Array): void {
    if (this.state !== READY) throw this.refusal();
    this.state = BUSY;
    try {
      if (bytes.length <= PIECE) this.take(bytes);
      else
        for (let from = 0; from < bytes.length; from += PIECE) this.take(bytes.subarray(from, from + PIECE));
      this.state = READY;
    } catch (error) {
      throw this.failed(error);
    }
  }

  end(): void {
    if (this.state !== READY) throw this.refusal();
    this.state = BUSY;
    try {
      this.finish();
      this.state = ENDED;
    } catch (error) {
      throw this.failed(error);
    }
  }

  position(): Position {
    return this.placeOf(this.begin);
  }

  private failed(error: unknown): unknown {
    this.state = FAILED;
    this.failure = error;
    return error;
  }

  private refusal(): unknown {
    if (this.state === FAILED) return this.failure;
    const found = this.state === BUSY ? 'a call from inside the handler' : 'a call after the end';
    return new XmlError('closed', { ...this.position(), path: '', found, expected: 'nothing more' });
  }

  private take(bytes: Uint8Array): void {
    if (this.carry !== undefined && this.carry.length > 0) this.takeAfter(bytes, this.carry);
    else if (this.recognised && isLead(bytes)) this.keep(bytes);
    else this.takeFirst(bytes);
  }

  private takeFirst(bytes: Uint8Array): void {
    const mark = this.recognised ? 0 : this.recognise(bytes);
    const rest = mark < 0 ? bytes.length : this.read(mark === 0 ? bytes : bytes.subarray(mark), undefined);
    if (rest > 0) this.keep(bytes.subarray(bytes.length - rest));
  }

  private keep(bytes: Uint8Array): void {
    this.carry ??= new TokenBuffer();
    this.carry.append(bytes);
  }

  /** Reads on from what was kept. */
  private takeAfter(bytes: Uint8Array, carry: TokenBuffer): void {
    carry.append(bytes);
    if (!this.recognised) {
      const mark = this.recognise(carry.view());
      if (mark < 0) return;
      carry.drop(mark);
    }
    // past this many bytes the token is too long, whole or not
    if (carry.length <= BYTES_PER_UNIT * this.limits.maxToken && !carry.mayBeWhole()) return;
    const rest = this.read(carry.view(), undefined);
    carry.drop(carry.length - rest);
  }

  /** Looks at the first bytes; returns how many of them are a byte order mark, or −1 if more are needed. */
  private recognise(bytes: Uint8Array, whole = false): number {
    if (bytes.length < SIGNATURE_BYTES && !whole) return -1;
    this.recognised = true;
    if (bytes[0] === LESS_THAN && bytes[1] !== 0) return 0;
    const encoding = foreignEncoding(bytes);
    if (encoding !== undefined)
      throw this.fault('encoding', 0, 'UTF-8', `a document in ${encoding}`, encoding);
    return hasByteOrderMark(bytes) ? MARK_BYTES : 0;
  }

  /** Reads bytes as far as they are whole tokens; returns how many are left over. */
  private read(bytes: Uint8Array, ending: Ending | undefined): number {
    if (this.cursor > 0) this.leaveStretch();
    const first = bytes[0] ?? 0;
    if (bytes.length === 1 && first < ASCII.length) this.enterSingle(first);
    else if (
      bytes.length < LARGE &&
      first < ASCII.length &&
      this.decoder === undefined &&
      ending === undefined
    )
      return this.readRaw(bytes);
    else if (areAscii(bytes)) this.enterAscii(bytes);
    else return this.readWide(bytes, ending);
    this.ending = ending;
    this.scan();
    return this.length - this.cursor;
  }

  /**
   * Reads a short stretch as if it was ASCII, which most are: the scan, that looks at each byte anyway, goes back to
   * the beginning of a token that is not. A call into Node that looks before costs a tenth of a short document.
   */
  private readRaw(bytes: Uint8Array): number {
    this.enter(bytes, asciiText(bytes), false);
    this.raw = true;
    try {
      this.scan();
    } catch (error) {
      if (error !== UNDECODED) throw error;
      this.again();
    }
    this.raw = false;
    const rest = this.length - this.cursor;
    if (rest === 0 || this.isRestAscii(this.cursor)) return rest;
    if (rest < this.length) this.leaveStretch();
    return this.readWide(bytes.subarray(bytes.length - rest), undefined);
  }

  private enterAscii(bytes: Uint8Array): void {
    const text = asciiText(bytes);
    if (bytes.length < LARGE) this.enter(bytes, text, false);
    else this.enter(this.ended(bytes), text, isPlain(bytes));
  }

  /** One byte of ASCII, without the three calls into Node that would cost more than all the rest. */
  private enterSingle(byte: number): void {
    if (this.copy.length < 2) this.copy = Buffer.alloc(2);
    this.copy[0] = byte;
    this.copy[1] = 0;
    this.enter(this.copy, ASCII[byte] ?? '', false);
  }

  private readWide(bytes: Uint8Array, ending: Ending | undefined): number {
    const { length, broken } = validityOf(bytes);
    this.decoder ??= new Utf8Decoder();
    this.decoder.decode(bytes, length);
    this.enter(this.decoder.codes, this.decoder.text, false);
    this.words = this.decoder.words;
    const invalid = broken || (ending !== undefined && length < bytes.length);
    this.ending = invalid ? { code: 'invalid-utf8', found: byteName(bytes[length]) } : ending;
    this.scan();
    if (invalid) throw this.invalidUtf8();
    const cut = bytes.length - length;
    return this.cursor === this.length ? cut : cut + Buffer.byteLength(this.text.substring(this.cursor));
  }

  /**
   * A copy with a 0 behind it. Where scans stop at that, none reads past the end of a Buffer, and the compiler
   * leaves out what it would take to give `undefined` there: a seventh of the time, for a copy that costs little.
   */
  private ended(bytes: Uint8Array): Buffer {
    if (this.copy.length <= bytes.length) {
      this.copy = Buffer.allocUnsafeSlow(Math.max(bytes.length + 1, 2 * this.copy.length));
    }
    this.copy.set(bytes);
    this.copy[bytes.length] = 0;
    return this.copy;
  }

  private enter(codes: Uint8Array, text: string, plain: boolean): void {
    this.codes = codes;
    this.text = text;
    this.length = text.length;
    this.plain = plain;
    this.ampersand = this.bracket = -1;
  }

  /** Counts the lines of the stretch read last; only now, so that a document that comes whole is not counted. */
  private leaveStretch(): void {
    const { codes, cursor, decoder } = this;
    // V8 looks for a unit by one of its bytes, which many of those that are not ASCII have; the codes tell them apart
    const firstReturn = codes === decoder?.codes ? codes.indexOf(CARRIAGE_RETURN) : undefined;
    this.place = advance(this.place, this.text, cursor, this.afterReturn, firstReturn);
    this.afterReturn = this.text.charCodeAt(this.cursor - 1) === CARRIAGE_RETURN;
    this.fresh = false;
    this.begin = this.cursor = 0;
  }

  private invalidUtf8(): XmlError {
    this.begin = this.length;
    return this.fault('invalid-utf8', this.length, 'UTF-8', this.ending?.found);
  }

  private finish(): void {
    let waiting = this.carry?.view() ?? NO_BYTES;
    if (!this.recognised) waiting = waiting.subarray(this.recognise(waiting, true));
    if (waiting.length > 0) this.read(waiting, { code: 'truncated', found: 'the end of the document' });
    this.begin = this.length;
    if (this.inSection) throw this.fault('truncated', this.length, '"]]>"');
    const inner = this.depth === 0 ? undefined : this.open[this.depth - 1];
    if (inner !== undefined) throw this.fault('unclosed', this.length, `</${clipped(inner.text)}>`);
    if (this.rooted) return;
    throw this.fault(this.fresh && this.length === 0 ? 'empty' : 'missing-root', this.length, 'an element');
  }
}

/** True for a single byte that begins a character of several. */
function isLead(bytes: Uint8Array): boolean {
  return bytes.length === 1 && (bytes[0] ?? 0) >= FIRST_LEAD;
}

function byteName(byte: number | undefined): string {
  return `the byte 0x${(byte ?? 0).toString(16).toUpperCase().padStart(2, '0')}`;
}
