/** A position in a document; line and column from 1, the column in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A JSON value with the index at which it begins. */
export type JsonNode = { readonly at: number } & (
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: 'true' | 'false' }
  | { readonly kind: 'null'; readonly text: 'null' }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, JsonMember> }
);

/** A member of an object. `at` is the index at which its name begins. */
export interface JsonMember {
  readonly at: number;
  readonly value: JsonNode;
}

/** Thrown for text that is not valid JSON. The message states what was found and what was expected. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly line: number;
  readonly column: number;

  /** The name that two members of one object have, if this is the fault. */
  readonly repeated: string | undefined;

  constructor(message: string, { line, column }: Position, repeated?: string) {
    super(`Line ${line}, column ${column}: ${message}`);
    this.line = line;
    this.column = column;
    this.repeated = repeated;
  }
}

/**
 * Reads a JSON text (RFC 8259). Strings may be views that retain the text.
 * @throws {JsonError} for invalid JSON, for duplicate member names (§4 allows readers to reject them), and
 * for values nested deeper than `maxDepth`
 */
export function readJson(text: string, maxDepth: number): JsonNode {
  return new JsonReader(text, Math.min(maxDepth, deepest)).document();
}

/**
 * Reads a JSON text as its value. Unlike JSON.parse, reports positions, and rejects duplicate names and deep nesting.
 * @throws {JsonError} as `readJson` does
 */
export function parseJson(text: string, maxDepth: number): unknown {
  readJson(text, maxDepth);
  return JSON.parse(text);
}

/** Returns the line and column of an index into a text. LF, CR and CRLF end a line. */
export function positionAt(text: string, at: number): Position {
  let line = 1;
  let start = 0;
  for (let index = 0; index < at; index++) {
    const code = text.charCodeAt(index);
    if (code !== 0x0a && (code !== 0x0d || text.charCodeAt(index + 1) === 0x0a)) continue;
    line++;
    start = index + 1;
  }
  let column = 1;
  for (let index = start; index < at; index++) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00) column++;
  }
  return { line, column };
}

/** Each level of nesting takes a call; this limit prevents a stack overflow. */
const deepest = 1000;

// Sticky expressions match at lastIndex only. RFC 8259 §6, §7 and §2.
const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const plainForm = /[^"\\\u0000-\u001f]*/y;
const blankForm = /[ \t\n\r]*/y;
const hexForm = /[0-9A-Fa-f]{4}/y;

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

class JsonReader {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  document(): JsonNode {
    this.#take(blankForm);
    const value = this.#value();
    this.#take(blankForm);
    if (this.#at < this.#text.length) this.#refuse('the end');
    return value;
  }

  #value(): JsonNode {
    const at = this.#at;
    const next = this.#text[at];
    if (next === '{') return { kind: 'object', at, members: this.#nested(() => this.#members()) };
    if (next === '[') return { kind: 'array', at, items: this.#nested(() => this.#items()) };
    if (next === '"') return { kind: 'string', at, text: this.#string() };
    if (this.#word('true')) return { kind: 'boolean', at, text: 'true' };
    if (this.#word('false')) return { kind: 'boolean', at, text: 'false' };
    if (this.#word('null')) return { kind: 'null', at, text: 'null' };
    const text = this.#take(numberForm);
    if (text === undefined) this.#refuse('a value');
    return { kind: 'number', at, text };
  }

  #nested<T>(read: () => T): T {
    if (this.#depth >= this.#maxDepth) {
      const found = `a value that is nested deeper than ${this.#maxDepth} levels`;
      throw new JsonError(`found ${found}`, positionAt(this.#text, this.#at));
    }
    this.#depth++;
    this.#at++;
    this.#take(blankForm);
    const value = read();
    this.#depth--;
    return value;
  }

  #items(): JsonNode[] {
    const items: JsonNode[] = [];
    if (this.#word(']')) return items;
    for (;;) {
      items.push(this.#value());
      if (this.#closes(']')) return items;
    }
  }

  #members(): Map<string, JsonMember> {
    const members = new Map<string, JsonMember>();
    if (this.#word('}')) return members;
    for (;;) {
      const at = this.#at;
      if (this.#text[at] !== '"') this.#refuse('a member name in double quotes');
      const name = this.#string();
      if (members.has(name))
        throw new JsonError('found a duplicate member name', positionAt(this.#text, at), name);
      this.#take(blankForm);
      if (!this.#word(':')) this.#refuse('":"');
      this.#take(blankForm);
      members.set(name, { at, value: this.#value() });
      if (this.#closes('}')) return members;
    }
  }

  /** Returns whether the closing bracket follows a value. If not, a comma is required. */
  #closes(bracket: ']' | '}'): boolean {
    this.#take(blankForm);
    if (this.#word(bracket)) return true;
    if (!this.#word(',')) this.#refuse(`"," or "${bracket}"`);
    this.#take(blankForm);
    return false;
  }

  #string(): string {
    this.#at++;
    let text = this.#take(plainForm) ?? '';
    for (;;) {
      const next = this.#text[this.#at];
      if (next === '"') {
        this.#at++;
        return text;
      }
      if (next !== '\\')
        this.#refuse(next === undefined ? `'"'` : 'an escape instead of a control character');
      text += this.#escape();
      text += this.#take(plainForm) ?? '';
    }
  }

  #escape(): string {
    this.#at++;
    const letter = this.#text[this.#at] ?? '';
    if (letter === 'u') {
      this.#at++;
      const digits = this.#take(hexForm);
      if (digits === undefined) this.#refuse('four hexadecimal digits');
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = escapes.get(letter);
    if (character === undefined) this.#refuse('one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u');
    this.#at++;
    return character;
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #take(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #refuse(expected: string): never {
    const code = this.#text.codePointAt(this.#at);
    throw new JsonError(
      `found ${describeCharacter(code)}, expected ${expected}`,
      positionAt(this.#text, this.#at),
    );
  }
}

/** Returns a description of a character for a message. */
function describeCharacter(code: number | undefined): string {
  if (code === undefined) return 'the end of the document';
  if (code > 0x20 && code < 0x7f) return code === 0x22 ? `'"'` : `"${String.fromCharCode(code)}"`;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
