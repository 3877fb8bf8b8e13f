/**
 * Returns whether the fetch of a release of undici sends the `?` of an empty query, as Fetch §4.6 requires. Releases before
 * 7.23 (Node.js 20 and 22, and early ones of 24) omit it.
 * @param release such as `7.29.1`. Undefined on a platform without undici.
 */
export function sendsEmptyQuery(release: string | undefined): boolean {
  if (release === undefined) return true;
  const [major = 0, minor = 0] = release.split('.').map(Number);
  return major > 7 || (major === 7 && minor >= 23);
}

const keepsEmptyQuery = sendsEmptyQuery(process.versions['undici']);

/** Returns a request target, which may end with an empty query, as this platform's fetch sends it. */
export function targetSentByFetch(target: string): string {
  const hasEmptyQuery = target.endsWith('?') && target.indexOf('?') === target.length - 1;
  return hasEmptyQuery && !keepsEmptyQuery ? target.slice(0, -1) : target;
}

/** Returns the request target that this platform's fetch sends for a URL. Throws TypeError if the URL is invalid. */
export function toFetchTarget(url: string | URL): string {
  const { pathname, search, href, hash } = new URL(url);
  // `search` is empty for both no query and an empty one.
  const query = search === '' && href[href.length - hash.length - 1] === '?' ? '?' : search;
  return targetSentByFetch(pathname + query);
}
