import type { Request, Response } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { StoreError } from '../store/store.ts';
import type { RequestTrace } from './call.ts';
import type { Representation } from './resource.ts';
import { leadingFields } from './response.ts';

/** Writes a problem document (RFC 9457) in the format that `accept` prefers. */
export type WriteProblem = (problem: Problem, instance: string, accept: string | undefined) => Representation;

/** What went wrong as a Problem. What is no refusal is a fault of the server: it is told to `fault` alone. */
export function problemOf(error: unknown, fault: (error: unknown) => void): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof StoreError && error.reported)) fault(error);
  if (!(error instanceof StoreError))
    return new Problem('internal-error', 'The server failed on this request.');
  if (error.code === 'full')
    return new Problem('store-full', 'The change was not made: there is no room for it.');
  return new Problem('store-unavailable', 'The change was not made: it could not be kept.', {
    fields: [['Retry-After', '60']],
  });
}

const refusesPrincipal: ReadonlySet<number> = new Set([401, 403, 405]);

/** The one place where a Problem becomes a reply (RFC 9457). */
export function toProblemResponse(
  problem: Problem,
  request: Request | undefined,
  trace: RequestTrace,
  date: string,
  writeProblem: WriteProblem,
): Response {
  const instance = request === undefined ? '' : pathSent(request);
  const { type, content } = writeProblem(problem, instance, request?.fields.get('accept'));
  const fields = leadingFields(date, trace.principal, refusesPrincipal.has(problem.status));
  fields.push(['Content-Type', type], ...problem.fields);
  return {
    status: problem.status,
    fields,
    content,
    headOnly: request?.method === 'HEAD',
    close: problem.close,
  };
}

/** The path as sent: neither the query nor, in absolute form, who is named before the host is shown to anybody. */
export function pathSent({ target }: Request): string {
  return target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '');
}
