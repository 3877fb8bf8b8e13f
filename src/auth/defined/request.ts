// The request that the functions of a definition receive, of a request that arrived or of one that is signed.

import type { HttpHeaders } from '../../http/fields.ts';
import { hasContent, type IncomingRequest } from '../../http/message.ts';
import { toReadable } from '../../http/syntax/octets.ts';
import { splitTarget } from '../../http/target.ts';
import type { SchemeHeaders, SchemeRequest } from './definition.ts';

/** What a request consists of. Each character of a string is one octet. */
interface RequestSource {
  readonly method: string;
  readonly target: string;
  readonly fields: HttpHeaders;
  readonly secure: boolean;
  readonly hasBody: boolean;
}

/** Returns what a request that arrived consists of. */
export function toSource(request: IncomingRequest): RequestSource {
  const { method, target, headers: fields, connection } = request;
  return { method, target, fields, secure: connection.secure, hasBody: hasContent(request) };
}

/** Creates the request. `readBody` is called whenever a definition uses `body`. */
export function createSchemeRequest(
  { method, target, fields, secure, hasBody }: RequestSource,
  readBody: () => Buffer,
): SchemeRequest {
  const { path, query } = splitTarget(target);
  return {
    method,
    target: toReadable(target),
    path: toReadable(path),
    query: toReadable(query),
    headers: createHeaders(fields),
    secure,
    hasBody,
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
