import { createHash, timingSafeEqual } from 'node:crypto';
import { CollectedBytes } from '../http/collected-bytes.ts';
import type { HttpHeaders } from '../http/fields.ts';
import { isDeclaredLonger } from '../http/form.ts';
import { parseContentCoding } from '../http/headers/content-coding.ts';
import { parseContentDigest, parseContentMd5 } from '../http/headers/content-digest.ts';
import { parseMediaType } from '../http/headers/media-type.ts';
import type { IncomingRequest } from '../http/message.ts';
import { contentTooLarge, Problem, unsupportedCharset } from '../http/problem.ts';
import { isPromiseLike, type MaybePromise } from '../maybe-promise.ts';
import type { CallContext } from './call.ts';
import type { Action, ContentReader, Decoder } from './resource.ts';

/** Throws 413 if the declared length of the content exceeds the limit. */
export function checkDeclaredLength(request: IncomingRequest, limit: number): void {
  if (isDeclaredLonger(request, limit)) throw contentTooLarge(limit);
}

/**
 * Returns the action's reading for the content type; undefined if there is no content or the action reads none.
 * Throws 415 if the media type or the content coding is not supported.
 */
export function readingFor(request: IncomingRequest, implemented: Action): ContentReader | undefined {
  const { reads } = implemented;
  if (!request.body.present || reads === undefined) return undefined;
  const field = request.headers.get('content-type');
  const type = field === undefined ? undefined : parseMediaType(field)?.type;
  const reading = reads.find((each) => each.type === '*/*' || each.type === type);
  // Clients send Content-Length: 0 with a POST that has no content (RFC 9110 §8.6).
  const isEmpty = request.headers.get('content-length') === '0';
  const isUntyped = field === undefined || reading === undefined;
  if (isEmpty && isUntyped && implemented.bodyOptional === true) return undefined;
  if (reading === undefined) throw unreadable(request.method, field, reads);
  if (parseContentCoding(request.headers.get('content-encoding')) === undefined) {
    throw new Problem('unsupported-content-coding', 'The supported content coding is gzip.', {
      headers: [['Accept-Encoding', 'gzip']],
    });
  }
  return reading;
}

function unreadable(method: string, field: string | undefined, reads: readonly ContentReader[]): Problem {
  const types = reads.map(({ type }) => type).join(', ');
  const sent = field === undefined ? 'There is no Content-Type' : 'The Content-Type is not supported';
  return new Problem('unsupported-media-type', `${sent}; this resource accepts ${types}.`, {
    // RFC 5789 §2.2; the other field is that of the W3C's Linked Data Platform.
    headers: [[method === 'PATCH' ? 'Accept-Patch' : 'Accept-Post', types]],
  });
}

/** Throws 400 if a PUT has a Content-Range, and so is partial (RFC 9110 §14.5). */
export function checkContentRange(request: IncomingRequest): void {
  if (request.headers.has('content-range')) {
    throw new Problem('content-range-on-put', 'The request has a Content-Range.');
  }
}

/** Throws 415 on a charset other than UTF-8, unless the reader accepts any. Without one, the document declares its encoding. */
export function checkCharset(fields: HttpHeaders, { anyCharset = false }: ContentReader): void {
  if (anyCharset) return;
  const field = fields.get('content-type');
  if (field === undefined || !field.includes(';')) return;
  const charset = parseMediaType(field)?.parameters.get('charset');
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8') throw unsupportedCharset(charset);
}

/**
 * Reads and decodes the content as it arrives, at most `limit` bytes as sent and as decompressed, and verifies its digest
 * fields. Throws 400, 408, 413, 415 or 422.
 * @param emptyIsNone whether content of no bytes is not decoded, but undefined
 */
export async function readContent(
  { incoming: request, gzip }: Pick<CallContext, 'incoming' | 'gzip'>,
  made: MaybePromise<Decoder>,
  limit: number,
  emptyIsNone: boolean,
): Promise<unknown> {
  const decoder = isPromiseLike(made) ? await made : made;
  const packed = parseContentCoding(request.headers.get('content-encoding')) === 'gzip';
  const collected = new CollectedBytes();
  let isEmpty = true;
  await receive(request, limit, (chunk) => {
    if (chunk.length > 0) isEmpty = false;
    if (packed) collected.write(chunk);
    else decoder.write(chunk);
  });
  if (isEmpty && emptyIsNone) return undefined;
  if (packed) decoder.write(await unpack(collected.bytes, limit, gzip));
  return decoder.end();
}

/**
 * Checks the digest fields of content that the action does not use. Receives and verifies the content of an authenticated
 * request, whose signature may cover the digest. The content of an anonymous request changes nothing and is not awaited.
 * Returns undefined if there is nothing to wait for. Throws 400 on a malformed digest field.
 */
export function checkUnreadContent(
  request: IncomingRequest,
  limit: number,
  authenticated: boolean,
): Promise<void> | undefined {
  const { headers: fields } = request;
  if (!fields.has('content-digest') && !fields.has('content-md5')) return undefined;
  if (authenticated) return receive(request, limit, () => {});
  readExpectedDigests(fields);
  return undefined;
}

function receive(request: IncomingRequest, limit: number, sink: (chunk: Uint8Array) => void): Promise<void> {
  const digests = readExpectedDigests(request.headers);
  let length = 0;
  const received = request.body.consume((chunk) => {
    length += chunk.length;
    if (length > limit) throw contentTooLarge(limit);
    for (const { hash } of digests) hash.update(chunk);
    sink(chunk);
  });
  return digests.length === 0 ? received : received.then(() => verifyDigests(digests));
}

function verifyDigests(digests: readonly ExpectedDigest[]): void {
  for (const { field, hash, digest } of digests) {
    const actual = hash.digest();
    if (actual.length !== digest.length || !timingSafeEqual(actual, digest)) {
      throw new Problem('digest-mismatch', `The content does not have the digest in ${field}.`);
    }
  }
}

interface ExpectedDigest {
  readonly field: string;
  readonly hash: ReturnType<typeof createHash>;
  readonly digest: Uint8Array;
}

/** Returns the digests that the fields declare. Throws 400 on a digest field without a supported digest. */
function readExpectedDigests(fields: HttpHeaders): ExpectedDigest[] {
  const contentDigest = fields.get('content-digest');
  const md5 = fields.get('content-md5');
  const expected: ExpectedDigest[] = [];
  if (contentDigest !== undefined) {
    const digests = parseContentDigest(contentDigest) ?? [];
    if (digests.length === 0) throw malformedDigest('Content-Digest', 'sha-256 or sha-512 as in RFC 9530');
    for (const { algorithm, digest } of digests) {
      expected.push({ field: 'Content-Digest', hash: createHash(algorithm.replace('-', '')), digest });
    }
  }
  if (md5 !== undefined) {
    const digest = parseContentMd5(md5);
    if (digest === undefined) throw malformedDigest('Content-MD5', 'the base64 of 16 bytes');
    expected.push({ field: 'Content-MD5', hash: createHash('md5'), digest });
  }
  return expected;
}

function malformedDigest(field: string, form: string): Problem {
  return new Problem('malformed-field', `${field} must be ${form}.`, { members: { field } });
}

async function unpack(packed: Uint8Array, limit: number, gzip: CallContext['gzip']): Promise<Uint8Array> {
  try {
    return await gzip.unpack(packed, limit);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw contentTooLarge(limit);
    throw new Problem('content-coding-broken', 'The content is not complete gzip data.');
  }
}
