/** The result of a claim if a nonce with its date may have been claimed before, and is not known any more. */
export interface NoncesLost {
  /** The time (ms) from which requests that are signed then are accepted. */
  readonly knownFrom: number;
}

/**
 * Returns the first `until` (ms) that no claim before `lostAt` (ms) can have. The date of a request is at most one window (ms) ahead of
 * the clock, and accepted for one window, until the end of its second.
 */
export function endOfLost(lostAt: number, window: number): number {
  return lostAt + 2 * window + 1000;
}

/**
 * Returns the refusal of a claim whose `until` (ms) is before `end`, the first one of which the claims are known. A later request has a
 * later `until`, by the same time.
 */
export function lostUntil(end: number, until: number, now: number): NoncesLost {
  return { knownFrom: now + end - until };
}
