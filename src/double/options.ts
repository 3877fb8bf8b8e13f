import { didYouMean } from '../did-you-mean.ts';
import { optionNames, type ServiceOptions } from '../service/options.ts';
import type { JournalOptions } from './journal/journal.ts';
import type { Moment } from './state/clock.ts';
import type { DoubleUsersOption } from './state/users.ts';

/** What of a service's options a double sees to itself. */
type Own = 'clock' | 'random' | 'store' | 'nonces' | 'notBefore' | 'masterKey' | 'observer' | 'users';

/** What a double is made of: everything that a service can be, and nothing has to be given. */
export interface DoubleOptions extends Omit<ServiceOptions, Own> {
  /**
   * Users by their names; a user `{}` has a secret and a password that are drawn, and so have those in a list of names.
   * @example { johndoe: { secret: 's3cret', password: 'pw' }, ann: {} }
   */
  readonly users?: DoubleUsersOption;
  /** What ids, nonces, tokens and all that is drawn follow from: the same seed, the same values. Drawn when left out. */
  readonly randomSeed?: string | number;
  /** Where its clock begins, and stands until it is moved. Left out, it runs with the host's. */
  readonly now?: Moment;
  /** Whether it listens to HTTPS beside HTTP; true when left out. OAuth needs it. */
  readonly https?: boolean;
  /**
   * Whether the process stays alive until the double is closed; for a script that only starts one. Default: false, so that a test
   * which forgot to close its double does not hold up the whole run.
   */
  readonly keepAlive?: boolean;
  /** How much the journal keeps. */
  readonly journal?: Pick<JournalOptions, 'entries' | 'bytes' | 'content'>;
  /** Whether `close` rejects where faults were planned that no request has met; `ignore` when left out. */
  readonly pendingFaults?: 'ignore' | 'error';
}

/** The compiler holds the list complete. */
const ownNames: Readonly<Record<Exclude<keyof DoubleOptions, keyof ServiceOptions>, true>> = {
  randomSeed: true,
  now: true,
  https: true,
  keepAlive: true,
  journal: true,
  pendingFaults: true,
};

const seenToItself: Readonly<Record<Exclude<Own, 'users'>, true>> = {
  clock: true,
  random: true,
  store: true,
  nonces: true,
  notBefore: true,
  masterKey: true,
  observer: true,
};

/** Throws RangeError on an option that a double does not have, naming the nearest. */
export function refuseUnknownOptions(options: DoubleOptions): void {
  const known = [...Object.keys(optionNames), ...Object.keys(ownNames)].filter(
    (name) => !Object.hasOwn(seenToItself, name),
  );
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw new RangeError(`${name} is not an option of a double${didYouMean(name, known)}`);
  }
}
