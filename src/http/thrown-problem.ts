import { Problem as Refusal } from './problem.ts';

/** A refusal that becomes a problem document (RFC 9457). */
export type Problem = Refusal;

/**
 * A refusal that becomes a problem document (RFC 9457), as the code of a resource throws it: with a stack trace. Refusals of
 * the server itself are instances of it too.
 * @example throw new Problem('not-found', 'There is no such city.');
 */
export const Problem: typeof Refusal = class Problem extends Refusal {
  constructor(...parameters: ConstructorParameters<typeof Refusal>) {
    super(...parameters);
    Error.captureStackTrace(this, new.target);
  }

  static {
    Object.defineProperty(Problem, Symbol.hasInstance, { value: isInstance });
  }
};

/** Decides `instanceof` for the exported class, and as usual for a class that extends it. */
function isInstance(this: unknown, value: unknown): boolean {
  if (this === Problem) return value instanceof Refusal;
  return Reflect.apply(Function.prototype[Symbol.hasInstance], this, [value]);
}
