import { isToken } from './syntax/token.ts';

/** A field line of a message: its name as sent, and its value. */
export type FieldLine = [name: string, value: string];

/** Up to this many names are compared pairwise; more go into a set, because an unauthenticated client may send thousands. */
const maxPairwise = 32;

/**
 * The field lines of a request, looked up by lower-case name. Nothing is joined or dropped unless requested. The names are in a
 * list: for the few fields of a request, building a map takes longer than all lookups.
 */
export class HttpHeaders {
  /** The names in lower case, in the order sent. */
  readonly #names: string[] = [];
  /** A bit set of hashes of the names present. It rejects most absent names faster than the list. */
  #present = 0;
  /** Whether any name occurs on more than one line. @internal */
  readonly repeated: boolean;
  /** The bytes of the header section: names, values, and per line a colon, a space and the line end. @internal */
  readonly size: number;
  /** Alternating names and values, as passed to the constructor. @internal */
  readonly raw: readonly string[];

  /** Takes alternating names and values as received (`rawHeaders` of node:http). @internal */
  constructor(raw: readonly string[]) {
    let size = raw.length * 2;
    let mayRepeat = false;
    for (let at = 0; at + 1 < raw.length; at += 2) {
      const name = (raw[at] ?? '').toLowerCase();
      const bit = computeBit(name);
      mayRepeat ||= (this.#present & bit) !== 0;
      this.#present |= bit;
      this.#names.push(name);
      size += name.length + (raw[at + 1] ?? '').length;
    }
    this.repeated = mayRepeat && hasDuplicates(this.#names);
    this.size = size;
    this.raw = raw;
  }

  /** Returns the field's value; several lines are joined with a comma (RFC 9110 §5.3). Undefined if it is absent. */
  get(name: string): string | undefined {
    const at = this.#findIndex(name);
    if (at < 0) return undefined;
    return this.repeated ? this.getAll(name).join(', ') : this.raw[2 * at + 1];
  }

  /** Returns the value of each line, in the order sent. */
  getAll(name: string): readonly string[] {
    const values: string[] = [];
    for (let at = this.#findIndex(name); at >= 0; at = this.#names.indexOf(name, at + 1))
      values.push(this.raw[2 * at + 1] ?? '');
    return values;
  }

  /** Returns whether the field is present. */
  has(name: string): boolean {
    return this.#findIndex(name) >= 0;
  }

  /** Returns the index of the first line of this name; -1 if there is none. */
  #findIndex(name: string): number {
    return (this.#present & computeBit(name)) === 0 ? -1 : this.#names.indexOf(name);
  }
}

function hasDuplicates(names: readonly string[]): boolean {
  if (names.length > maxPairwise) return new Set(names).size < names.length;
  for (let at = 1; at < names.length; at += 1) if (names.indexOf(names[at] ?? '') < at) return true;
  return false;
}

/** Returns one of 32 bits by length and first character. The compiler precomputes it for a literal name. */
function computeBit(name: string): number {
  return 1 << (name.length + 7 * name.charCodeAt(0));
}

/** A value that can be sent on one line, a character for each byte (RFC 9110 §5.5). */
const fieldValue = /^(?:[!-~\u0080-\u00ff](?:[\t -~\u0080-\u00ff]*[!-~\u0080-\u00ff])?)?$/;

/** Returns a field line from a caller. Throws RangeError if it cannot be sent. */
export function sendableLine(name: string, value: string): FieldLine {
  if (!isToken(name)) throw new RangeError(`${JSON.stringify(name)} is not a field name`);
  // A caller in JavaScript can pass any value, which the pattern would test as text.
  if (typeof value !== 'string') throw new RangeError(`the value of ${name} must be text or a list of texts`);
  if (!fieldValue.test(value)) throw new RangeError(`the value of ${name} cannot be sent in a field`);
  return [name, value];
}

/** Fields that the server derives from the rest of a response; a second one could contradict the first. */
const serverFields: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

/** Returns whether the server derives a field from the rest of a response. */
export function isServerField(name: string): boolean {
  return serverFields.has(name.toLowerCase());
}

/** Returns a field line that a resource adds to its response. Throws RangeError if it cannot be sent, or the server sets it. */
export function createFurtherLine(name: string, value: string): FieldLine {
  if (isServerField(name)) throw new RangeError(`${name} is set by the server`);
  return sendableLine(name, value);
}
