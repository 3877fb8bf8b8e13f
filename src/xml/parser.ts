import { Carry } from './carry.ts';
import { CARRIAGE_RETURN } from './characters.ts';
import { foreignEncoding, hasByteOrderMark, MARK_BYTES, SIGNATURE_BYTES } from './encoding.ts';
import { clipped, XmlError } from './error.ts';
import { limitsOf, type XmlHandler, type XmlOptions } from './handler.ts';
import type { Place } from './place.ts';
import type { Ending } from './reader.ts';
import { ElementReader } from './tags.ts';
import { Utf8Reader } from './utf8.ts';

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
  return new Parser(handler, options);
}

/** Larger chunks are read in pieces of this size, so that what is decoded at a time stays small. */
const PIECE = 65_536;

/** A UTF-16 unit takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;

class Parser extends ElementReader implements XmlParser {
  private readonly utf8 = new Utf8Reader();
  private carry: Carry | undefined = undefined;
  private recognised = false;
  private failure: { readonly error: unknown } | undefined = undefined;
  private busy = false;
  private ended = false;

  constructor(handler: XmlHandler, options: XmlOptions) {
    super(handler, limitsOf(options));
  }

  write(bytes: Uint8Array): void {
    this.guarded(() => {
      if (bytes.length <= PIECE) return this.take(bytes);
      for (let from = 0; from < bytes.length; from += PIECE) this.take(bytes.subarray(from, from + PIECE));
    });
  }

  end(): void {
    this.guarded(() => {
      this.ended = true;
      this.finish();
    });
  }

  position(): Place {
    return this.placeOf(this.begin);
  }

  private guarded(work: () => void): void {
    if (this.failure !== undefined) throw this.failure.error;
    if (this.busy || this.ended) throw this.misuse();
    this.busy = true;
    try {
      work();
    } catch (error) {
      this.failure = { error };
      throw error;
    } finally {
      this.busy = false;
    }
  }

  private misuse(): XmlError {
    const found = this.busy ? 'a call from inside the handler' : 'a call after the end';
    return new XmlError('closed', { ...this.position(), path: '', found, expected: 'nothing more' });
  }

  private take(bytes: Uint8Array): void {
    const carry = this.carry;
    if (carry !== undefined && carry.length > 0) {
      carry.append(bytes);
      this.readCarried(carry);
      return;
    }
    const from = this.recognised ? 0 : this.recognise(bytes);
    const rest = from < 0 ? bytes.length : this.read(from === 0 ? bytes : bytes.subarray(from), undefined);
    if (rest === 0) return;
    this.carry ??= new Carry();
    this.carry.append(rest === bytes.length ? bytes : bytes.subarray(bytes.length - rest));
  }

  private readCarried(carry: Carry): void {
    if (!this.recognised) {
      const from = this.recognise(carry.view());
      if (from < 0) return;
      carry.drop(from);
    }
    // past this many bytes the token is too long, whole or not
    if (carry.length <= BYTES_PER_UNIT * this.limits.maxToken && !carry.mayBeWhole()) return;
    const rest = this.read(carry.view(), undefined);
    carry.drop(carry.length - rest);
  }

  /** Looks at the first bytes; returns how many of them are a byte order mark, or −1 if more are needed. */
  private recognise(bytes: Uint8Array): number {
    if (bytes.length < SIGNATURE_BYTES && !this.ended) return -1;
    const encoding = foreignEncoding(bytes);
    if (encoding !== undefined) {
      const detail = {
        ...this.position(),
        path: '',
        found: `a document in ${encoding}`,
        expected: 'UTF-8',
        encoding,
      };
      throw new XmlError('encoding', detail);
    }
    this.recognised = true;
    return hasByteOrderMark(bytes) ? MARK_BYTES : 0;
  }

  /** Reads bytes as far as they are whole tokens; returns how many are left over. */
  private read(bytes: Uint8Array, ending: Ending | undefined): number {
    this.leaveStretch();
    const stretch = this.utf8.read(bytes);
    this.codes = stretch.codes;
    this.text = stretch.text;
    this.length = stretch.text.length;
    const invalid = stretch.broken || (ending !== undefined && stretch.bytes < bytes.length);
    this.ending = invalid ? { code: 'invalid-utf8', found: byteName(bytes[stretch.bytes]) } : ending;
    this.scan();
    if (invalid) throw this.invalidUtf8();
    if (this.cursor > 0) this.fresh = false;
    const cut = bytes.length - stretch.bytes;
    if (this.cursor === this.length) return cut;
    return cut + Buffer.byteLength(this.text.substring(this.cursor));
  }

  /** Counts the lines of the stretch read last, which only now is done: a document that comes whole never is. */
  private leaveStretch(): void {
    if (this.cursor > 0) {
      this.place = this.placeOf(this.cursor);
      this.afterReturn = this.text.charCodeAt(this.cursor - 1) === CARRIAGE_RETURN;
    }
    this.begin = this.cursor = 0;
  }

  private invalidUtf8(): XmlError {
    this.begin = this.length;
    return this.fault('invalid-utf8', this.length, 'UTF-8', this.ending?.found);
  }

  private finish(): void {
    const ending: Ending = { code: 'truncated', found: 'the end of the document' };
    let waiting: Uint8Array = this.carry?.view() ?? NOTHING;
    if (!this.recognised) waiting = waiting.subarray(this.recognise(waiting));
    const empty = this.fresh && this.length === 0 && waiting.length === 0;
    if (waiting.length > 0) this.read(waiting, ending);
    this.begin = this.length;
    if (this.inSection) throw this.fault('truncated', this.length, '"]]>"');
    const inner = this.open.at(-1);
    if (inner !== undefined) throw this.fault('unclosed', this.length, `</${clipped(inner.text)}>`);
    if (!this.rooted) throw this.fault(empty ? 'empty' : 'missing-root', this.length, 'an element');
  }
}

const NOTHING = new Uint8Array(0);

function byteName(byte: number | undefined): string {
  return `the byte 0x${(byte ?? 0).toString(16).toUpperCase().padStart(2, '0')}`;
}
