import { toLines } from '../http/field-lines.ts';
import type { IncomingRequest, Response } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { isStoreError } from '../store/errors.ts';
import type { RequestTrace } from './call.ts';
import { type DocumentFormat, documentFormat, type Representation } from './resource.ts';
import { formatLeadingFields, noSniff } from './response.ts';

/** Serializes a problem document (RFC 9457) in the format that `accept` prefers, by default in `format` or that of the service. */
export type WriteProblem = (
  problem: Problem,
  instance: string,
  accept: string | undefined,
  format: DocumentFormat | undefined,
) => Representation;

/**
 * Returns an error as a Problem. Any other error is an internal one, which is reported to `onError`; the response does not describe it.
 *
 * @param step The step in which it occurred. Default: the last one, which makes the change.
 * @param isSafe Whether the method of the request is safe. Default: false.
 */
export function toProblem(
  error: unknown,
  onError: (error: unknown) => void,
  step = 16,
  isSafe = false,
): Problem {
  if (error instanceof Problem) return error;
  if (!(isStoreError(error) && error.reported)) onError(error);
  if (!isStoreError(error))
    return new Problem('internal-error', 'The server failed to process this request.', { cause: error });
  // The nonce of a change is claimed before the change. Without space for it, there is none for the change either.
  const isFull = error.code === 'full' && (step === 16 || (step === 7 && !isSafe));
  if (isFull) return new Problem('store-full', 'The change was not made: the storage is full.');
  if (step === 7)
    return storeUnavailable('The credentials could not be checked: the storage is unavailable.');
  if (step < 16) return storeUnavailable('The storage is unavailable.');
  if (error.uncertain)
    return storeUnavailable('The change may have been made: the storage was lost before it was confirmed.');
  return storeUnavailable('The change was not made: it could not be stored.');
}

/** In seconds. An engine on another host is used again as soon as it can be reached. */
const retryAfter = '5';

function storeUnavailable(detail: string): Problem {
  return new Problem('store-unavailable', detail, { headers: [['Retry-After', retryAfter]] });
}

const rejectsPrincipal: ReadonlySet<number> = new Set([401, 403, 405]);

/** Converts a Problem to a response (RFC 9457), or to the response of another API if the Problem has its document. */
export function toProblemResponse(
  problem: Problem,
  request: IncomingRequest | undefined,
  trace: RequestTrace,
  date: string,
  writeProblem: WriteProblem,
): Response {
  const instance = request === undefined ? '' : pathSent(request);
  const { resource } = trace;
  const own = resource?.writeProblem?.(problem, request);
  const { type, body: content } =
    own?.representation ??
    writeProblem(problem, instance, request?.headers.get('accept'), resource && documentFormat(resource));
  const isNotStored = own?.noStore ?? rejectsPrincipal.has(problem.status);
  const fields = formatLeadingFields(date, trace.principal, isNotStored);
  fields.push(['Content-Type', type], noSniff);
  for (const [name, value] of toLines(own?.headers ?? problem.headers)) fields.push([name, value]);
  return {
    status: problem.document?.status ?? problem.status,
    headers: fields,
    body: content,
    headOnly: request?.method === 'HEAD',
    close: problem.close,
  };
}

/** Returns the path as sent, without the query; in absolute form, also without the authority, which may contain user information. */
export function pathSent({ target }: IncomingRequest): string {
  return target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '');
}
