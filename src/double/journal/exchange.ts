import type { Connection, IncomingRequest, Response } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import { isSilent } from '../../http/wire-fault.ts';
import type { RequestTrace } from '../../pipeline/call.ts';
import type { JournalCors } from '../../pipeline/cors.ts';
import type { Principal } from '../../principal.ts';
import type { AuthenticationTrace } from '../../schemes/trace.ts';
import type { Fault } from '../faults/declaration.ts';
import type { InterceptedResponse } from '../faults/faults.ts';
import type { RecordedContent } from './content.ts';

/** The member of entries and responses that has the entry. Registered, so that it is the same in all copies of this module. */
export const entryOfAnswer = Symbol.for('countersign.journal-entry');

/** A recorded request. It has few members, since a journal holds a thousand of them. */
export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Names and values of the fields, alternating. */
  readonly raw: readonly string[];
  readonly connection: Connection;
}

/** Returns the members of a request to record. */
function toRecorded({ method, target, version, headers, connection }: IncomingRequest): RecordedRequest {
  return { method, target, version, raw: headers.raw, connection };
}

/** A request and its response without redaction. It contains secrets. */
export interface RecordedExchange {
  /** By the double's clock (ms since 1970-01-01T00:00:00Z). */
  readonly time: number;
  /** In ms of the host's time. */
  readonly duration: number;
  readonly request: RecordedRequest | undefined;
  readonly content?: RecordedContent | undefined;
  /** The number of bytes of content that were kept for an explanation only. */
  readonly unread: number;
  readonly received?: string | undefined;
  readonly response: Response | undefined;
  readonly principal?: Principal | undefined;
  readonly step: number | undefined;
  readonly problem: { readonly type: string; readonly detail: string; readonly cause?: unknown } | undefined;
  /** The verification of the credentials. Undefined if there was none. */
  readonly authentication?: AuthenticationTrace | undefined;
  /** How a browser's request from another origin was answered. */
  readonly cors?: JournalCors | undefined;
  readonly fault?: Fault | undefined;
  readonly aborted: boolean;
}

/** Returns the exchange of a request to which the service or a fault responded. */
export function buildAnsweredExchange(
  kept: Pick<RecordedExchange, 'time' | 'duration' | 'content' | 'unread'>,
  request: IncomingRequest,
  { response, fault, acted }: InterceptedResponse,
  { principal, step, problem, authentication, cors }: RequestTrace,
): RecordedExchange {
  const verified = authentication?.scheme !== undefined || authentication?.failedAt !== undefined;
  return {
    ...kept,
    request: toRecorded(request),
    response: response.fault !== undefined && isSilent(response.fault) ? undefined : response,
    principal,
    step: acted ? step : undefined,
    problem,
    authentication: verified ? authentication : undefined,
    cors,
    fault,
    aborted: problem?.type === 'content-incomplete',
  };
}

/** Returns the exchange of a request that was refused before it reached the service. */
export function buildRefusedExchange(
  time: number,
  problem: Problem,
  request: IncomingRequest | undefined,
  response: Response,
  received: string | undefined,
): RecordedExchange {
  return {
    time,
    duration: 0,
    request: request && toRecorded(request),
    unread: 0,
    received,
    response,
    // A server that is stopping or full, or a request that could not be parsed.
    step: problem.type === 'stopping' || problem.type === 'full' ? 1 : 0,
    problem,
    aborted: false,
  };
}
