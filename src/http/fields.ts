import { isToken } from './syntax/token.ts';

/** One field line of a message: its name as written, and its value. */
export type FieldLine = [name: string, value: string];

/** So many names are compared with each other, each with each; of more a set is made, for whoever sends thousands is nobody yet. */
const fewNames = 32;

/**
 * The field lines of a request, looked up by lower-case name. Nothing is joined or dropped unless asked. Requests have a few, so
 * their names stand in a list: to make a map of them takes longer than all that is looked up in it.
 */
export class Fields {
  /** In lower case, in the order sent. */
  readonly #names: string[] = [];
  /** A bit for each name that is there, which says of most others that they are not, and sooner than the list. */
  #present = 0;
  /** Whether any name stands on more than one line. */
  readonly repeated: boolean;
  /** The bytes of the header section: names, values, and what stands between them (a colon, a space, the line's end). */
  readonly size: number;
  /** Names and values in turn, as they were given. */
  readonly raw: readonly string[];

  /** Takes names and values in turn, as they stood on the wire (`rawHeaders` of node:http). */
  constructor(raw: readonly string[]) {
    let size = raw.length * 2;
    let mayRepeat = false;
    for (let at = 0; at + 1 < raw.length; at += 2) {
      const name = (raw[at] ?? '').toLowerCase();
      const bit = bitOf(name);
      mayRepeat ||= (this.#present & bit) !== 0;
      this.#present |= bit;
      this.#names.push(name);
      size += name.length + (raw[at + 1] ?? '').length;
    }
    this.repeated = mayRepeat && hasTwice(this.#names);
    this.size = size;
    this.raw = raw;
  }

  /** The field's value; several lines are joined with a comma (RFC 9110 §5.3). Undefined when it is absent. */
  get(name: string): string | undefined {
    const at = this.#indexOf(name);
    if (at < 0) return undefined;
    return this.repeated ? this.lines(name).join(', ') : this.raw[2 * at + 1];
  }

  /** Each line's value, in the order sent. */
  lines(name: string): readonly string[] {
    const values: string[] = [];
    for (let at = this.#indexOf(name); at >= 0; at = this.#names.indexOf(name, at + 1))
      values.push(this.raw[2 * at + 1] ?? '');
    return values;
  }

  /** Whether there is such a line. */
  has(name: string): boolean {
    return this.#indexOf(name) >= 0;
  }

  /** Where the first line of this name stands; -1 where there is none. */
  #indexOf(name: string): number {
    return (this.#present & bitOf(name)) === 0 ? -1 : this.#names.indexOf(name);
  }
}

function hasTwice(names: readonly string[]): boolean {
  if (names.length > fewNames) return new Set(names).size < names.length;
  for (let at = 1; at < names.length; at += 1) if (names.indexOf(names[at] ?? '') < at) return true;
  return false;
}

/** One of 32 bits, by length and beginning: of a name that stands in code the compiler works it out. */
function bitOf(name: string): number {
  return 1 << (name.length + 7 * name.charCodeAt(0));
}

/** A value that can be sent in one line, a character for each byte (RFC 9110 §5.5). */
const fieldValue = /^(?:[!-~\u0080-\u00ff](?:[\t -~\u0080-\u00ff]*[!-~\u0080-\u00ff])?)?$/;

/** A line of a reply that somebody made up. Throws RangeError where it cannot be sent. */
export function sendableLine(name: string, value: string): FieldLine {
  if (!isToken(name)) throw new RangeError(`${JSON.stringify(name)} is no name of a field`);
  if (!fieldValue.test(value)) throw new RangeError(`the value of ${name} cannot be sent in a field`);
  return [name, value];
}

/** Fields of a reply that follow from the rest of it: twice they would contradict each other. */
const written: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
]);

/** A line that a resource adds to its reply. Throws RangeError where it cannot be sent, or the server writes it itself. */
export function furtherLine(name: string, value: string): FieldLine {
  if (written.has(name.toLowerCase())) throw new RangeError(`${name} is written by the server`);
  return sendableLine(name, value);
}
