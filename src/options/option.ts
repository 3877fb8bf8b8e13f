import { seconds } from '../shape/duration.ts';
import { flag, leaf, number, type Shape, word } from '../shape/shape.ts';

/** What else is known of an option. */
export interface OptionDetails {
  /** The default for `--help`, where it is not a fixed value. */
  readonly byDefault?: string;
  /** An alternative place in the configuration file: group and name. */
  readonly within?: readonly [group: string, name: string];
  /** The option of the service that it sets: its name, or group and name; `times` converts the unit. Default: none. */
  readonly sets?: readonly [name: string] | readonly [group: string, name: string];
  readonly times?: number;
}

/** An option of the command line, the environment and the configuration file. */
export interface Option<T> extends OptionDetails {
  /** Reads the value of the configuration file. */
  readonly shape: Shape<T>;
  /** Converts the text of a flag or a variable to a value of the file. Default: the text. */
  readonly parse?: (text: string) => unknown;
  /** What the value of the flag is, for `--help`: `PORT`; undefined if the flag needs no value. */
  readonly value: string | undefined;
  /** Whether the flag can be repeated. Default: false. */
  readonly repeatable?: boolean;
  readonly fallback: T;
  /** The description for `--help`, without a full stop. */
  readonly about: string;
}

/** Creates an option that is on or off. Default: off. */
export function toggle(about: string, details: OptionDetails = {}): Option<boolean> {
  return { ...details, shape: flag(), parse: parseState, value: undefined, fallback: false, about };
}

/** The range of a number, both inclusive. */
type Range = readonly [min: number, max: number];

/** Creates an option that is a whole number. Without a fallback, it is off unless it is set. */
export function whole<Fallback extends number | undefined>(
  value: string,
  [min, max]: Range,
  fallback: Fallback,
  about: string,
  details: OptionDetails = {},
): Option<number | Fallback> {
  return { ...details, shape: number({ min, max }), parse: parseDigits, value, fallback, about };
}

/** Creates an option that is a time in whole seconds, or as text such as `5m`. */
export function time(
  [min, max]: Range,
  fallback: number,
  about: string,
  details: OptionDetails = {},
): Option<number> {
  const shape = seconds({ min, max });
  return { ...details, shape, parse: parseDigits, value: 'SECONDS', fallback, about };
}

/** Creates an option that is one of several words. */
export function choice<
  const Words extends readonly [string, ...string[]],
  Fallback extends Words[number] | undefined,
>(
  words: Words,
  fallback: Fallback,
  about: string,
  details: OptionDetails = {},
): Option<Words[number] | Fallback> {
  return { ...details, shape: word(words), value: words.join('|'), fallback, about };
}

/** Creates an option whose flag and variable have the form of the file. */
export function written<T, Fallback extends T | undefined>(
  shape: Shape<T>,
  value: string,
  fallback: Fallback,
  about: string,
  details: OptionDetails = {},
): Option<T | Fallback> {
  return { ...details, shape, value, fallback, about };
}

/** Describes a text that is not empty and has no NUL, and that `accepts` recognizes. */
export function textOption(
  expected = 'non-empty text',
  accepts = (_: string): boolean => true,
): Shape<string> {
  return leaf(
    { type: 'string', minLength: 1 },
    expected,
    (value): value is string =>
      typeof value === 'string' && value !== '' && !value.includes('\0') && accepts(value),
  );
}

/** Converts the text of a toggle. Any other text stays, and is then refused. */
function parseState(text: string): unknown {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : text;
}

/** Converts the digits of a whole number. Any other text stays. */
function parseDigits(text: string): unknown {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}
