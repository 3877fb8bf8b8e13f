import type { RawResponse } from '../../net/raw-client.ts';
import {
  type AttackReport,
  type AttackResult,
  createReport,
  describeNoResponse,
  describeStatus,
  isAccepted,
  type Outcome,
  outcomeOfRace,
} from '../report.ts';
import { findWeakness, type Waivers, type WeaknessId, weaknessIds } from '../weaknesses.ts';

/** A response, as far as a verdict needs it. */
type Response = Pick<RawResponse, 'status'>;

/**
 * What an attempt ends with: the response that must be a refusal, those to requests at the same time, of which one must be accepted,
 * or an outcome. Undefined if the server refused the attempt before any request to a token endpoint.
 */
type Ending = Response | readonly (Response | undefined)[] | Outcome | undefined;

/** An attempt that obtains codes and tokens while it runs. `run` may throw `Interruption`; any other error is a missing response. */
export type OAuthCase = readonly [name: string, why: string, run: () => Promise<Ending>];

/** Ends an attempt before its last request. */
export class Interruption extends Error {
  readonly verdict: 'inconclusive' | 'skipped';

  constructor(verdict: 'inconclusive' | 'skipped', message: string) {
    super(message);
    this.verdict = verdict;
  }
}

/** Runs the attempts on each weakness, one after the other. */
export async function runCases(
  cases: Readonly<Partial<Record<WeaknessId, readonly OAuthCase[]>>>,
  waive: Waivers | undefined,
): Promise<AttackReport> {
  const results: AttackResult[] = [];
  for (const id of weaknessIds)
    for (const [name, why, run] of cases[id] ?? []) {
      const outcome = await run().then(judge, describeInterruption);
      results.push({ id, ...findWeakness(id), name, why, ...outcome });
    }
  return createReport(results, { describe, waive, notTested });
}

const notTested: readonly string[] = [
  'the consent page, and the login of the user',
  'whether secrets, codes and tokens are compared in constant time',
  'whether codes and tokens are random enough',
];

function describeInterruption(error: unknown): Outcome {
  if (!(error instanceof Interruption)) return describeNoResponse(error);
  return { verdict: error.verdict, status: undefined, note: error.message };
}

function describe({ name, why, status, note }: AttackResult): string {
  const outcome = [status, note].filter((part) => part !== undefined).join(', ');
  return `${name}: ${outcome}. ${why}`;
}

/** Statuses with which an authorization server refuses a request (RFC 6749 §5.2, RFC 5849 §3.2). */
const refusals: readonly number[] = [400, 401, 403];

function judge(ending: Ending): Outcome {
  if (ending === undefined)
    return { verdict: 'passed', status: undefined, note: 'the authorization endpoint refused the request' };
  if (isList(ending))
    return outcomeOfRace(
      ending.map((response) => response?.status),
      refusals,
    );
  if ('verdict' in ending) return ending;
  const { status } = ending;
  if (refusals.includes(status)) return { verdict: 'passed', status, note: undefined };
  return { verdict: isAccepted(status) ? 'failed' : 'inconclusive', status, note: describeStatus(status) };
}

function isList(ending: Ending): ending is readonly (Response | undefined)[] {
  return Array.isArray(ending);
}

/** Returns the outcome of a request that must be accepted. */
export function mustBeAccepted({ status }: Response): Outcome {
  if (isAccepted(status)) return { verdict: 'passed', status, note: undefined };
  return { verdict: 'inconclusive', status, note: describeStatus(status) };
}
