import type { IncomingMessage } from 'node:http';
import type { IncomingRequest } from '../http/message.ts';
import { Problem, type ProblemOptions } from '../http/problem.ts';

const space = 0x20;

const last: ProblemOptions = { close: true };

/** Returns why a request is rejected by its sizes, its form or its version of HTTP; undefined if it is not. Sizes are in bytes. */
export function requestProblem(
  request: IncomingRequest,
  incoming: IncomingMessage,
  limits: { readonly headers: number; readonly target: number },
): Problem | undefined {
  if (request.target.length > limits.target)
    return new Problem('target-too-long', `The request target exceeds ${limits.target} bytes.`, last);
  if (request.headers.size > limits.headers)
    return new Problem('header-too-large', `The header section exceeds ${limits.headers} bytes.`, last);
  if (!isWellFormed(incoming.rawHeaders, request.target))
    return new Problem(
      'malformed-request',
      'A field name is empty or ends in a space, or the target contains a tab.',
      last,
    );
  if (incoming.httpVersionMajor !== 1)
    return new Problem('version-not-supported', `The version is HTTP/${request.version}.`, last);
  // RFC 9112 §6.1: the field is not defined in HTTP/1.0, so an intermediary may have used another length.
  if (request.version === '1.0' && request.headers.has('transfer-encoding'))
    return new Problem('malformed-request', 'HTTP/1.0 has no Transfer-Encoding.', last);
  return undefined;
}

/** Rejects what llhttp accepts before its version 9: a field name that is empty or ends in a space, and a tab in the target. */
function isWellFormed(raw: readonly string[], target: string): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name === '' || name.charCodeAt(name.length - 1) === space) return false;
  }
  return !target.includes('\t');
}
