import { Problem } from '../http/problem.ts';
import type { Violation } from '../schema/simple-type.ts';

/** A place in a document: line and column, both from 1, the column in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A rule that a document breaks, and where. */
export interface ValidationError extends Violation, Partial<Position> {
  /** The path of the field: `title`, `price/@currency`, `address/street`, `tags/item[2]`. */
  readonly field: string;
}

/** How many faults of a document are told. */
const mostFaults = 20;

/** The faults of one document, up to 20, in the order in which they are found. */
export class ValidationErrors {
  readonly #faults: ValidationError[] = [];
  #more = false;

  /** Whether there is room; what is found once there is none is not told, and needs no position. */
  hasRoom(): boolean {
    if (this.#faults.length < mostFaults) return true;
    this.#more = true;
    return false;
  }

  /** Adds one more; there must be room. */
  add(field: string, breach: Violation, position: Position | undefined): void {
    const { rule, detail } = breach;
    this.#faults.push({ field, rule, detail, ...position });
  }

  /** Those found so far. */
  get found(): readonly ValidationError[] {
    return this.#faults;
  }

  /** The refusal that lists them all; undefined when there are none. */
  problem(): Problem | undefined {
    const [first] = this.#faults;
    if (first === undefined) return undefined;
    const place = first.line === undefined ? {} : { line: first.line, column: first.column ?? 1 };
    return new Problem('invalid-content', this.#summary(first), {
      members: { field: first.field, ...place, errors: this.#faults.map((fault) => ({ ...fault })) },
    });
  }

  #summary({ field, detail }: ValidationError): string {
    const first = `${field} ${detail}${detail.endsWith('?') ? '' : '.'}`;
    if (this.#more) return `More than ${mostFaults} faults; the first ${mostFaults} are listed. ${first}`;
    return this.#faults.length === 1 ? first : `${this.#faults.length} faults. ${first}`;
  }
}

/** The path of what stands under a path. */
export function under(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
