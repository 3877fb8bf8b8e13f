import {
  type Attempt,
  adding,
  attempt,
  elsewhere,
  malformed,
  type OutgoingRequest,
  otherMethod,
  refused,
  replacing,
  without,
} from '../attempt.ts';
import type { Forger } from '../forger.ts';

/** Requests that are another one than was signed: its method, path, query, host or content was changed on the way. */
export function* messageAttempts(forge: Forger): Generator<Attempt> {
  yield* changedMethods(forge);
  yield* changedPaths(forge);
  yield* changedQueries(forge);
  yield* changedHost(forge);
  yield* changedContent(forge);
}

function one(
  forge: Forger,
  name: string,
  why: string,
  expected: readonly number[],
  request: OutgoingRequest | undefined,
): Attempt[] {
  return request === undefined
    ? []
    : [attempt({ name, why, expected, needs: forge.needs, requests: [request] })];
}

function* changedMethods(forge: Forger): Generator<Attempt> {
  const { plain } = forge;
  const why = 'Whoever may read could write, or the other way round.';
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
    const changed =
      method === 'GET' || method === 'HEAD' ? contentless({ ...plain, method }) : { ...plain, method };
    if (method !== plain.method)
      yield* one(
        forge,
        `${method} is sent with what signs ${plain.method}`,
        why,
        otherMethod,
        forge.sentAs(changed),
      );
  }
  const other = { ...plain, method: plain.method === 'GET' ? 'DELETE' : 'GET' };
  for (const field of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
    const name = `${field} says ${other.method}, which is what is signed, and the method is ${plain.method}`;
    const overridden = forge.sentAs(plain, contentless(other));
    const request = overridden && adding(overridden, [field, other.method]);
    yield* one(forge, name, 'The method is what stands in the request line.', refused, request);
  }
}

function contentless({ method, url, headers }: OutgoingRequest): OutgoingRequest {
  return { method, url, headers: without(headers, 'Content-Type', 'Content-Length', 'Content-Encoding') };
}

function* changedPaths(forge: Forger): Generator<Attempt> {
  const { plain } = forge;
  const { pathname } = new URL(plain.url);
  const at = pathname.search(/[A-Za-z0-9](?=[^/]*$)/);
  const last = pathname.charAt(at);
  const why = 'What is signed is the target as sent: a server that tidies it first signs other requests too.';
  const changes: readonly (readonly [name: string, path: string])[] = [
    ['the path is in another case', inOtherCase(pathname)],
    ['a letter of the path is percent-encoded', at < 0 ? pathname : spelt(pathname, at, last)],
    ['the path has a slash behind it', `${pathname}/`],
    ['the path begins with two slashes', `/${pathname}`],
    ['the path is another one', at < 0 ? `${pathname}x` : put(pathname, at, last === '1' ? '2' : '1')],
  ];
  for (const [name, path] of changes) {
    const url = withPath(plain.url, path);
    if (path !== pathname) yield* one(forge, name, why, elsewhere, forge.sentAs({ ...plain, url }));
  }
  const away = `${pathname}x`;
  for (const field of ['X-Original-URL', 'X-Rewrite-URL']) {
    const signedElsewhere = forge.sentAs(plain, { ...plain, url: withPath(plain.url, away) });
    const request = signedElsewhere && adding(signedElsewhere, [field, away]);
    const meant = 'The target is what stands in the request line.';
    yield* one(
      forge,
      `${field} has the path that is signed, and the target is another one`,
      meant,
      refused,
      request,
    );
  }
}

function withPath(url: string, path: string): string {
  const { origin, search } = new URL(url);
  return `${origin}${path}${search}`;
}

function put(text: string, at: number, character: string): string {
  return `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
}

function spelt(text: string, at: number, character: string): string {
  return put(text, at, `%${character.charCodeAt(0).toString(16)}`);
}

/** The first letter that is no part of an escape, in the other case. */
function inOtherCase(text: string): string {
  const at = text.replace(/%../g, '   ').search(/[A-Za-z]/);
  const letter = text.charAt(at);
  return at < 0
    ? text
    : put(text, at, letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
}

/** A parameter that most resources take no notice of, for a request that has no query of its own. */
const parameter = 'a=1';
const anotherParameter = 'b=2';

function* changedQueries(forge: Forger): Generator<Attempt> {
  const { plain } = forge;
  const query = new URL(plain.url).search.slice(1);
  const two = query.includes('&')
    ? query
    : [query, parameter, anotherParameter].filter((part) => part).join('&');
  const original = { ...plain, url: withQuery(plain.url, two) };
  const [first = '', ...rest] = two.split('&');
  const named = first.indexOf('=') < 0 ? first.length : first.indexOf('=');
  const value = first.slice(named + 1);
  const why = 'What is signed is the target as sent, its query included.';
  const changes: readonly (readonly [name: string, query: string])[] = [
    ['the parameters of the query are in another order', [...rest, first].join('&')],
    ['the query has one more parameter', `${two}&c=3`],
    ['the query has a parameter less', rest.join('&')],
    ['the query has a parameter twice', `${two}&${first}`],
    ['the query is left out', ''],
    ['a parameter of the query has another value', [`${first.slice(0, named)}=${value}9`, ...rest].join('&')],
    ['a parameter of the query is in another case', `${inOtherCase(first)}&${rest.join('&')}`],
    ['a letter of the query is percent-encoded', spelt(two, 0, two.charAt(0))],
    ['the query has an ampersand behind it', `${two}&`],
  ];
  for (const [name, changed] of changes) {
    const request = { ...original, url: withQuery(plain.url, changed) };
    if (changed !== two) yield* one(forge, name, why, refused, forge.sentAs(request, original));
  }
}

function withQuery(url: string, query: string): string {
  const { origin, pathname } = new URL(url);
  return query === '' ? `${origin}${pathname}` : `${origin}${pathname}?${query}`;
}

/** Where the host is signed, a signature for another server must not be good here. */
function* changedHost(forge: Forger): Generator<Attempt> {
  const url = new URL(forge.plain.url);
  url.host = 'other.example';
  const request = forge.sentAs(forge.plain, { ...forge.plain, url: url.href });
  const why = 'Whoever runs the other server could send it here.';
  yield* one(forge, 'the request is signed for another host', why, refused, request);
}

function* changedContent(forge: Forger): Generator<Attempt> {
  const { plain } = forge;
  if (plain.body === undefined) return;
  const changed = { ...plain, body: altered(plain.body) };
  const cut = { ...plain, body: bytesOf(plain.body).subarray(0, -1) };
  const why =
    'The signature covers the content by its digest, so the digest must be compared with what arrived.';
  yield* one(forge, 'the content was changed, and its digest left', why, malformed, forge.sentAs(changed));
  yield* one(
    forge,
    'the content lacks its last byte, and its digest is left',
    why,
    malformed,
    forge.sentAs(cut),
  );

  const digest = forge
    .signed({}, changed)
    ?.headers.find(([name]) => digestFields.includes(name.toLowerCase()));
  const [consistent, bare] = [forge.sentAs(changed), forge.sentAs(changed)];
  if (digest === undefined || consistent === undefined || bare === undefined) return;
  const fits = 'The digest fits the content and is not the one that was signed.';
  const both = replacing(consistent, digest);
  yield* one(forge, 'content and digest were changed together', fits, refused, both);
  const undigested = { ...bare, headers: without(bare.headers, ...digestFields) };
  const signed = 'The digest was signed.';
  yield* one(forge, 'the content was changed, and its digest taken away', signed, refused, undigested);
}

const digestFields = ['content-digest', 'content-md5', 'digest', 'x-content-sha256'];

function bytesOf(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : Buffer.from(body);
}

/** The same length and one digit or letter another one, so that what is read of it is likely to be as good. */
function altered(body: string | Uint8Array): Uint8Array {
  const bytes = bytesOf(body);
  const at = bytes.findLastIndex((byte) => byte >= 0x30 && byte <= 0x39);
  const place = at < 0 ? 0 : at;
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  return bytes;
}
