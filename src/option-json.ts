/** A text is not JSON, or says something twice. Nothing of the text is in the message, for it may be a secret. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly line: number;
  /** In characters, counting from 1. */
  readonly column: number;

  constructor(what: string, text: string, at: number) {
    super(what);
    const before = text.slice(0, at).split(/\r\n|\r|\n/);
    this.line = before.length;
    this.column = (before.at(-1) ?? '').length + 1;
  }
}

/**
 * Reads JSON (RFC 8259). Throws JsonFault with line and column, which the engine's own reader does not always tell,
 * also where an object has a name twice, which it takes without a word.
 */
export function parseJson(text: string): unknown {
  new Scanner(text).document();
  return JSON.parse(text);
}

const deepest = 64;
const space = /[ \t\r\n]*/y;
const string = /"(?:[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z_.])/y;

/** Goes over a text once and stops where it is not JSON. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value(0);
    if (this.#at < this.#text.length) throw this.#fault('the document is over, but something follows');
  }

  #value(depth: number): void {
    if (depth > deepest) throw this.#fault(`values are nested more than ${deepest} deep`);
    this.#take(space);
    const first = this.#text[this.#at];
    if (first === '{') this.#members(depth);
    else if (first === '[') this.#elements(depth);
    else if (first === '"') this.#string('a string');
    else if (this.#take(scalar) === undefined) throw this.#fault('a value is expected');
    this.#take(space);
  }

  #members(depth: number): void {
    const names = new Set<unknown>();
    this.#each('}', () => {
      const start = this.#at;
      const name: unknown = JSON.parse(this.#string('a name in double quotes'));
      if (names.has(name)) throw new JsonFault('this name is there twice', this.#text, start);
      names.add(name);
      this.#take(space);
      this.#expect(':');
      this.#value(depth + 1);
    });
  }

  #elements(depth: number): void {
    this.#each(']', () => this.#value(depth + 1));
  }

  /** What stands between an opening bracket and the closing one, parted by commas. */
  #each(closing: '}' | ']', one: () => void): void {
    this.#at++;
    this.#take(space);
    if (this.#text[this.#at] !== closing) {
      one();
      while (this.#text[this.#at] === ',') {
        this.#at++;
        this.#take(space);
        one();
      }
    }
    if (this.#text[this.#at] !== closing) throw this.#fault(`"," or "${closing}" is expected`);
    this.#at++;
  }

  #string(what: string): string {
    if (this.#text[this.#at] !== '"') throw this.#fault(`${what} is expected`);
    const found = this.#take(string);
    if (found === undefined)
      throw this.#fault('this string has no end, a control character or an unknown escape');
    return found;
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) throw this.#fault(`"${character}" is expected`);
    this.#at++;
  }

  /** Takes what the pattern matches right here. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #fault(what: string): JsonFault {
    return new JsonFault(what, this.#text, this.#at);
  }
}
