// Messages that clients sign by mistake, and changes that proxies make to a request in transit. Each entry reconstructs, from the
// request that arrived, a message that may have been signed.
import { createHash } from 'node:crypto';
import { formatDate, parseSignedDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import { methods } from '../../http/method.ts';
import { formatSignedDate, messageOf, type Signed, withoutSpaces } from '../../signature/hmac.ts';
import { basePathMistakes } from './base-path-mistake.ts';

/** A message that a client may have signed, and a hint that describes the mistake. */
export interface MessageMistake {
  readonly hint: string;
  readonly message: string;
}

type Change = readonly [hint: string, changed: string | undefined];

/** Returns the common mistakes, most likely first. Includes those that do not change the message of this request. */
export function messageMistakes(request: Request, signed: Signed): MessageMistake[] {
  const date = request.fields.get('x-date') ?? request.fields.get('date') ?? '';
  const changedBy = (name: keyof Signed, changes: readonly Change[]): MessageMistake[] =>
    changes.map(([hint, changed]) => ({ hint, message: messageOf({ ...signed, [name]: changed }) }));
  return [
    ...changedBy('target', targets(signed.target, request)),
    ...wholes(signed, date),
    ...changedBy('target', basePathMistakes(signed.target, request)),
    ...changedBy('method', otherMethods(signed.method, request)),
    ...(signed.nonce === undefined ? [] : changedBy('date', dates(date, request))),
    ...changedBy('contentDigest', contentDigests(signed.contentDigest, request)),
  ];
}

type Parts = readonly (string | undefined)[];

/** Returns mistakes that affect more than one part of the message. `date` is as sent. */
function wholes(signed: Signed, date: string): MessageMistake[] {
  const { method, target, nonce, contentDigest } = signed;
  const message = messageOf(signed);
  const stamp = withoutSpaces(date);
  const forms: readonly (readonly [hint: string, parts: Parts])[] =
    nonce === undefined
      ? [
          ['the full form was signed, but the simple form was sent', [method, target, stamp, contentDigest]],
          [
            'the full form was signed, but the simple form was sent',
            [method, target, stamp, '', contentDigest],
          ],
        ]
      : [
          [
            'the simple form was signed, but the full form was sent: date and nonce were left out',
            [method, target, contentDigest],
          ],
          ['the spaces were not removed from the date', [method, target, date, nonce, contentDigest]],
          ['the nonce was left out', [method, target, stamp, contentDigest]],
          [
            'the nonce was percent-encoded before it was signed',
            [method, target, stamp, encodedMarks(nonce), contentDigest],
          ],
          ['the date was left out', [method, target, nonce, contentDigest]],
          ['date and nonce were swapped', [method, target, nonce, stamp, contentDigest]],
        ];
  const parts =
    nonce === undefined ? [method, target, contentDigest] : [method, target, stamp, nonce, contentDigest];
  return [
    { hint: 'a line feed was signed at the end (echo without -n?)', message: `${message}\n` },
    { hint: 'a line ending (CR LF) was signed at the end', message: `${message}\r\n` },
    ...forms.map(([hint, form]) => ({ hint, message: joined(form, '+') })),
    ...Object.entries(separators).map(([name, separator]) => ({
      hint: `the parts were joined with ${name} instead of "+"`,
      message: joined(parts, separator),
    })),
  ];
}

const separators = { 'line feeds': '\n', 'no separator': '', spaces: ' ', '"&"': '&', '":"': ':' };

/** Percent-encodes the unreserved marks, which some encoders escape needlessly (RFC 3986 §2.3). */
function encodedMarks(nonce: string): string {
  return nonce.replace(/[._~-]/g, escaped);
}

function joined(parts: Parts, separator: string): string {
  return parts.filter((part) => part !== undefined).join(separator);
}

function targets(target: string, { fields }: Request): Change[] {
  const [path, query] = splitTarget(target);
  const host = fields.get('host') ?? '';
  const withoutHost = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const changedEscapes = (change: (octet: string) => string): string =>
    target.replace(/%[0-9a-f]{2}/gi, change);
  const reencoded = 'the percent-encoding was changed in transit, or by the client after signing';
  const normalized = 'the path was normalized in transit, or by the client after signing';
  return [
    ['the query was left out', path],
    ['the host was signed with the path', `http://${host}${target}`],
    ['the host was signed with the path', `https://${host}${target}`],
    ['the host was signed with the path', `//${host}${target}`],
    ['the host was signed with the path', host + target],
    ['the host was sent in the target, but not signed', withoutHost],
    ['the host was sent in the target, but not signed', withoutHost === '' ? '/' : withoutHost],
    ['the target was percent-decoded before it was signed', decoded(target)],
    ['the target was percent-encoded again, or only after signing', encodeURI(target)],
    ['the whole target was percent-encoded before it was signed', encodeURIComponent(target)],
    [`${reencoded}: an unreserved character was escaped`, target.replaceAll('~', '%7E')],
    [`${reencoded}: an unreserved character was escaped`, target.replaceAll('~', '%7e')],
    [`${reencoded}: an unreserved character was not escaped`, changedEscapes(unreservedDecoded)],
    [`${reencoded}: escapes were in upper case`, changedEscapes((octet) => octet.toUpperCase())],
    [`${reencoded}: escapes were in lower case`, changedEscapes((octet) => octet.toLowerCase())],
    [`${reencoded}: a slash was escaped as %2F`, target.replace(/%2f/gi, '/')],
    [`${reencoded}: a space in the query was "+"`, path + query.replaceAll('%20', '+')],
    [`${reencoded}: a space in the query was "%20"`, path + query.replaceAll('+', '%20')],
    [`${reencoded}: "+" in the query was "%2B"`, path + query.replaceAll('+', '%2B')],
    [`${reencoded}: "%2B" in the query was "+"`, path + query.replace(/%2b/gi, '+')],
    [`${reencoded}: reserved characters were not escaped`, changedEscapes(delimiterDecoded)],
    [
      `${reencoded}: reserved characters were escaped`,
      path + query.replace(/[[\]{}|^`:@!$'()*,;/]/g, escaped),
    ],
    [`${reencoded}: reserved characters were escaped`, path.replace(/[:@!$&'()*+,;=]/g, escaped) + query],
    [`${normalized}: there was no trailing slash`, path.replace(/(?<=.)\/$/, '') + query],
    [`${normalized}: there was a trailing slash`, path.endsWith('/') ? target : `${path}/${query}`],
    [`${normalized}: dot segments were removed`, withoutDotSegments(path) + query],
    [`${normalized}: double slashes were merged`, path.replace(/\/{2,}/g, '/') + query],
    ['a "?" without a query was signed', query === '' ? `${target}?` : target],
    ['a "?" without a query was not signed', query === '?' ? path : target],
    ['the parameters of the query were sorted before they were signed', path + sorted(query)],
    ['the target was signed in lower case', target.toLowerCase()],
    ['the target was signed without its leading slash', target.replace(/^\//, '')],
  ];
}

/** Returns the path, and the query with its question mark. */
function splitTarget(target: string): [path: string, query: string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at)];
}

function decoded(target: string): string {
  return target.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

// RFC 3986 §2.3 and §2.2.
function unreservedDecoded(octet: string): string {
  const character = decoded(octet);
  return /[A-Za-z0-9._~-]/.test(character) ? character : octet;
}

function delimiterDecoded(octet: string): string {
  const character = decoded(octet);
  return /[!$&'()*+,;=:@[\]{}|^`]/.test(character) ? character : octet;
}

/** Removes dot segments (RFC 3986 §5.2.4). */
function withoutDotSegments(path: string): string {
  const output: string[] = [];
  const segments = path.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') output.pop();
    else if (segment !== '.') output.push(segment);
  }
  const last = segments.at(-1);
  return `/${output.join('/')}${(last === '.' || last === '..') && output.length > 0 ? '/' : ''}`;
}

function sorted(query: string): string {
  return query === '' ? '' : `?${query.slice(1).split('&').sort().join('&')}`;
}

function otherMethods(method: string, { fields }: Request): Change[] {
  const override =
    fields.get('x-http-method-override') ?? fields.get('x-http-method') ?? fields.get('x-method-override');
  const others = [...methods, 'PATCH'].filter((other) => other !== method);
  return [
    ['the method was signed in lower case', method.toLowerCase()],
    ['the method of an override field was signed instead of that of the request line', override ?? method],
    ...others.map((other): Change => [otherMethodHint(method, other), other]),
  ];
}

function otherMethodHint(method: string, other: string): string {
  const common = `${other} was signed, but ${method} arrived`;
  return method === 'HEAD' && other === 'GET' ? `${common}: sign a HEAD request as HEAD` : common;
}

function dates(date: string, { fields }: Request): Change[] {
  const time = parseSignedDate(date);
  return [
    ['Date was signed, but X-Date, which was also sent, takes precedence', fields.get('date')],
    ['the month was signed in a different letter case', date.toLowerCase()],
    ['the month was signed in a different letter case', capitalized(date)],
    ['the month was signed in a different letter case', date.toUpperCase()],
    [
      'the date was signed in a different format than it was sent',
      time === undefined ? date : formatSignedDate(time),
    ],
    [
      'the date was signed in a different format than it was sent',
      time === undefined ? date : formatDate(time),
    ],
    ['the day was signed with two digits, but sent with one', `0${date}`],
    ['the day was signed with one digit, but sent with two', date.replace(/^0/, '')],
  ];
}

function capitalized(date: string): string {
  return date.replace(/[A-Za-z]{3}/g, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase());
}

/** Returns the content digest in other common forms. The content itself is not read yet. */
function contentDigests(sent: string | undefined, { fields, body }: Request): Change[] {
  const contentDigest = fields.get('content-digest');
  const bytes = /:([A-Za-z0-9+/]*={0,2}):/.exec(contentDigest ?? '')?.[1];
  const list: Change[] = [['the content digest was left out', undefined]];
  if (fields.has('content-md5')) {
    list.push([
      'Content-MD5 was signed, but Content-Digest, which was also sent, takes precedence',
      fields.get('content-md5'),
    ]);
  }
  if (bytes !== undefined) {
    const hint = 'the bare digest of the content was signed instead of the value of Content-Digest as sent';
    list.push([hint, bytes], [hint, Buffer.from(bytes, 'base64').toString('hex')]);
  }
  if (sent === undefined && (!body.present || fields.get('content-length') === '0')) {
    const hint = 'a digest of empty content was signed, but not sent';
    list.push(...digestsOfEmptyContent().map((digest): Change => [hint, digest]), [hint, '']);
  }
  return list;
}

function digestsOfEmptyContent(): string[] {
  const sha256 = createHash('sha256').digest();
  const md5 = createHash('md5').digest();
  return [
    `sha-256=:${sha256.toString('base64')}:`,
    ...[sha256, md5].flatMap((digest) => [digest.toString('base64'), digest.toString('hex')]),
  ];
}
