/**
 * The result of an attempt. `held`: the status is an expected one. `let through`: the request was accepted but must be
 * refused. `unexpected`: another status, or no response, which proves nothing. `not tried`: the server does not have the
 * transport that the attempt requires, or something else that it requires is missing.
 */
export type AttackVerdict = 'held' | 'let through' | 'unexpected' | 'not tried';

/** The outcome of an attempt. */
export interface Outcome {
  readonly verdict: AttackVerdict;
  /** Undefined if there was no response to the last request. */
  readonly status: number | undefined;
  /** The reason for a missing status, or the meaning of the status. */
  readonly note: string | undefined;
}

/** The results of all attempts. */
export interface Report<Result extends Outcome> {
  readonly results: readonly Result[];
  /** Whether the verdict of all attempts that were tried is `held`, and at least one was tried. */
  readonly held: boolean;
  readonly letThrough: readonly Result[];
  readonly unexpected: readonly Result[];
  readonly notTried: readonly Result[];
  /** Returns the report as text, with the requests that were let through first. It contains no credentials. */
  toString(): string;
}

/** Creates the report. `describe` returns a result as a line of text. */
export function reportOf<Result extends Outcome>(
  results: readonly Result[],
  describe: (result: Result) => string,
): Report<Result> {
  const withVerdict = (verdict: AttackVerdict): Result[] =>
    results.filter((each) => each.verdict === verdict);
  const section = (title: string, chosen: readonly Result[]): string[] =>
    chosen.length === 0 ? [] : ['', title, ...chosen.map((each) => `- ${describe(each)}`)];
  const [held, letThrough] = [withVerdict('held'), withVerdict('let through')];
  const [unexpected, notTried] = [withVerdict('unexpected'), withVerdict('not tried')];
  return {
    results,
    held: held.length > 0 && letThrough.length === 0 && unexpected.length === 0,
    letThrough,
    unexpected,
    notTried,
    toString: () =>
      [
        `${results.length} attempts: ${held.length} held, ${letThrough.length} let through, ${unexpected.length} unexpected, ${notTried.length} not tried.`,
        ...section('Let through, but must be refused:', letThrough),
        ...section('Unexpected responses, which prove nothing:', unexpected),
        ...section('Not tried:', notTried),
      ].join('\n'),
  };
}

/** Returns whether a status accepts the request. A 304 confirms that the client's representation is current. */
export function isAccepted(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

/** Returns the meaning of a status that does not depend on the request. */
export function meaningOf(status: number): string | undefined {
  return meanings.get(status);
}

const meanings: ReadonlyMap<number, string> = new Map([
  [429, 'the server limits failed authentications: raise the limit, or wait'],
  [500, 'the server failed internally'],
  [503, 'the server is not ready'],
]);

/** Returns the outcome of an attempt without a response. */
export function failed(error: unknown): Outcome {
  const note = `no response: ${error instanceof Error ? error.message : 'the connection failed'}`;
  return { verdict: 'unexpected', status: undefined, note };
}

/**
 * Returns the outcome of requests that were sent at the same time, of which exactly one must be accepted. The statuses of
 * the others must be among the expected ones. A missing response has the status undefined.
 */
export function outcomeOfRace(
  statuses: readonly (number | undefined)[],
  expected: readonly number[],
): Outcome {
  const acceptedOnes = statuses.filter((status) => status !== undefined && isAccepted(status));
  const others = statuses.filter((status) => status === undefined || !isAccepted(status));
  const [first] = acceptedOnes;
  const count = `${acceptedOnes.length} of ${statuses.length} requests were accepted`;
  if (acceptedOnes.length > 1) return { verdict: 'let through', status: first, note: count };
  if (others.includes(undefined))
    return {
      verdict: 'unexpected',
      status: undefined,
      note: 'there was no response to some of the requests',
    };
  const odd = others.find((status) => status !== undefined && !expected.includes(status));
  if (odd !== undefined) return { verdict: 'unexpected', status: odd, note: meaningOf(odd) };
  if (first === undefined) return { verdict: 'unexpected', status: others[0], note: count };
  return { verdict: 'held', status: others[0], note: undefined };
}
