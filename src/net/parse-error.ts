import type { IncomingMessage } from 'node:http';
import type { IncomingRequest } from '../http/message.ts';
import { Problem, type ProblemOptions } from '../http/problem.ts';

/** An error after which node:http cannot continue to read a connection. */
interface ParseError {
  /** The code of llhttp (`HPE_…`), of node:http (`ERR_…`), or of the system (`ECONNRESET`). */
  readonly code: string;
  /** The message of llhttp. */
  readonly reason: string;
  /** The bytes that were being parsed, one character each. Earlier packets of the message are not included. */
  readonly packet: string;
  /** The index in the packet at which parsing failed. */
  readonly at: number;
}

/** Converts the error that `clientError` reports. */
export function toParseError(error: Error): ParseError {
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : undefined;
  return {
    code: 'code' in error && typeof error.code === 'string' ? error.code : '',
    reason: 'reason' in error && typeof error.reason === 'string' ? error.reason : '',
    packet: packet?.toString('latin1') ?? '',
    at: 'bytesParsed' in error && typeof error.bytesParsed === 'number' ? error.bytesParsed : 0,
  };
}

/** Returns whether the error is in the message or its timing, and not in the connection. */
export function isInMessage(error: ParseError): boolean {
  return error.code.startsWith('HPE_') || isTimeout(error);
}

/** Returns whether the message did not arrive in time. */
export function isTimeout(error: ParseError): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** Returns the problem of a message whose header section could not be parsed. */
export function problemOfHeader(error: ParseError): Problem {
  if (isTimeout(error)) return closing('request-timeout', 'The header section did not arrive in time.');
  if (error.code === 'HPE_HEADER_OVERFLOW') return overflow(error);
  if (isUnknownVersion(error))
    return closing('version-not-supported', 'The HTTP version in the request line is neither 1.0 nor 1.1.');
  if (isUnknownMethod(error))
    return closing('method-not-implemented', 'The server does not implement this method.');
  if (error.code === 'HPE_INVALID_EOF_STATE')
    return closing('malformed-request', 'The connection was closed within the header section.');
  return closing('malformed-request', `The request could not be parsed: ${formatReason(error)}.`);
}

/** Returns the problem of a message whose content could not be parsed. */
export function problemOfContent(error: ParseError): Problem {
  if (isTimeout(error)) return closing('request-timeout', 'The content did not arrive in time.');
  if (error.code === 'HPE_INVALID_EOF_STATE') return cutOff();
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return closing('header-too-large', 'The trailer section is too large.');
  return closing('malformed-request', `The framing of the content is invalid: ${formatReason(error)}.`);
}

/** Returns the problem of content that will never be complete, because the client has disconnected. */
export function cutOff(): Problem {
  return closing('content-incomplete', 'The connection was closed before the content was complete.');
}

function closing(type: Problem['type'], detail: string): Problem {
  return new Problem(type, detail, { close: true });
}

function formatReason(error: ParseError): string {
  return error.reason === '' ? error.code : error.reason;
}

/**
 * Returns which part was too long. llhttp counts the target and the fields together. It was the target if the current line in the
 * packet starts with a method. A packet from the middle of either may contain no white space; then it counts as a field, which
 * is the usual case.
 */
function overflow(error: ParseError): Problem {
  const parsed = error.packet.slice(0, error.at);
  const line = parsed.slice(parsed.lastIndexOf('\n') + 1);
  if (/^[A-Z-]+ +[^ ]*$/.test(line)) return closing('target-too-long', 'The request target is too long.');
  return closing('header-too-large', 'The header section is too large.');
}

function isUnknownVersion(error: ParseError): boolean {
  if (error.code === 'HPE_PAUSED_H2_UPGRADE') return true; // the preface of HTTP/2 (RFC 9113 §3.4)
  return error.code === 'HPE_INVALID_VERSION' && error.reason === 'Invalid HTTP version';
}

const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!-~]+ HTTP\/[0-9]\.[0-9]$/;

/** Returns whether llhttp stopped at an unknown method. The rest must be a well-formed request line (RFC 9112 §3). */
function isUnknownMethod(error: ParseError): boolean {
  if (error.code !== 'HPE_INVALID_METHOD' && error.reason !== 'Invalid method for HTTP/x.x request')
    return false;
  const start = error.packet.lastIndexOf('\n', error.at - 1) + 1;
  const end = error.packet.indexOf('\r\n', start);
  return end >= 0 && requestLine.test(error.packet.slice(start, end));
}

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
