import type { Clock } from '../clock.ts';

/** A named part of a signed message, such as `method` or `query`. */
export interface MessagePart {
  readonly name: string;
  /** The value that the server verifies the signature against. */
  readonly expected: string;
  /** The value that the client's signature covers, if a usual mistake reproduces that signature and the part differs. */
  readonly signed?: string;
}

/** An explanation of a wrong signature. It never contains a secret, a key or a valid signature. */
export interface SignatureExplanation {
  /** The mistake, in one sentence; undefined if no usual mistake reproduces the client's signature. */
  readonly hint?: string;
  /** The parts of the message, in the order in which they are signed. */
  readonly parts: readonly MessagePart[];
  /** The name of the part that differs, if one is known to differ. */
  readonly differs?: string;
}

/** The time (ms) after which the explanation of one signature tries no further mistakes. */
const longestSearch = 10;

/**
 * Limits the time in which an explanation tries mistakes, so that a refusal costs little more with it. A test double has no limit:
 * its explanations must not depend on the load of its host.
 */
export class ExplanationBudget {
  readonly #clock: Pick<Clock, 'steady'>;
  readonly #end: number;

  /** @param authTrace The trace of the request; that of a test double has its knowledge. */
  constructor(clock: Pick<Clock, 'steady'>, authTrace: { readonly knowledge: unknown } | undefined) {
    this.#clock = clock;
    this.#end =
      authTrace?.knowledge === undefined ? clock.steady() + longestSearch : Number.POSITIVE_INFINITY;
  }

  /** Yields mistakes until the time has passed. They are created on demand if they are a generator. */
  *within<Mistake>(mistakes: Iterable<Mistake>): Generator<Mistake> {
    for (const mistake of mistakes) {
      if (this.#clock.steady() >= this.#end) return;
      yield mistake;
    }
  }

  /** Returns the mistakes that reproduce a signature, among those that are tried in time. It does not stop at the first one. */
  matching<Mistake>(mistakes: Iterable<Mistake>, reproduces: (mistake: Mistake) => boolean): Mistake[] {
    const found: Mistake[] = [];
    for (const mistake of this.within(mistakes)) if (reproduces(mistake)) found.push(mistake);
    return found;
  }
}
