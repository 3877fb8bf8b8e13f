import { splitPairs } from '../../http/form.ts';
import { findQuery } from '../../http/target.ts';
import {
  type AttackRequest,
  appendLines,
  type Case,
  elsewhere,
  group,
  malformed,
  otherMethod,
  type Row,
  refused,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import type { Forger } from '../forger.ts';
import { alterContent, contentBytes, findInLastSegment } from '../target.ts';

/** Requests whose method, path, query, host or content was changed after signing. */
export function* messageCases(forger: Forger): Generator<Case> {
  yield* changeMethods(forger);
  yield* changePaths(forger);
  yield* changeQueries(forger);
  yield* changeHost(forger);
  yield* changeContent(forger);
}

function* changeMethods({ plain, sendAs }: Forger): Generator<Case> {
  const why = 'A principal that may read could write, or vice versa.';
  const rows = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].map((method): Row => {
    const changed = { ...plain, method };
    const sent = method === 'GET' || method === 'HEAD' ? removeContent(changed) : changed;
    const request = method === plain.method ? undefined : sendAs(sent);
    return [`${method} is sent with the signature of ${plain.method}`, request];
  });
  yield* group({ id: 'other-method', why, expected: otherMethod }, rows);
  const other = { ...plain, method: plain.method === 'GET' ? 'DELETE' : 'GET' };
  const overridden = ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method'].map((field): Row => {
    const request = sendAs(plain, removeContent(other));
    const name = `${field} is ${other.method}, as signed, and the method is ${plain.method}`;
    return [name, request && appendLines(request, [field, other.method])];
  });
  const meant = 'The method is that of the request line.';
  yield* group({ id: 'other-method', why: meant, expected: refused }, overridden);
}

function removeContent({ method, url, headers }: AttackRequest): AttackRequest {
  return { method, url, headers: removeLines(headers, 'Content-Type', 'Content-Length', 'Content-Encoding') };
}

function* changePaths({ plain, sendAs }: Forger): Generator<Case> {
  const { pathname } = new URL(plain.url);
  const at = findInLastSegment(pathname, /[A-Za-z0-9]/);
  const encoded = at < 0 ? pathname : encodeAt(pathname, at);
  const last = pathname.charAt(at);
  const another = at < 0 ? `${pathname}x` : replaceAt(pathname, at, last === '1' ? '2' : '1');
  const send = (path: string) => sendAs({ ...plain, url: replacePath(plain.url, path) });
  const why = 'The target is signed as sent. A server that normalizes it first accepts other requests too.';
  yield* group({ id: 'path-spelling', why, expected: elsewhere }, [
    ['the path is in another case', send(swapCase(pathname))],
    ['a letter of the path is percent-encoded', send(encoded)],
    ['the path is followed by a slash', send(`${pathname}/`)],
    ['the path begins with two slashes', send(`/${pathname}`)],
    ['a dot segment was added to the path', send(`/.${pathname}`)],
    ['a segment and its removal were added to the path', send(`/x/..${pathname}`)],
    ['the path is another one', send(another), { id: 'other-path' }],
  ]);
  const away = `${pathname}x`;
  const rewritten = ['X-Original-URL', 'X-Rewrite-URL'].map((field): Row => {
    const request = sendAs(plain, { ...plain, url: replacePath(plain.url, away) });
    const name = `${field} has the signed path, and the target is another one`;
    return [name, request && appendLines(request, [field, away])];
  });
  const meant = 'The target is that of the request line.';
  yield* group({ id: 'other-path', why: meant, expected: refused }, rewritten);
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

function* changeQueries({ plain, sendAs }: Forger): Generator<Case> {
  const query = findQuery(plain.url);
  const two = query.includes('&') ? query : [query, parameter, anotherParameter].filter(Boolean).join('&');
  const withQuery = (text: string) => ({ ...plain, url: replaceQuery(plain.url, text) });
  const send = (changed: string) => sendAs(withQuery(changed), withQuery(two));
  const [first = '', ...rest] = two.split('&');
  const [[name, value] = ['', '']] = splitPairs(first);
  const why = 'The target is signed as sent, including the query.';
  yield* group({ id: 'other-query', why, expected: refused }, [
    ['the parameters of the query are in another order', send([...rest, first].join('&'))],
    ['the query has one more parameter', send(`${two}&c=3`)],
    ['the query lacks a parameter', send(rest.join('&'))],
    ['a parameter of the query occurs twice', send(`${two}&${first}`)],
    ['the query is left out', send('')],
    ['a parameter of the query has another value', send([`${name}=${value}9`, ...rest].join('&'))],
    ['a parameter of the query is in another case', send(`${swapCase(first)}&${rest.join('&')}`)],
    ['a letter of the query is percent-encoded', send(encodeAt(two, 0))],
    ['the query is followed by an ampersand', send(`${two}&`)],
    [
      'a query is added to a request that was signed without one',
      sendAs(withQuery(query === '' ? parameter : query), withQuery('')),
    ],
  ]);
}

function replaceQuery(url: string, query: string): string {
  const { origin, pathname } = new URL(url);
  return query === '' ? `${origin}${pathname}` : `${origin}${pathname}?${query}`;
}

/** If the host is signed, a signature for another server must be refused. */
function changeHost({ plain, sendAs }: Forger): Generator<Case> {
  const url = new URL(plain.url);
  url.host = 'other.example';
  const why = 'The operator of the other server could send its requests here.';
  return group({ id: 'other-host', why, expected: refused }, [
    ['the request is signed for another host', sendAs(plain, { ...plain, url: url.href })],
  ]);
}

function* changeContent({ plain, sendAs, signRequest }: Forger): Generator<Case> {
  if (plain.body === undefined) return;
  const changed = { ...plain, body: alterContent(plain.body) };
  const cut = { ...plain, body: contentBytes(plain.body).subarray(0, -1) };
  const why =
    'The content is signed by its digest, so the digest must be compared with the received content.';
  yield* group({ id: 'other-content', why, expected: malformed }, [
    ['the content was changed, but not its digest', sendAs(changed)],
    ['the content lacks its last byte, and its digest is unchanged', sendAs(cut)],
  ]);
  const digest = signRequest({}, changed)?.headers.find(([name]) =>
    digestFields.includes(name.toLowerCase()),
  );
  const [consistent, bare] = [sendAs(changed), sendAs(changed)];
  if (digest === undefined || consistent === undefined || bare === undefined) return;
  const fits = 'The digest matches the content, but not the signature.';
  const undigested = { ...bare, headers: removeLines(bare.headers, ...digestFields) };
  const signed = 'The digest is signed, so it is required.';
  yield* group({ id: 'other-content', why: fits, expected: refused }, [
    ['content and digest were both changed', replaceLine(consistent, digest)],
    ['the content was changed, and its digest removed', undigested, { why: signed }],
  ]);
}

const digestFields = ['x-amz-content-sha256', 'content-digest', 'content-md5', 'digest', 'x-content-sha256'];
