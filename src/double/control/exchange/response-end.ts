/** What is known about a response from the bytes that have arrived. */
export interface ResponseProgress {
  /** Whether the final response is complete. */
  readonly complete: boolean;
  /** Its status; undefined as long as its status line is incomplete, or if the bytes are no response. */
  readonly status: number | undefined;
}

/**
 * Returns whether the bytes contain a complete final response (RFC 9112 §6.3). Interim responses before it are skipped. A response
 * without a length is never complete: it ends with the connection.
 * @param method the method of the request, since a response to HEAD has no content
 */
export function responseProgress(bytes: Buffer, method: string): ResponseProgress {
  let start = 0;
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', start);
    const head = bytes.toString('latin1', start, headEnd < 0 ? bytes.length : headEnd);
    const status = parseStatus(head);
    if (headEnd < 0 || status === undefined) return { complete: false, status };
    const content = headEnd + 4;
    // 101 is final: what follows is another protocol.
    if (status < 200 && status !== 101) start = content;
    else return { complete: isComplete(head, status, bytes.subarray(content), method), status };
  }
}

function parseStatus(head: string): number | undefined {
  const status = /^HTTP\/\d\.\d (\d{3})(?!\d)/.exec(head)?.[1];
  return status === undefined ? undefined : Number(status);
}

function isComplete(head: string, status: number, content: Buffer, method: string): boolean {
  if (method === 'HEAD' || status === 101 || status === 204 || status === 304) return true;
  if (/\r\ntransfer-encoding:.*chunked[ \t]*(?:\r\n|$)/i.test(head)) return endsWithLastChunk(content);
  const length = /\r\ncontent-length:[ \t]*(\d+)[ \t]*(?:\r\n|$)/i.exec(head)?.[1];
  return length !== undefined && content.length >= Number(length);
}

/** Returns whether the chunks are followed by the last chunk and the trailer section (RFC 9112 §7.1). */
function endsWithLastChunk(content: Buffer): boolean {
  let at = 0;
  for (;;) {
    const lineEnd = content.indexOf('\r\n', at);
    if (lineEnd < 0) return false;
    const size = Number.parseInt(content.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) return false;
    if (size === 0) return content.indexOf('\r\n\r\n', lineEnd) >= 0;
    at = lineEnd + 2 + size + 2;
  }
}
