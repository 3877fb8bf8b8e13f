import { didYouMean } from '../did-you-mean.ts';
import { toLines } from '../http/field-lines.ts';
import { createFurtherLine } from '../http/fields.ts';
import { Problem as BaseProblem, type ProblemOptions } from '../http/problem.ts';
import { problemTypes } from '../http/problem-types.ts';
import { membersOf, read } from '../shape/shape.ts';

/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<keyof ProblemOptions, true>> = {
  members: true,
  headers: true,
  close: true,
  document: true,
  cause: true,
};

/** An error that the client receives as a problem document (RFC 9457). */
export type Problem = BaseProblem;

/**
 * An error that the client receives as a problem document (RFC 9457). Resources throw it; it has a stack trace. Problems that the
 * server itself throws are instances of it too, without one. The constructor throws RangeError on an unknown type or option, and on a
 * header that cannot be sent or that the server sets.
 *
 * @example
 * throw new Problem('not-found', 'There is no such city.');
 */
export const Problem: typeof BaseProblem = class Problem extends BaseProblem {
  constructor(...parameters: ConstructorParameters<typeof BaseProblem>) {
    const [type, , options = {}] = parameters;
    if (!Object.hasOwn(problemTypes, type))
      throw new RangeError(
        `${JSON.stringify(type)} is not the type of a problem${didYouMean(String(type), Object.keys(problemTypes))}`,
      );
    read(membersOf(Object.keys(optionNames)), options, { optionsOf: 'a problem' });
    const { headers = [] } = options;
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
