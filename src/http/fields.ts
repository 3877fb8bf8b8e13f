import { isToken } from './token.ts';

/** One field line of a message: its name as written, and its value. */
export type FieldLine = [name: string, value: string];

/** The field lines of a request, looked up by lower-case name. Nothing is joined or dropped unless asked. */
export class Fields {
  readonly #byName = new Map<string, string | string[]>();
  #repeated = false;
  /** A bit for each name that is there, which says of most others that they are not, and sooner than the map. */
  #present = 0;
  /** The bytes of the header section: names, values, and what stands between them (a colon, a space, the line's end). */
  readonly size: number;
  /** Names and values in turn, as they were given. */
  readonly raw: readonly string[];

  /** Takes names and values in turn, as they stood on the wire (`rawHeaders` of node:http). */
  constructor(raw: readonly string[]) {
    let size = raw.length * 2;
    for (let at = 0; at + 1 < raw.length; at += 2) {
      const name = raw[at] ?? '';
      const value = raw[at + 1] ?? '';
      size += name.length + value.length;
      this.#add(name.toLowerCase(), value);
    }
    this.size = size;
    this.raw = raw;
  }

  #add(name: string, value: string): void {
    const before = this.#byName.get(name);
    if (before === undefined) {
      this.#present |= bitOf(name);
      this.#byName.set(name, value);
      return;
    }
    this.#repeated = true;
    if (typeof before === 'string') this.#byName.set(name, [before, value]);
    else before.push(value);
  }

  /** The field's value; several lines are joined with a comma (RFC 9110 §5.3). Undefined when it is absent. */
  get(name: string): string | undefined {
    if ((this.#present & bitOf(name)) === 0) return undefined;
    const value = this.#byName.get(name);
    return value === undefined || typeof value === 'string' ? value : value.join(', ');
  }

  /** Each line's value, in the order sent. */
  lines(name: string): readonly string[] {
    const value = this.#byName.get(name);
    if (value === undefined) return [];
    return typeof value === 'string' ? [value] : value;
  }

  /** Whether any name stands on more than one line. */
  get repeated(): boolean {
    return this.#repeated;
  }

  /** Whether there is such a line. */
  has(name: string): boolean {
    return (this.#present & bitOf(name)) !== 0 && this.#byName.has(name);
  }
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
