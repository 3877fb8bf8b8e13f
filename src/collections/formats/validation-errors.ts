import type { Position } from '../../http/json.ts';
import { Problem } from '../../http/problem.ts';
import type { Field } from '../fields/schema.ts';
import type { Violation } from '../fields/simple-type.ts';

/** A rule that a document violates, with the field and its position. */
export interface ValidationError extends Violation, Partial<Position> {
  /** The path of the field: `title`, `price/@currency`, `address/street`, `tags/item[2]`. */
  readonly field: string;
}

/** The maximum number of errors that are listed. */
const maxErrors = 20;

/** The first 20 errors of a document. */
export class ValidationErrors {
  readonly #errors: ValidationError[] = [];
  #truncated = false;

  /** Returns whether another error can be added. Call it before computing the position of an error. */
  hasRoom(): boolean {
    if (this.#errors.length < maxErrors) return true;
    this.#truncated = true;
    return false;
  }

  /** Adds an error; requires {@link hasRoom}. */
  add(field: string, violation: Violation, position: Position | undefined): void {
    const { rule, detail } = violation;
    this.#errors.push({ field, rule, detail, ...position });
  }

  /** The errors so far. */
  get found(): readonly ValidationError[] {
    return this.#errors;
  }

  /** Returns the problem that lists all errors; undefined if there are none. */
  problem(): Problem | undefined {
    const [first] = this.#errors;
    if (first === undefined) return undefined;
    const position = first.line === undefined ? {} : { line: first.line, column: first.column ?? 1 };
    return new Problem('invalid-content', this.#summary(first), {
      members: { field: first.field, ...position, errors: this.#errors.map((error) => ({ ...error })) },
    });
  }

  #summary({ field, detail }: ValidationError): string {
    const first = `${field} ${detail}${detail.endsWith('?') ? '' : '.'}`;
    if (this.#truncated) return `More than ${maxErrors} errors; the first ${maxErrors} are listed. ${first}`;
    return this.#errors.length === 1 ? first : `${this.#errors.length} errors. ${first}`;
  }
}

/** Returns why clients cannot send a field. */
export function describeReadOnly({ set }: Pick<Field, 'set'>): string {
  return set === undefined ? 'is read-only' : 'is set by the server';
}

/** Joins a path and a name. */
export function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
