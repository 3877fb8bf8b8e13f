/** One field line of a message: its name as written, and its value. */
export type FieldLine = [name: string, value: string];

/** The field lines of a request, looked up by lower-case name. Nothing is joined or dropped unless asked. */
export class Fields {
  readonly #byName = new Map<string, string | string[]>();
  #repeated = false;
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
      this.#byName.set(name, value);
      return;
    }
    this.#repeated = true;
    if (typeof before === 'string') this.#byName.set(name, [before, value]);
    else before.push(value);
  }

  /** The field's value; several lines are joined with a comma (RFC 9110 §5.3). Undefined when it is absent. */
  get(name: string): string | undefined {
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
    return this.#byName.has(name);
  }
}
