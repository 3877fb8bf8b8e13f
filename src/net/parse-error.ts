import { Problem } from '../http/problem.ts';

/** What node:http tells of a connection that it cannot go on reading. */
export interface ParseError {
  /** The code of llhttp (`HPE_…`), of node:http (`ERR_…`), or of the system (`ECONNRESET`). */
  readonly code: string;
  /** llhttp's own words. */
  readonly reason: string;
  /** The bytes that were being parsed, one character each; earlier packets of the same message are gone. */
  readonly packet: string;
  /** Where in the packet the fault was found. */
  readonly at: number;
}

/** Reads the error that comes with `clientError`. */
export function parseErrorOf(error: Error): ParseError {
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : undefined;
  return {
    code: 'code' in error && typeof error.code === 'string' ? error.code : '',
    reason: 'reason' in error && typeof error.reason === 'string' ? error.reason : '',
    packet: packet?.toString('latin1') ?? '',
    at: 'bytesParsed' in error && typeof error.bytesParsed === 'number' ? error.bytesParsed : 0,
  };
}

/** Whether the fault lies in what was sent (or in how slowly), and not in the connection underneath. */
export function isInMessage(fault: ParseError): boolean {
  return fault.code.startsWith('HPE_') || isTimeout(fault);
}

/** Whether the message did not arrive in time. */
export function isTimeout(fault: ParseError): boolean {
  return fault.code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** The problem of a message whose header section could not be read. */
export function problemOfHeader(fault: ParseError): Problem {
  if (isTimeout(fault)) return closing('request-timeout', 'The header section did not arrive in time.');
  if (fault.code === 'HPE_HEADER_OVERFLOW') return overflow(fault);
  if (isUnknownVersion(fault))
    return closing(
      'version-not-supported',
      'The request line names a version of HTTP other than 1.0 and 1.1.',
    );
  if (isUnknownMethod(fault))
    return closing('method-not-implemented', 'The method of the request is not one that this server has.');
  if (fault.code === 'HPE_INVALID_EOF_STATE')
    return closing('malformed-request', 'The connection ended within the header section.');
  return closing('malformed-request', `The request could not be parsed: ${saidOf(fault)}.`);
}

/** The problem of a message whose header section was read, and whose content then went wrong. */
export function problemOfContent(fault: ParseError): Problem {
  if (isTimeout(fault)) return closing('request-timeout', 'The content did not arrive in time.');
  if (fault.code === 'HPE_INVALID_EOF_STATE') return cutOff();
  if (fault.code === 'HPE_HEADER_OVERFLOW')
    return closing('header-too-large', 'The trailer section is too large.');
  return closing('malformed-request', `The framing of the content is broken: ${saidOf(fault)}.`);
}

/** The problem of content that will never be whole, because its sender has gone. */
export function cutOff(): Problem {
  return closing('content-incomplete', 'The connection ended before the content was whole.');
}

function closing(type: Problem['type'], detail: string): Problem {
  return new Problem(type, detail, { close: true });
}

function saidOf(fault: ParseError): string {
  return fault.reason === '' ? fault.code : fault.reason;
}

/**
 * llhttp counts the target and the fields together, so the packet has to tell which of them went over:
 * it was the target if the line that was being read starts with a method. A packet in the midst of either without any white space could
 * be both; it counts as a field, where such lengths occur in practice.
 */
function overflow(fault: ParseError): Problem {
  const read = fault.packet.slice(0, fault.at);
  const line = read.slice(read.lastIndexOf('\n') + 1);
  if (/^[A-Z-]+ +[^ ]*$/.test(line)) return closing('target-too-long', 'The request target is too long.');
  return closing('header-too-large', 'The header section is too large.');
}

function isUnknownVersion(fault: ParseError): boolean {
  if (fault.code === 'HPE_PAUSED_H2_UPGRADE') return true; // the preface of HTTP/2 (RFC 9113 §3.4)
  return fault.code === 'HPE_INVALID_VERSION' && fault.reason === 'Invalid HTTP version';
}

const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!-~]+ HTTP\/[0-9]\.[0-9]$/;

/** llhttp stops at a method that it does not know. What else looks like a request line is one (RFC 9112 §3). */
function isUnknownMethod(fault: ParseError): boolean {
  if (fault.code !== 'HPE_INVALID_METHOD' && fault.reason !== 'Invalid method for HTTP/x.x request')
    return false;
  const start = fault.packet.lastIndexOf('\n', fault.at - 1) + 1;
  const end = fault.packet.indexOf('\r\n', start);
  return end >= 0 && requestLine.test(fault.packet.slice(start, end));
}
