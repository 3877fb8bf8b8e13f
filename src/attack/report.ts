/**
 * The verdict on an attempt. `passed`: the status is an expected one. `failed`: the request was accepted but must be refused.
 * `inconclusive`: another status, or no response, which proves nothing. `skipped`: the server does not have the transport that the
 * attempt requires, or something else that it requires is missing.
 */
type AttackVerdict = 'passed' | 'failed' | 'inconclusive' | 'skipped';

/** The outcome of an attempt. */
export interface Outcome {
  /** The verdict: `passed`, `failed`, `inconclusive` or `skipped`. */
  readonly verdict: AttackVerdict;
  /** Undefined if there was no response to the last request. */
  readonly status: number | undefined;
  /** The reason for a missing status, or the meaning of the status. */
  readonly note: string | undefined;
}

/** The result of one attempt. */
export interface AttackResult extends Outcome {
  /** A unique sentence without a full stop. */
  readonly name: string;
  /** The reason for the expected response. */
  readonly why: string;
}

/** The results of all attempts. */
export interface AttackReport<Result extends AttackResult = AttackResult> {
  /** The results of all attempts, in the order sent. */
  readonly results: readonly Result[];
  /** Whether the verdict on each attempt is `passed` or `skipped`, and at least one has passed. */
  readonly passed: boolean;
  /** The results with the verdict `failed`. */
  readonly failed: readonly Result[];
  /** The results with the verdict `inconclusive`. */
  readonly inconclusive: readonly Result[];
  /** The results with the verdict `skipped`. */
  readonly skipped: readonly Result[];
  /** Returns the report as text, with the requests that were wrongly accepted first. It contains no credentials. */
  toString(): string;
}

/** Creates the report. `describe` returns a result as a line of text. */
export function createReport<Result extends AttackResult>(
  results: readonly Result[],
  describe: (result: Result) => string,
): AttackReport<Result> {
  const selectVerdict = (verdict: AttackVerdict): Result[] =>
    results.filter((each) => each.verdict === verdict);
  const section = (title: string, chosen: readonly Result[]): string[] =>
    chosen.length === 0 ? [] : ['', title, ...chosen.map((each) => `- ${describe(each)}`)];
  const [passed, failed] = [selectVerdict('passed'), selectVerdict('failed')];
  const [inconclusive, skipped] = [selectVerdict('inconclusive'), selectVerdict('skipped')];
  const counts = [
    `${passed.length} passed`,
    `${failed.length} failed`,
    `${inconclusive.length} inconclusive`,
    `${skipped.length} skipped`,
  ];
  return {
    results,
    passed: passed.length > 0 && failed.length === 0 && inconclusive.length === 0,
    failed,
    inconclusive,
    skipped,
    toString: () =>
      [
        `${results.length} attempts: ${counts.join(', ')}.`,
        ...section('Failed, because the server accepted what it must refuse:', failed),
        ...section('Inconclusive, because the response proves nothing:', inconclusive),
        ...section('Skipped:', skipped),
      ].join('\n'),
  };
}

/** Returns whether a status accepts the request. A 304 confirms that the client's representation is current. */
export function isAccepted(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

/** Returns the meaning of a status that does not depend on the request. */
export function describeStatus(status: number): string | undefined {
  return meanings.get(status);
}

const meanings: ReadonlyMap<number, string> = new Map([
  [429, 'the server limits failed authentications: raise the limit, or wait'],
  [500, 'the server failed internally'],
  [503, 'the server is not ready'],
]);

/** Returns the outcome of an attempt without a response. */
export function describeNoResponse(error: unknown): Outcome {
  const note = `no response: ${error instanceof Error ? error.message : 'the connection failed'}`;
  return { verdict: 'inconclusive', status: undefined, note };
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
  if (acceptedOnes.length > 1) return { verdict: 'failed', status: first, note: count };
  if (others.includes(undefined))
    return {
      verdict: 'inconclusive',
      status: undefined,
      note: 'there was no response to some of the requests',
    };
  const odd = others.find((status) => status !== undefined && !expected.includes(status));
  if (odd !== undefined) return { verdict: 'inconclusive', status: odd, note: describeStatus(odd) };
  if (first === undefined) return { verdict: 'inconclusive', status: others[0], note: count };
  return { verdict: 'passed', status: others[0], note: undefined };
}
