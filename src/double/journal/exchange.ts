import type { AuthenticationTrace } from '../../auth/trace.ts';
import type { Connection, Request, Response } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import type { RequestTrace } from '../../pipeline/call.ts';
import type { Principal } from '../../principal.ts';
import type { Fault } from '../faults/declaration.ts';
import type { InterceptedResponse } from '../faults/faults.ts';
import type { RecordedContent } from './content.ts';

/** A request as it is kept: no more than what it was made of, for a journal holds a thousand of them. */
export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Names and values of its fields in turn. */
  readonly raw: readonly string[];
  readonly connection: Connection;
}

/** What of a request is kept. */
function recorded({ method, target, version, fields, connection }: Request): RecordedRequest {
  return { method, target, version, raw: fields.raw, connection };
}

/** A request and its reply as they were, secrets included. */
export interface RecordedExchange {
  readonly time: number;
  readonly duration: number;
  readonly request: RecordedRequest | undefined;
  readonly content: RecordedContent | undefined;
  readonly received: string | undefined;
  readonly reply: Response | undefined;
  readonly principal: Principal | undefined;
  readonly step: number | undefined;
  readonly problem: { readonly type: string; readonly detail: string } | undefined;
  /** Undefined where no credentials were checked. */
  readonly story: AuthenticationTrace | undefined;
  readonly fault: Fault | undefined;
  readonly aborted: boolean;
}

/** When an exchange took place: by the double's clock (ms since 1970-01-01T00:00:00Z), and for how many ms of the host's time. */
interface Timing {
  readonly time: number;
  readonly duration: number;
}

/** The exchange of a request that was answered, by the service or by a fault. */
export function answeredExchange(
  { time, duration }: Timing,
  request: Request,
  content: RecordedContent | undefined,
  { reply: response, fault, acted }: InterceptedResponse,
  { principal, step, problem, authentication: authTrace }: RequestTrace,
): RecordedExchange {
  const isSilent = response.fault?.break?.kind === 'reset' && response.fault.break.after === undefined;
  const hasStory = authTrace?.scheme !== undefined || authTrace?.failedAt !== undefined;
  return {
    time,
    duration,
    request: recorded(request),
    content,
    received: undefined,
    reply: isSilent ? undefined : response,
    principal,
    step: acted ? step : undefined,
    problem,
    story: hasStory ? authTrace : undefined,
    fault,
    aborted: problem?.type === 'content-incomplete',
  };
}

/** The exchange of a request that was refused before the service saw it. */
export function refusedExchange(
  time: number,
  problem: Problem,
  request: Request | undefined,
  response: Response,
  received: string | undefined,
): RecordedExchange {
  return {
    time,
    duration: 0,
    request: request && recorded(request),
    content: undefined,
    received,
    reply: response,
    principal: undefined,
    step: stepOf(problem),
    problem,
    story: undefined,
    fault: undefined,
    aborted: false,
  };
}

/** The step of a refusal before the service: 1 where the server is stopping or full, 0 where the request could not be parsed. */
function stepOf({ type }: Problem): number {
  return type === 'stopping' || type === 'full' ? 1 : 0;
}
