import type { Resource } from '../resource.ts';

/**
 * The request fields that every resource understands, apart from those of authentication schemes, in lower case. Browsers need no
 * permission for some of them, unless the value has unusual characters (Fetch §2.2.2).
 */
const always: readonly string[] = [
  'accept',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'prefer',
  'traceparent',
  'x-request-id',
];

/** Those that describe the content that a method reads. */
const ofContent: readonly string[] = ['content-digest', 'content-encoding', 'content-md5', 'content-range'];

/** Returns the request fields that a resource understands, in lower case, apart from those of authentication schemes. */
export function listRequestFields({
  PUT,
  POST,
  DELETE,
  GET,
  requestHeaders = [],
}: Resource): readonly string[] {
  const hasContent = [PUT, POST, DELETE, GET].some((action) => (action?.reads ?? []).length > 0);
  const own = requestHeaders.map((name) => name.toLowerCase());
  return [...always, ...(hasContent ? ofContent : []), ...own];
}
