import { toLines } from './field-lines.ts';
import { createFurtherLine } from './fields.ts';
import { Problem as BaseProblem } from './problem.ts';

/** An error that the client receives as a problem document (RFC 9457). */
export type Problem = BaseProblem;

/**
 * An error that the client receives as a problem document (RFC 9457). Resources throw it; it has a stack trace. Problems that the
 * server itself throws are instances of it too, without one. The constructor throws RangeError on a header that cannot be sent, or
 * that the server sets.
 *
 * @example
 * throw new Problem('not-found', 'There is no such city.');
 */
export const Problem: typeof BaseProblem = class Problem extends BaseProblem {
  constructor(...parameters: ConstructorParameters<typeof BaseProblem>) {
    const { headers = [] } = parameters[2] ?? {};
    for (const [name, value] of toLines(headers)) createFurtherLine(name, value);
    super(...parameters);
    Error.captureStackTrace(this, new.target);
  }

  static {
    Object.defineProperty(Problem, Symbol.hasInstance, { value: isInstance });
  }
};

/** Implements `instanceof` for the exported class, and as usual for classes that extend it. */
function isInstance(this: unknown, value: unknown): boolean {
  if (this === Problem) return value instanceof BaseProblem;
  return Reflect.apply(Function.prototype[Symbol.hasInstance], this, [value]);
}
