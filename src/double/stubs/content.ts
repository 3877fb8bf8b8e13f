import { isUtf8 } from 'node:buffer';
import { parseJsonBytes } from '../../collections/formats/json/decoder.ts';
import { decodeWhole } from '../../http/collected-bytes.ts';
import { hasTooManyParameters, maxFormParameters, parseForm } from '../../http/form.ts';
import { formType, type MediaType, parseMediaType } from '../../http/headers/media-type.ts';
import { Problem } from '../../http/problem.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ContentReader } from '../../pipeline/resource.ts';

/**
 * Returns a reading of any content. It decodes JSON, forms, `multipart/form-data` and text by their Content-Type, and returns all else as
 * bytes, also forms and text in a charset other than UTF-8. Content that is not what its type declares is rejected with 400.
 * @param maxDepth the maximum nesting of JSON
 */
export function createAnyReader(maxDepth: number): ContentReader {
  return {
    type: '*/*',
    anyCharset: true,
    decoder: ({ incoming: { headers } }) =>
      decodeWhole((bytes) => decodeContent(bytes, headers.get('content-type'), maxDepth)),
  };
}

/** The names of UTF-8 and of its subset ASCII (WHATWG Encoding §4.2, IANA). */
const utf8Charsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

/** Decodes content by its Content-Type, as a reading of any content does. Throws a Problem if it is not what the type declares. */
export function decodeContent(
  bytes: Buffer,
  field: string | undefined,
  maxDepth: number,
): MaybePromise<unknown> {
  // Clients send Content-Length: 0 with a POST that has no content (RFC 9110 §8.6).
  if (field === undefined && bytes.length === 0) return undefined;
  const media = field === undefined ? undefined : parseMediaType(field);
  if (field !== undefined && media === undefined)
    throw new Problem('malformed-field', 'Content-Type is not a media type.', {
      members: { field: 'Content-Type' },
    });
  const type = media?.type ?? '';
  const isForeign = !utf8Charsets.has(media?.parameters.get('charset')?.toLowerCase() ?? 'utf-8');
  if (type === 'application/json' || type.endsWith('+json')) {
    if (bytes.length === 0) return undefined;
    // A charset has no meaning for JSON (RFC 8259 §11).
    if (isForeign && !isUtf8(bytes)) return Buffer.from(bytes);
    return parseJsonBytes(bytes, maxDepth);
  }
  if (type === 'multipart/form-data') return decodeMultipart(bytes, field ?? '', media);
  if (type === formType && !isForeign) return decodeForm(bytes);
  if (type.startsWith('text/') && !isForeign) return decodeText(bytes);
  // A test may keep it, so it holds no spare memory.
  return Buffer.from(bytes);
}

function decodeForm(bytes: Buffer): URLSearchParams {
  const text = octetsOf(bytes);
  const form = hasTooManyParameters(text) ? undefined : parseForm(text);
  if (form !== undefined)
    return new URLSearchParams(form.map(([name, value]): [string, string] => [name, value]));
  throw malformed(
    'The form has an incomplete percent-encoding, is not UTF-8, or has more than 1,000 parameters.',
  );
}

/** Decodes multipart/form-data as the platform's fetch does, which rejects what RFC 7578 does not permit. */
async function decodeMultipart(bytes: Buffer, field: string, media: MediaType | undefined): Promise<unknown> {
  if (bytes.length === 0) return undefined;
  const boundary = media?.parameters.get('boundary') ?? '';
  if (boundary === '' || boundary.length > 70)
    throw malformed('multipart/form-data requires a boundary of 1 to 70 characters.');
  if (countParts(bytes, `--${boundary}`) > maxFormParameters)
    throw malformed(`multipart/form-data has at most ${maxFormParameters} parts.`);
  const form = await new Response(bytes, { headers: { 'Content-Type': field } }).formData().catch(() => {
    throw malformed(
      'The content is not multipart/form-data with this boundary, or a part of it is malformed.',
    );
  });
  // The platform replaces octets that are not UTF-8.
  const isReplaced = [...form].some(([name, value]) =>
    `${name}${typeof value === 'string' ? value : ''}`.includes('\ufffd'),
  );
  if (isReplaced && !isUtf8(bytes)) throw malformed('A part of the form is not UTF-8.');
  return form;
}

/** Returns the number of delimiters, at most one more than the limit, before anything is decoded. */
function countParts(bytes: Buffer, delimiter: string): number {
  let count = 0;
  let at = bytes.indexOf(delimiter);
  for (; at >= 0 && count <= maxFormParameters + 1; at = bytes.indexOf(delimiter, at + delimiter.length))
    count += 1;
  return count - 1;
}

function decodeText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw malformed('The text is not UTF-8.');
}

function malformed(detail: string): Problem {
  return new Problem('malformed-content', detail);
}
