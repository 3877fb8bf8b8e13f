import {
  failed,
  isAccepted,
  meaningOf,
  type Outcome,
  outcomeOfRace,
  type Report,
  reportOf,
} from '../report.ts';

/** The result of one attempt against an authorization server. */
export interface OAuthResult extends Outcome {
  /** A unique sentence without a full stop. */
  readonly name: string;
  /** The reason why the server must refuse it. */
  readonly why: string;
}

/** The results of all attempts against an authorization server. */
export type OAuthReport = Report<OAuthResult>;

/** An attempt that obtains codes and tokens while it runs. */
export interface OAuthCase {
  readonly name: string;
  readonly why: string;
  /** Returns the outcome. May throw `Interruption`; any other error is a missing response. */
  run(): Promise<Outcome>;
}

/** Ends an attempt before its last request. */
export class Interruption extends Error {
  readonly verdict: 'unexpected' | 'not tried';

  constructor(verdict: 'unexpected' | 'not tried', message: string) {
    super(message);
    this.verdict = verdict;
  }
}

/** Runs the attempts, one after the other. */
export async function runCases(cases: Iterable<OAuthCase>): Promise<OAuthReport> {
  const results: OAuthResult[] = [];
  for (const { name, why, run } of cases) results.push({ name, why, ...(await run().catch(interrupted)) });
  return reportOf(results, describe);
}

function interrupted(error: unknown): Outcome {
  if (!(error instanceof Interruption)) return failed(error);
  return { verdict: error.verdict, status: undefined, note: error.message };
}

function describe({ name, why, status, note }: OAuthResult): string {
  const outcome = [status, note].filter((part) => part !== undefined).join(', ');
  return `${name}: ${outcome}. ${why}`;
}

/** Statuses with which an authorization server refuses a request (RFC 6749 §5.2, RFC 5849 §3.2). */
const refusals: readonly number[] = [400, 401, 403];

/** Returns the outcome of a request that must be refused. */
export function mustBeRefused({ status }: { readonly status: number }): Outcome {
  if (refusals.includes(status)) return { verdict: 'held', status, note: undefined };
  return { verdict: isAccepted(status) ? 'let through' : 'unexpected', status, note: meaningOf(status) };
}

/** Returns the outcome of a request that must be accepted. */
export function mustBeAccepted({ status }: { readonly status: number }): Outcome {
  if (isAccepted(status)) return { verdict: 'held', status, note: undefined };
  return { verdict: 'unexpected', status, note: meaningOf(status) };
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
  verdict: 'held',
  status: undefined,
  note: 'the authorization endpoint refused the request',
};
