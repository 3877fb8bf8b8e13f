import type { Attempt } from './attempt.ts';
import type { Waivers } from './weaknesses.ts';

/**
 * The verdict on an attempt. `passed`: the status is an expected one. `failed`: the request was accepted but must be refused.
 * `inconclusive`: another status, or no response, which proves nothing. `skipped`: the server does not have the transport that the
 * attempt requires, or something else that it requires is missing. `waived`: failed or inconclusive, and `waive` names the weakness.
 */
type AttackVerdict = 'passed' | 'failed' | 'inconclusive' | 'skipped' | 'waived';

/** The outcome of an attempt. */
export interface Outcome {
  /** The verdict: `passed`, `failed`, `inconclusive`, `skipped` or `waived`. */
  readonly verdict: AttackVerdict;
  /** Undefined if there was no response to the last request. */
  readonly status: number | undefined;
  /** The reason for a missing status, the meaning of the status, or the reason of a waiver. */
  readonly note: string | undefined;
}

/** The result of one attempt. */
export interface AttackResult
  extends Outcome,
    Pick<Attempt, 'id' | 'severity' | 'proves' | 'remedy' | 'name'> {
  /** The reason for the expected response. */
  readonly why: string;
}

/** The results of all attempts. */
export interface AttackReport<Result extends AttackResult = AttackResult> {
  /** The results of all attempts, in the order sent. */
  readonly results: readonly Result[];
  /**
   * Whether at least one attempt has passed, and no attempt of the severity `medium` or `high` has failed or is inconclusive. Waived
   * results do not count.
   */
  readonly passed: boolean;
  /** The results with the verdict `failed`, of any severity. */
  readonly failed: readonly Result[];
  /** The results with the verdict `inconclusive`. */
  readonly inconclusive: readonly Result[];
  /** The results with the verdict `skipped`. */
  readonly skipped: readonly Result[];
  /** The results with the verdict `waived`. */
  readonly waived: readonly Result[];
  /** What was not tried, such as the time that a comparison takes. */
  readonly notTested: readonly string[];
  /** Returns the report as text, with the requests that were wrongly accepted first. It contains no credentials. */
  toString(): string;
}

/** What a report contains beside the results. */
interface ReportParts<Result extends AttackResult> {
  /** Returns a result as a line of text. */
  readonly describe: (result: Result) => string;
  readonly waive: Waivers | undefined;
  readonly notTested: readonly string[];
}

/** Creates the report. */
export function createReport<Result extends AttackResult>(
  given: readonly Result[],
  { describe, waive = {}, notTested }: ReportParts<Result>,
): AttackReport<Result> {
  const results = given.map((result) => applyWaiver(result, waive));
  const selectVerdict = (verdict: AttackVerdict): Result[] =>
    results.filter((each) => each.verdict === verdict);
  const [passed, failed, inconclusive] = [
    selectVerdict('passed'),
    selectVerdict('failed'),
    selectVerdict('inconclusive'),
  ];
  const [skipped, waived] = [selectVerdict('skipped'), selectVerdict('waived')];
  const unneeded = Object.keys(waive).filter((id) => !waived.some((result) => result.id === id));
  const counts = [
    `${passed.length} passed`,
    `${failed.length} failed`,
    `${inconclusive.length} inconclusive`,
    `${skipped.length} skipped`,
    ...(waived.length === 0 ? [] : [`${waived.length} waived`]),
  ];
  const serious = failed.filter(({ severity }) => severity !== 'low');
  const slight = failed.filter(({ severity }) => severity === 'low');
  return {
    results,
    passed: passed.length > 0 && [...failed, ...inconclusive].every(({ severity }) => severity === 'low'),
    failed,
    inconclusive,
    skipped,
    waived,
    notTested,
    toString: () =>
      [
        `${results.length} attempts: ${counts.join(', ')}.`,
        ...formatWeaknesses('Failed, because the server accepted what it must refuse:', serious, describe),
        ...formatWeaknesses('Accepted, with low severity, which does not count:', slight, describe),
        ...formatSection('Inconclusive, because the response proves nothing:', inconclusive.map(describe)),
        ...formatSection('Waived:', waived.map(describe)),
        ...formatSection('Waived in vain, because no attempt failed:', unneeded),
        ...formatSection('Skipped:', skipped.map(describe)),
        ...formatSection('Not tested:', notTested),
      ].join('\n'),
  };
}

/** Returns the result with the verdict `waived` if it counts, and its weakness is waived. */
function applyWaiver<Result extends AttackResult>(result: Result, waive: Waivers): Result {
  const reason = waive[result.id];
  if (reason === undefined || (result.verdict !== 'failed' && result.verdict !== 'inconclusive'))
    return result;
  return { ...result, verdict: 'waived', note: [result.note, reason].filter(Boolean).join('; ') };
}

function formatSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `- ${line}`)];
}

/** Returns the results of each weakness below what they prove and what to do, the severe ones first. */
function formatWeaknesses<Result extends AttackResult>(
  title: string,
  results: readonly Result[],
  describe: (result: Result) => string,
): string[] {
  const [high, others] = [
    results.filter(({ severity }) => severity === 'high'),
    results.filter(({ severity }) => severity !== 'high'),
  ];
  const ids = new Set([...high, ...others].map(({ id }) => id));
  const groups = [...ids].flatMap((id) => {
    const own = results.filter((each) => each.id === id);
    const heading = own
      .slice(0, 1)
      .map(({ severity, proves, remedy }) => `${id} (${severity}): ${proves} ${remedy}`);
    return [...heading, ...own.map((each) => `- ${describe(each)}`)];
  });
  return groups.length === 0 ? [] : ['', title, ...groups];
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
