import type { Shape } from '../shape/shape.ts';

/** The kinds of options of the command line, the environment and the configuration file. */

interface Described {
  /** The description for `--help`, without a full stop; undefined for an option that is not listed. */
  readonly about?: string;
  /** The default for `--help`, where it is not a fixed value. */
  readonly byDefault?: string;
  /** An alternative place in the configuration file: group and name. */
  readonly within?: readonly [string, string];
  /** The option of the service that it sets: its name, or group and name; `times` converts the unit. Default: none. */
  readonly sets?: readonly [name: string] | readonly [group: string, name: string];
  readonly times?: number;
}

/** An option that is on or off. Default: off. */
interface Toggle extends Described {
  readonly kind: 'toggle';
}

/** A whole number within bounds. */
interface Whole extends Described {
  readonly kind: 'whole';
  /** What it counts: with `SECONDS`, the value can also be a duration as text, such as `5m`. */
  readonly value: string;
  readonly min: number;
  readonly max: number;
  /** The default; undefined if the option is off unless it is set. */
  readonly fallback: number | undefined;
}

/** One of several words. */
interface Choice extends Described {
  readonly kind: 'choice';
  readonly words: readonly [string, ...string[]];
  readonly fallback: string | undefined;
}

/** A non-empty string. */
interface Text extends Described {
  readonly kind: 'text';
  readonly value: string;
  /** The form of the value in the configuration file. Default: a non-empty string. */
  readonly inFile?: Shape<unknown>;
  readonly fallback: string | undefined;
}

/** A list of strings: a repeatable flag, a variable with commas, an array in the configuration file. */
interface List extends Described {
  readonly kind: 'list';
  readonly value: string;
}

export type OptionSpec = Toggle | Whole | Choice | Text | List;
