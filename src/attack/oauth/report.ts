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

/** An attempt that obtains codes and tokens while it runs. */
export interface OAuthCase {
  readonly name: string;
  readonly why: string;
  /** Returns the outcome. May throw `Interruption`; any other error is a missing response. */
  run(): Promise<Outcome>;
}

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
    for (const { name, why, run } of cases[id] ?? [])
      results.push({ id, ...findWeakness(id), name, why, ...(await run().catch(describeInterruption)) });
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

/** Returns the outcome of a request that must be refused. */
export function mustBeRefused({ status }: { readonly status: number }): Outcome {
  if (refusals.includes(status)) return { verdict: 'passed', status, note: undefined };
  return { verdict: isAccepted(status) ? 'failed' : 'inconclusive', status, note: describeStatus(status) };
}

/** Returns the outcome of a request that must be accepted. */
export function mustBeAccepted({ status }: { readonly status: number }): Outcome {
  if (isAccepted(status)) return { verdict: 'passed', status, note: undefined };
  return { verdict: 'inconclusive', status, note: describeStatus(status) };
}

/** Returns the outcome of requests at the same time, of which exactly one must be accepted. */
export function oneMustBeAccepted(responses: readonly ({ readonly status: number } | undefined)[]): Outcome {
  return outcomeOfRace(
    responses.map((response) => response?.status),
    refusals,
  );
}

/** The outcome of an attempt that the server refused before any request to a token endpoint. */
export const refusedBefore: Outcome = {
  verdict: 'passed',
  status: undefined,
  note: 'the authorization endpoint refused the request',
};
