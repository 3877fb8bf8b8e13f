import { didYouMean, findClosestMatch } from '../did-you-mean.ts';
import { type Duration, requireDuration } from '../duration.ts';
import { describeKind } from '../shape/fault.ts';

/**
 * Checks of arguments and options, which in JavaScript can be any value. All throw RangeError. `what` names the value in the message.
 * A message contains no value that can be a secret.
 */

/** Requires an object. `example` is added to the message: `such as { secret: '…' }`. */
export function checkObject(value: unknown, what: string, example = ''): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new RangeError(
    `${what} must be an object${example === '' ? '' : ` ${example}`}, is ${describeKind(value)}`,
  );
}

/** Requires an object with no other members than the known ones. The message suggests the nearest known name. */
export function checkMembers(
  value: unknown,
  known: readonly string[],
  what: string,
  example = '',
): asserts value is object {
  checkObject(value, what, example);
  for (const name of Object.keys(value)) {
    if (!known.includes(name))
      throw new RangeError(`${name} is not a member of ${what}${didYouMean(name, known)}`);
  }
}

/** Requires one of these words, unless the value is undefined. `what` is such as `a scheme`. */
export function checkWord(value: unknown, words: readonly string[], what: string): void {
  if (value === undefined) return;
  if (typeof value !== 'string')
    throw new RangeError(`${what} must be one of ${words.join(', ')}, is ${describeKind(value)}`);
  if (!words.includes(value))
    throw new RangeError(`${JSON.stringify(value)} is not ${what}${didYouMean(value, words)}`);
}

/** The range of a number. */
interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  /** Whether it must be an integer. Default: false. */
  readonly whole?: boolean;
  /** The unit in the message. */
  readonly unit?: string;
}

/** Requires a number within a range, unless the value is undefined. */
export function checkNumber(
  value: unknown,
  what: string,
  { min = -Infinity, max = Infinity, whole = false, unit }: NumberRange = {},
): void {
  if (value === undefined) return;
  const isValid =
    typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value));
  if (isValid) return;
  const kind = whole ? 'an integer' : 'a number';
  const of = unit === undefined ? '' : ` of ${unit}`;
  const from = Number.isFinite(min) ? ` from ${min}` : '';
  const to = Number.isFinite(max) ? ` to ${max}` : '';
  const given = typeof value === 'number' ? String(value) : describeKind(value);
  throw new RangeError(`${what} must be ${kind}${of}${from}${to}, is ${given}`);
}

/** Requires a boolean, unless the value is undefined. */
export function checkFlag(value: unknown, what: string): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new RangeError(`${what} must be true or false, is ${describeKind(value)}`);
}

/** Requires a string, unless the value is undefined. */
export function checkText(value: unknown, what: string): void {
  if (value === undefined || typeof value === 'string') return;
  throw new RangeError(`${what} must be text, is ${describeKind(value)}`);
}

/** Requires a string. */
export function checkString(value: unknown, what: string): asserts value is string {
  if (typeof value !== 'string') throw new RangeError(`${what} must be a string, is ${describeKind(value)}`);
}

/** Returns a value for a message about it: text in quotes, `5`, `null`, `an object`. It must not be a secret. */
export function formatArgument(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? describeKind(value) : String(value);
}

/** Requires a function, unless the value is undefined. */
export function checkFunction(value: unknown, what: string): void {
  if (value === undefined || typeof value === 'function') return;
  throw new RangeError(`${what} must be a function, is ${describeKind(value)}`);
}

/**
 * Refuses a misspelt member of an object. Members that resemble no known one are ignored: client libraries pass their own to `fetch`, and
 * test frameworks theirs to a hook.
 */
export function refuseMisspelt(value: object, known: readonly string[], what: string): void {
  for (const name of Object.keys(value)) {
    const meant = known.includes(name) ? undefined : findClosestMatch(name, known);
    if (meant !== undefined)
      throw new RangeError(`${name} is not a member of ${what}; did you mean "${meant}"?`);
  }
}

/**
 * Returns the grace period of `close`, in ms. A test framework that calls `close` as a hook passes a function or an object of its own, which
 * is ignored.
 */
export function readGrace(options: unknown, fallback: Duration): number {
  if (options === undefined || typeof options === 'function') return requireDuration(fallback, 'grace');
  checkObject(options, 'the options of close', "such as { grace: '2s' }");
  refuseMisspelt(options, ['grace'], 'the options of close');
  const grace: unknown = Reflect.get(options, 'grace') ?? fallback;
  if (typeof grace === 'number' || typeof grace === 'string') return requireDuration(grace, 'grace');
  throw new RangeError(`grace must be a number of ms or text such as '2s', is ${describeKind(grace)}`);
}
