import type { KeyKind } from '../../accounts/keyring.ts';

/** The estimated time (µs) of one verification with a kind of key, without hashing. */
const costs: Readonly<Record<KeyKind, number>> = {
  secret: 5,
  ed25519: 120,
  'ecdsa-p256-sha256': 120,
  'ecdsa-p384-sha384': 800,
  'rsa-pss-sha512': 80,
  'rsa-v1_5-sha256': 60,
  'rsa-v1_5-sha1': 60,
  'rsa-v1_5-sha512': 60,
};

/** The bytes that are hashed in a microsecond. */
const hashedPerTime = 400;

/** The longest message and content (bytes) for which a server tries mistakes, and a test double: they are hashed for each. */
const longestLimited = 32_768;
const longestTried = 1_048_576;

/** Returns the longest message and content (bytes) for which mistakes are tried. */
export function selectLongest(isLimited: boolean): number {
  return isLimited ? longestLimited : longestTried;
}

/** Returns the reason for which no mistakes were tried: a message or content of this length (bytes). */
export function describeUntried(what: 'content' | 'message', length: number): string {
  return `the usual mistakes were not tried: the ${what} has ${formatSize(length)}`;
}

function formatSize(length: number): string {
  if (length < 1_000_000) return `${Math.round(length / 1000)} kB`;
  return `${(length / 1_000_000).toFixed(1).replace(/\.0$/, '')} MB`;
}

/** Returns the estimated time (µs) to verify a message of this length (bytes) with a kind of key. */
export function verificationTime(kind: KeyKind, length: number): number {
  return costs[kind] + length / hashedPerTime;
}

/** The estimated time (µs) of an explanation for a client of a server, or in the journal of a server. */
const limitedTime = 10_000;

/** The estimated time (µs) to write one value of a text again: a parameter, a member of JSON, or a tag of XML. */
const valueTime = 0.25;

/** Returns the estimated time (µs) to make a mistake in a text, which may have thousands of values. */
export function makingTime(text: string): number {
  return valueTime * (text.match(/[&,<]/g)?.length ?? 0);
}

/**
 * Bounds the work of an explanation, to about 10 ms by default. It counts estimates instead of reading a clock, so that neither the load of the
 * host nor the user decides which mistakes are tried, and an explanation is the same each time.
 */
export class ExplanationBudget {
  #left: number;
  #hasSkipped = false;
  #tried = 0;

  /** @param time The estimated time (µs) that may be spent. */
  constructor(time = limitedTime) {
    this.#left = time;
  }

  /** Whether something was not tried. */
  get isExhausted(): boolean {
    return this.#hasSkipped || this.#left < 0;
  }

  /** The number of forms of the message that were tried. */
  get tried(): number {
    return this.#tried;
  }

  /** Takes an estimated time (µs) off the budget, for one form of the message. Returns false once it is used up. */
  spend(time: number): boolean {
    this.#left -= time;
    if (this.#left >= 0) this.#tried += 1;
    return this.#left >= 0;
  }

  /** Yields what takes an estimated time (µs) to make, until the budget is used up. */
  *limit<Made>(time: number, made: Iterable<Made>): Generator<Made> {
    for (const each of made) {
      this.#left -= time;
      if (this.#left < 0) return;
      yield each;
    }
  }

  /** Takes an estimated time (µs) off the budget if it leaves half of it for the rest. Returns false otherwise. */
  spendHalf(time: number): boolean {
    if (time <= this.#left / 2) return this.spend(time);
    this.#hasSkipped = true;
    return false;
  }

  /**
   * Returns the mistakes that reproduce a signature, among those that fit into the budget. It stops at the first one only if the
   * time is unlimited: then no client measures it. A generator creates no more of them than are tried.
   *
   * @param estimateTime Returns the estimated time (µs) to try a mistake.
   */
  matching<Mistake>(
    mistakes: Iterable<Mistake>,
    estimateTime: (mistake: Mistake) => number,
    reproduces: (mistake: Mistake) => boolean,
  ): Mistake[] {
    const found: Mistake[] = [];
    for (const mistake of mistakes) {
      if (!this.spend(estimateTime(mistake))) break;
      if (!reproduces(mistake)) continue;
      found.push(mistake);
      if (this.#left === Number.POSITIVE_INFINITY) break;
    }
    return found;
  }
}

/** Returns the number of forms of the message that were tried, with all budgets. */
export function countTried({ catalogue, secrets, changes, readings, pairs }: Budgets): number {
  return [...new Set([catalogue, secrets, changes, readings, pairs])].reduce(
    (sum, { tried }) => sum + tried,
    0,
  );
}

/** The budgets of one explanation. They are the same one if the explanation has only the time of a server. */
export interface Budgets {
  readonly isLimited: boolean;
  /** For the mistakes of the catalogue. */
  readonly catalogue: ExplanationBudget;
  /** For the secrets of others, and other keys of the user. */
  readonly secrets: ExplanationBudget;
  /** For values of the target and the time that are many. */
  readonly changes: ExplanationBudget;
  /** For other readings of the clock. */
  readonly readings: ExplanationBudget;
  /** Returns that for the list of mistakes in one message that are tried with other secrets, and in pairs. */
  readonly list: () => ExplanationBudget;
  readonly pairs: ExplanationBudget;
}

/** Creates the budgets of one explanation. */
export function createBudgets(isLimited: boolean): Budgets {
  if (isLimited) {
    const all = new ExplanationBudget();
    return {
      isLimited,
      catalogue: all,
      secrets: all,
      changes: all,
      readings: all,
      list: () => all,
      pairs: all,
    };
  }
  return {
    isLimited,
    catalogue: new ExplanationBudget(Number.POSITIVE_INFINITY),
    secrets: new ExplanationBudget(300_000),
    changes: new ExplanationBudget(200_000),
    readings: new ExplanationBudget(200_000),
    list: () => new ExplanationBudget(4 * limitedTime),
    pairs: new ExplanationBudget(300_000),
  };
}
