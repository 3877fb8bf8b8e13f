// The request that the functions of a definition receive, of a request that arrived or of one that is signed.

import type { HttpHeaders } from '../../http/fields.ts';
import { hasContent, type IncomingRequest } from '../../http/message.ts';
import { toReadable } from '../../http/syntax/octets.ts';
import { splitTarget } from '../../http/target.ts';
import type { SchemeHeaders, SchemeRequest } from './definition.ts';

/**
 * Creates the request. `readBody` is called whenever a definition uses `body`.
 *
 * @param sent The target that is shown. Default: that of the request.
 */
export function createSchemeRequest(
  request: IncomingRequest,
  readBody: () => Buffer,
  sent = request.target,
): SchemeRequest {
  const { method, headers, connection } = request;
  const target = toReadable(sent);
  const { path, query } = splitTarget(target);
  return {
    method,
    target,
    path,
    query,
    headers: createHeaders(headers),
    secure: connection.secure,
    hasBody: hasContent(request),
    get body() {
      return readBody();
    },
  };
}

function createHeaders(fields: HttpHeaders): SchemeHeaders {
  return {
    get(name) {
      const value = fields.get(name.toLowerCase());
      return value === undefined ? undefined : toReadable(value);
    },
    getAll: (name) => fields.getAll(name.toLowerCase()).map(toReadable),
    has: (name) => fields.has(name.toLowerCase()),
  };
}

/** Returns content as a Buffer of the same memory. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
