// A strict parser for structured fields (RFC 9651 §4.2). Each octet of a field is one character.
import { decodeText } from '../syntax/percent.ts';
import {
  digitsEnd,
  findAnyBase64End,
  findBase64End,
  isDigit,
  isPrintable,
  keyEnd,
  tokenEnd,
} from './characters.ts';
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  type Item,
  type List,
  type Member,
  noParameters,
  type Parameters,
  trueItem,
} from './value.ts';

const tab = 0x09;
const space = 0x20;
const quoteMark = 0x22;
const percent = 0x25;
const openParenthesis = 0x28;
const closeParenthesis = 0x29;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const colon = 0x3a;
const semicolon = 0x3b;
const equals = 0x3d;
const questionMark = 0x3f;
const at = 0x40;
const backslash = 0x5c;

/** A field value that is not a structured field of the expected type. */
export class StructuredFieldError extends RangeError {
  override readonly name = 'StructuredFieldError';
  /** The index of the character that was not expected. */
  readonly index: number;

  constructor(fault: string, index: number) {
    super(`${fault} at character ${index + 1}`);
    this.index = index;
  }
}

/** Parses an item (RFC 9651 §4.2.3). Throws StructuredFieldError. */
export function parseItem(text: string): Item {
  return parseWhole(text, (parser) => parser.item());
}

/** Parses a list (RFC 9651 §4.2.1). Throws StructuredFieldError. */
export function parseList(text: string): List {
  return parseWhole(text, (parser) => parser.list());
}

/** How strictly a dictionary is parsed. */
interface DictionaryRules {
  /** Whether a key that occurs twice is an error. Default: the last one counts, as RFC 9651 §4.2.2 requires. */
  readonly uniqueKeys?: boolean;
  /** Whether bytes may be in base64 that is not canonical. Default: no, so that a value has one form. */
  readonly anyBase64?: boolean;
}

/** Parses a dictionary (RFC 9651 §4.2.2). Throws StructuredFieldError. */
export function parseDictionary(
  text: string,
  { uniqueKeys = false, anyBase64 = false }: DictionaryRules = {},
): Dictionary {
  return parseWhole(text, (parser) => parser.dictionary(uniqueKeys), anyBase64);
}

/** Parses a dictionary. Returns undefined if it is malformed. */
export function readDictionary(text: string, rules?: DictionaryRules): Dictionary | undefined {
  return ignoreFault(() => parseDictionary(text, rules));
}

/** Returns a parsed field; undefined if it is malformed. */
export function ignoreFault<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof StructuredFieldError) return undefined;
    throw error;
  }
}

function parseWhole<Value>(text: string, parse: (parser: Parser) => Value, anyBase64 = false): Value {
  const parser = new Parser(text, anyBase64);
  parser.skipSpaces();
  const value = parse(parser);
  parser.end();
  return value;
}

class Parser {
  readonly #text: string;
  readonly #anyBase64: boolean;
  #at = 0;

  constructor(text: string, anyBase64: boolean) {
    this.#text = text;
    this.#anyBase64 = anyBase64;
  }

  skipSpaces(): void {
    while (this.#code() === space) this.#at += 1;
  }

  end(): void {
    this.skipSpaces();
    if (this.#at < this.#text.length) throw this.#fault('unexpected character');
  }

  list(): List {
    const members: Member[] = [];
    while (this.#at < this.#text.length) {
      members.push(this.#member());
      if (!this.#hasNext()) return members;
    }
    return members;
  }

  dictionary(uniqueKeys: boolean): Dictionary {
    const members = new Map<string, Member>();
    while (this.#at < this.#text.length) {
      const start = this.#at;
      const key = this.#key();
      if (uniqueKeys && members.has(key))
        throw new StructuredFieldError(`the key ${key} occurs twice`, start);
      members.set(key, this.#takes(equals) ? this.#member() : this.#parametrized(trueItem));
      if (!this.#hasNext()) return members;
    }
    return members;
  }

  item(): Item {
    return this.#parametrized(this.#bareItem());
  }

  #parametrized(bare: BareItem): Item {
    return { bare, parameters: this.#parameters() };
  }

  #member(): Member {
    return this.#code() === openParenthesis ? this.#innerList() : this.item();
  }

  /** Skips the comma before the next member, and returns whether there is one. */
  #hasNext(): boolean {
    this.#skipWhitespace();
    if (this.#at === this.#text.length) return false;
    if (!this.#takes(comma)) throw this.#fault('a comma is expected');
    this.#skipWhitespace();
    if (this.#at === this.#text.length) throw this.#fault('a member is expected');
    return true;
  }

  #skipWhitespace(): void {
    while (this.#code() === space || this.#code() === tab) this.#at += 1;
  }

  #innerList(): InnerList {
    this.#at += 1;
    const items: Item[] = [];
    for (;;) {
      this.skipSpaces();
      if (this.#takes(closeParenthesis)) return { items, parameters: this.#parameters() };
      if (this.#at === this.#text.length) throw this.#fault('a closing parenthesis is expected');
      items.push(this.item());
      const next = this.#code();
      if (next !== space && next !== closeParenthesis)
        throw this.#fault('a space or a closing parenthesis is expected');
    }
  }

  #parameters(): Parameters {
    if (this.#code() !== semicolon) return noParameters;
    const parameters = new Map<string, BareItem>();
    while (this.#takes(semicolon)) {
      this.skipSpaces();
      const key = this.#key();
      parameters.set(key, this.#takes(equals) ? this.#bareItem() : trueItem);
    }
    return parameters;
  }

  #key(): string {
    return this.#span(keyEnd(this.#text, this.#at), 'a key is expected');
  }

  #bareItem(): BareItem {
    const code = this.#code();
    if (code === quoteMark) return { type: 'string', value: this.#string() };
    if (code === minus || isDigit(code)) return this.#number();
    if (code === colon) return { type: 'bytes', value: this.#base64() };
    if (code === questionMark) return { type: 'boolean', value: this.#boolean() };
    if (code === at) return this.#date();
    if (code === percent) return { type: 'display-string', value: this.#displayString() };
    return { type: 'token', value: this.#span(tokenEnd(this.#text, this.#at), 'an item is expected') };
  }

  #number(): BareItem {
    const start = this.#at;
    const first = this.#code() === minus ? start + 1 : start;
    const whole = digitsEnd(this.#text, first);
    if (whole === first) throw this.#fault('a digit is expected', first);
    const digits = whole - first;
    if (this.#text.charCodeAt(whole) !== dot) {
      if (digits > 15) throw this.#fault('an integer has more than 15 digits');
      return { type: 'integer', value: this.#numeral(whole) };
    }
    const end = digitsEnd(this.#text, whole + 1);
    const decimals = end - whole - 1;
    if (digits > 12) throw this.#fault('a decimal has more than 12 digits before the point');
    if (decimals < 1 || decimals > 3)
      throw this.#fault('a decimal does not have 1 to 3 digits after the point', whole);
    return { type: 'decimal', value: this.#numeral(end) };
  }

  /** Takes the numeral up to `end`. Adding zero turns -0 into 0. */
  #numeral(end: number): number {
    return Number(this.#span(end, 'a number is expected')) + 0;
  }

  #date(): BareItem {
    this.#at += 1;
    const start = this.#at;
    const code = this.#code();
    if (code !== minus && !isDigit(code)) throw this.#fault('an integer is expected');
    const { type, value } = this.#number();
    if (type !== 'integer') throw this.#fault('a date is not an integer', start);
    return { type: 'date', value };
  }

  #string(): string {
    const start = this.#at + 1;
    let escaped = false;
    for (let end = start; ; end += 1) {
      let code = this.#text.charCodeAt(end);
      if (code === quoteMark) {
        this.#at = end + 1;
        const inside = this.#text.slice(start, end);
        return escaped ? inside.replace(/\\(.)/g, '$1') : inside;
      }
      if (code === backslash) {
        escaped = true;
        end += 1;
        code = this.#text.charCodeAt(end);
        if (code !== quoteMark && code !== backslash)
          throw this.#fault('a backslash escapes neither a quote nor a backslash', end);
      }
      if (!isPrintable(code)) throw this.#fault('a string is not closed, or has an invalid character', end);
    }
  }

  #base64(): string {
    this.#at += 1;
    const end = (this.#anyBase64 ? findAnyBase64End : findBase64End)(this.#text, this.#at);
    if (end < 0 || this.#text.charCodeAt(end) !== colon)
      throw this.#fault('bytes are not in canonical base64 between colons');
    const value = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return value;
  }

  #boolean(): boolean {
    const value = this.#text.charAt(this.#at + 1);
    if (value !== '0' && value !== '1') throw this.#fault('a boolean is neither ?0 nor ?1');
    this.#at += 2;
    return value === '1';
  }

  #displayString(): string {
    const start = this.#at + 2;
    const end = this.#text.indexOf('"', start);
    if (this.#text.charCodeAt(start - 1) !== quoteMark || end < 0)
      throw this.#fault('a display string is not in quotes');
    const inside = this.#text.slice(start, end);
    // Hexadecimal digits are in lower case (RFC 9651 §4.2.10).
    if (!/^(?:[ !#$&-~]|%[0-9a-f]{2})*$/.test(inside))
      throw this.#fault('a display string has an invalid character');
    const value = decodeText(inside);
    if (value === undefined) throw this.#fault('a display string is not UTF-8');
    this.#at = end + 1;
    return value;
  }

  /** Returns the text up to `end`, which is the present index if there is none. */
  #span(end: number, fault: string): string {
    if (end === this.#at) throw this.#fault(fault);
    const text = this.#text.slice(this.#at, end);
    this.#at = end;
    return text;
  }

  #takes(code: number): boolean {
    if (this.#code() !== code) return false;
    this.#at += 1;
    return true;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #fault(fault: string, index = this.#at): StructuredFieldError {
    return new StructuredFieldError(fault, index);
  }
}
