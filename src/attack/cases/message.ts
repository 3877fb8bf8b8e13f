import {
  type AttackRequest,
  type Attempt,
  appendLines,
  elsewhere,
  malformed,
  otherMethod,
  refused,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../forger.ts';
import { alterContent, contentBytes, findInLastSegment } from '../target.ts';
import type { WeaknessId } from '../weaknesses.ts';

/** Requests whose method, path, query, host or content was changed after signing. */
export function* messageAttempts(forger: Forger): Generator<Attempt> {
  yield* changeMethods(forger);
  yield* changePaths(forger);
  yield* changeQueries(forger);
  yield* changeHost(forger);
  yield* changeContent(forger);
}

function one(forger: Forger, id: WeaknessId, ...forgery: Forgery): Iterable<Attempt> {
  return toAttempts(forger, id, [forgery]);
}

function* changeMethods(forger: Forger): Generator<Attempt> {
  const { plain } = forger;
  const why = 'A principal that may read could write, or vice versa.';
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
    const changed =
      method === 'GET' || method === 'HEAD' ? removeContent({ ...plain, method }) : { ...plain, method };
    if (method !== plain.method)
      yield* one(
        forger,
        'other-method',
        `${method} is sent with the signature of ${plain.method}`,
        why,
        otherMethod,
        forger.sendAs(changed),
      );
  }
  const other = { ...plain, method: plain.method === 'GET' ? 'DELETE' : 'GET' };
  for (const field of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
    const name = `${field} is ${other.method}, as signed, and the method is ${plain.method}`;
    const overridden = forger.sendAs(plain, removeContent(other));
    const request = overridden && appendLines(overridden, [field, other.method]);
    yield* one(forger, 'other-method', name, 'The method is that of the request line.', refused, request);
  }
}

function removeContent({ method, url, headers }: AttackRequest): AttackRequest {
  return { method, url, headers: removeLines(headers, 'Content-Type', 'Content-Length', 'Content-Encoding') };
}

function* changePaths(forger: Forger): Generator<Attempt> {
  const { plain } = forger;
  const { pathname } = new URL(plain.url);
  const at = findInLastSegment(pathname, /[A-Za-z0-9]/);
  const last = pathname.charAt(at);
  const why = 'The target is signed as sent. A server that normalizes it first accepts other requests too.';
  const changes: readonly (readonly [name: string, path: string])[] = [
    ['the path is in another case', swapCase(pathname)],
    ['a letter of the path is percent-encoded', at < 0 ? pathname : encodeAt(pathname, at)],
    ['the path is followed by a slash', `${pathname}/`],
    ['the path begins with two slashes', `/${pathname}`],
    ['a dot segment was added to the path', `/.${pathname}`],
    ['a segment and its removal were added to the path', `/x/..${pathname}`],
    ['the path is another one', at < 0 ? `${pathname}x` : replaceAt(pathname, at, last === '1' ? '2' : '1')],
  ];
  for (const [name, path] of changes) {
    const url = replacePath(plain.url, path);
    const id = name === 'the path is another one' ? 'other-path' : 'path-spelling';
    if (path !== pathname) yield* one(forger, id, name, why, elsewhere, forger.sendAs({ ...plain, url }));
  }
  const away = `${pathname}x`;
  for (const field of ['X-Original-URL', 'X-Rewrite-URL']) {
    const signedElsewhere = forger.sendAs(plain, { ...plain, url: replacePath(plain.url, away) });
    const request = signedElsewhere && appendLines(signedElsewhere, [field, away]);
    const meant = 'The target is that of the request line.';
    yield* one(
      forger,
      'other-path',
      `${field} has the signed path, and the target is another one`,
      meant,
      refused,
      request,
    );
  }
}

function replacePath(url: string, path: string): string {
  const { origin, search } = new URL(url);
  return `${origin}${path}${search}`;
}

function replaceAt(text: string, at: number, character: string): string {
  return `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
}

function encodeAt(text: string, at: number): string {
  return replaceAt(text, at, `%${text.charCodeAt(at).toString(16)}`);
}

/** Changes the case of the first letter that is not part of a percent-encoded octet. */
function swapCase(text: string): string {
  const at = text.replace(/%../g, '   ').search(/[A-Za-z]/);
  const letter = text.charAt(at);
  return at < 0
    ? text
    : replaceAt(text, at, letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
}

/** A parameter that most resources ignore, for a request without a query. */
const parameter = 'a=1';
const anotherParameter = 'b=2';

function* changeQueries(forger: Forger): Generator<Attempt> {
  const { plain } = forger;
  const query = new URL(plain.url).search.slice(1);
  const two = query.includes('&')
    ? query
    : [query, parameter, anotherParameter].filter((part) => part).join('&');
  const original = { ...plain, url: replaceQuery(plain.url, two) };
  const [first = '', ...rest] = two.split('&');
  const nameEnd = first.indexOf('=') < 0 ? first.length : first.indexOf('=');
  const value = first.slice(nameEnd + 1);
  const why = 'The target is signed as sent, including the query.';
  const changes: readonly (readonly [name: string, query: string])[] = [
    ['the parameters of the query are in another order', [...rest, first].join('&')],
    ['the query has one more parameter', `${two}&c=3`],
    ['the query lacks a parameter', rest.join('&')],
    ['a parameter of the query occurs twice', `${two}&${first}`],
    ['the query is left out', ''],
    [
      'a parameter of the query has another value',
      [`${first.slice(0, nameEnd)}=${value}9`, ...rest].join('&'),
    ],
    ['a parameter of the query is in another case', `${swapCase(first)}&${rest.join('&')}`],
    ['a letter of the query is percent-encoded', encodeAt(two, 0)],
    ['the query is followed by an ampersand', `${two}&`],
  ];
  for (const [name, changed] of changes) {
    const request = { ...original, url: replaceQuery(plain.url, changed) };
    if (changed !== two)
      yield* one(forger, 'other-query', name, why, refused, forger.sendAs(request, original));
  }
  const bare = { ...plain, url: replaceQuery(plain.url, '') };
  const added = { ...plain, url: replaceQuery(plain.url, query === '' ? parameter : query) };
  const name = 'a query is added to a request that was signed without one';
  yield* one(forger, 'other-query', name, why, refused, forger.sendAs(added, bare));
}

function replaceQuery(url: string, query: string): string {
  const { origin, pathname } = new URL(url);
  return query === '' ? `${origin}${pathname}` : `${origin}${pathname}?${query}`;
}

/** If the host is signed, a signature for another server must be refused. */
function* changeHost(forger: Forger): Generator<Attempt> {
  const url = new URL(forger.plain.url);
  url.host = 'other.example';
  const request = forger.sendAs(forger.plain, { ...forger.plain, url: url.href });
  const why = 'The operator of the other server could send its requests here.';
  yield* one(forger, 'other-host', 'the request is signed for another host', why, refused, request);
}

function* changeContent(forger: Forger): Generator<Attempt> {
  const { plain } = forger;
  if (plain.body === undefined) return;
  const changed = { ...plain, body: alterContent(plain.body) };
  const cut = { ...plain, body: contentBytes(plain.body).subarray(0, -1) };
  const why =
    'The content is signed by its digest, so the digest must be compared with the received content.';
  yield* one(
    forger,
    'other-content',
    'the content was changed, but not its digest',
    why,
    malformed,
    forger.sendAs(changed),
  );
  yield* one(
    forger,
    'other-content',
    'the content lacks its last byte, and its digest is unchanged',
    why,
    malformed,
    forger.sendAs(cut),
  );

  const digest = forger
    .signRequest({}, changed)
    ?.headers.find(([name]) => digestFields.includes(name.toLowerCase()));
  const [consistent, bare] = [forger.sendAs(changed), forger.sendAs(changed)];
  if (digest === undefined || consistent === undefined || bare === undefined) return;
  const fits = 'The digest matches the content, but not the signature.';
  const both = replaceLine(consistent, digest);
  yield* one(forger, 'other-content', 'content and digest were both changed', fits, refused, both);
  const undigested = { ...bare, headers: removeLines(bare.headers, ...digestFields) };
  const signed = 'The digest is signed, so it is required.';
  yield* one(
    forger,
    'other-content',
    'the content was changed, and its digest removed',
    signed,
    refused,
    undigested,
  );
}

const digestFields = ['x-amz-content-sha256', 'content-digest', 'content-md5', 'digest', 'x-content-sha256'];
