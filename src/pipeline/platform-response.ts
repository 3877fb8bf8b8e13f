import { isServerField } from '../http/fields.ts';
import type { ActionResponse } from './resource.ts';

/** Returns whether a value is a `Response` of the platform, or of a package with the same interface. */
export function isPlatformResponse(value: unknown): value is Response {
  // Such a response inherits its status, so the tag of most results is not read.
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'status')) return false;
  return Object.prototype.toString.call(value) === '[object Response]';
}

/**
 * Reads a `Response` of the platform. What the server derives itself, such as Content-Length, is left out. Rejects with RangeError if its
 * content was read before, and for `Response.error()`.
 */
export async function readPlatformResponse(response: Response): Promise<ActionResponse> {
  const { status } = response;
  if (status === 0) throw new RangeError('Response.error() has the status 0, and cannot be sent');
  if (response.bodyUsed) throw new RangeError('the content of the Response was read before');
  // The platform's fetch has decoded the content of a response that it received, but keeps the field.
  const isDecoded = response.url !== '';
  const headers = [...response.headers].filter(([name]) =>
    name === 'content-encoding' ? !isDecoded : name !== 'content-type' && !isServerField(name),
  );
  if (response.body === null) return { status, headers };
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  return { status, headers, representation: { type, body: new Uint8Array(await response.arrayBuffer()) } };
}
