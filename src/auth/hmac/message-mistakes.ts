// What clients sign by mistake, and what proxies make of a request on its way. The server knows what arrived, so each
// is a guess at what it was when it was signed.
import { createHash } from 'node:crypto';
import { formatDate, parseSignedDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import { methods } from '../../http/method.ts';
import { formatSignedDate, messageOf, type Signed, withoutSpaces } from '../../signature/hmac.ts';

/** A message that a client may have signed, and the mistake that makes it so. */
export interface MessageMistake {
  readonly hint: string;
  readonly message: string;
}

type Change = readonly [hint: string, changed: string | undefined];

/** The usual mistakes, those that change nothing in this request included: most probable first. */
export function messageMistakes(request: Request, signed: Signed): MessageMistake[] {
  const date = request.fields.get('x-date') ?? request.fields.get('date') ?? '';
  const changedBy = (name: keyof Signed, changes: readonly Change[]): MessageMistake[] =>
    changes.map(([hint, changed]) => ({ hint, message: messageOf({ ...signed, [name]: changed }) }));
  return [
    ...changedBy('target', targets(signed.target, request)),
    ...wholes(signed, date),
    ...changedBy('method', otherMethods(signed.method, request)),
    ...(signed.nonce === undefined ? [] : changedBy('date', dates(date, request))),
    ...changedBy('contentDigest', contentDigests(signed.contentDigest, request)),
  ];
}

type Parts = readonly (string | undefined)[];

/** Mistakes that are not in one part of the message. `date` is as it was sent. */
function wholes(signed: Signed, date: string): MessageMistake[] {
  const { method, target, nonce, contentDigest } = signed;
  const message = messageOf(signed);
  const stamp = withoutSpaces(date);
  const forms: readonly (readonly [hint: string, parts: Parts])[] =
    nonce === undefined
      ? [
          ['the full form was signed and the simple form sent', [method, target, stamp, contentDigest]],
          ['the full form was signed and the simple form sent', [method, target, stamp, '', contentDigest]],
        ]
      : [
          [
            'the simple form was signed and the full form sent: date and nonce were left out',
            [method, target, contentDigest],
          ],
          ['the spaces were left in the date', [method, target, date, nonce, contentDigest]],
          ['the nonce was left out', [method, target, stamp, contentDigest]],
          [
            'the nonce was percent-encoded before it was signed',
            [method, target, stamp, encodedMarks(nonce), contentDigest],
          ],
          ['the date was left out', [method, target, nonce, contentDigest]],
          ['date and nonce were exchanged', [method, target, nonce, stamp, contentDigest]],
        ];
  const parts =
    nonce === undefined ? [method, target, contentDigest] : [method, target, stamp, nonce, contentDigest];
  return [
    { hint: 'a line feed was signed at the end (echo without -n?)', message: `${message}\n` },
    { hint: 'a line end (CR LF) was signed at the end', message: `${message}\r\n` },
    ...forms.map(([hint, form]) => ({ hint, message: joined(form, '+') })),
    ...Object.entries(joints).map(([name, joint]) => ({
      hint: `the parts were joined by ${name}; "+" is expected`,
      message: joined(parts, joint),
    })),
  ];
}

const joints = { 'line feeds': '\n', nothing: '', spaces: ' ', '"&"': '&', '":"': ':' };

/** With escapes for the marks that some encoders escape, though none of them needs it (RFC 3986 §2.3). */
function encodedMarks(nonce: string): string {
  return nonce.replace(/[._~-]/g, escaped);
}

function joined(parts: Parts, joint: string): string {
  return parts.filter((part) => part !== undefined).join(joint);
}

function targets(target: string, { fields }: Request): Change[] {
  const [path, query] = halves(target);
  const host = fields.get('host') ?? '';
  const withoutHost = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const changedEscapes = (change: (octet: string) => string): string =>
    target.replace(/%[0-9a-f]{2}/gi, change);
  const reencoded = 'the percent-encoding was changed on the way, or by the client after it signed';
  const normalised = 'the path was normalised on the way, or by the client after it signed';
  return [
    ['the query was left out', path],
    ['the host was signed with the path', `http://${host}${target}`],
    ['the host was signed with the path', `https://${host}${target}`],
    ['the host was signed with the path', `//${host}${target}`],
    ['the host was signed with the path', host + target],
    ['the host was sent in the target, but not signed', withoutHost],
    ['the host was sent in the target, but not signed', withoutHost === '' ? '/' : withoutHost],
    ['the target was percent-decoded before it was signed', decoded(target)],
    ['the target was percent-encoded after it was signed, or again', encodeURI(target)],
    ['the target was percent-encoded as a whole before it was signed', encodeURIComponent(target)],
    [`${reencoded}: what needs no escape had one`, target.replaceAll('~', '%7E')],
    [`${reencoded}: what needs no escape had one`, target.replaceAll('~', '%7e')],
    [`${reencoded}: what needs no escape has one`, changedEscapes(unreservedDecoded)],
    [`${reencoded}: escapes had capitals`, changedEscapes((octet) => octet.toUpperCase())],
    [`${reencoded}: escapes had small letters`, changedEscapes((octet) => octet.toLowerCase())],
    [`${reencoded}: a slash was escaped as %2F`, target.replace(/%2f/gi, '/')],
    [`${reencoded}: a space in the query was "+"`, path + query.replaceAll('%20', '+')],
    [`${reencoded}: a space in the query was "%20"`, path + query.replaceAll('+', '%20')],
    [`${reencoded}: "+" in the query was "%2B"`, path + query.replaceAll('+', '%2B')],
    [`${reencoded}: "%2B" in the query was "+"`, path + query.replace(/%2b/gi, '+')],
    [`${reencoded}: characters were as they are`, changedEscapes(delimiterDecoded)],
    [`${reencoded}: characters were escaped`, path + query.replace(/[[\]{}|^`:@!$'()*,;/]/g, escaped)],
    [`${reencoded}: characters were escaped`, path.replace(/[:@!$&'()*+,;=]/g, escaped) + query],
    [`${normalised}: the slash at its end was not there`, path.replace(/(?<=.)\/$/, '') + query],
    [`${normalised}: there was a slash at its end`, path.endsWith('/') ? target : `${path}/${query}`],
    [`${normalised}: dot segments`, withoutDotSegments(path) + query],
    [`${normalised}: double slashes`, path.replace(/\/{2,}/g, '/') + query],
    ['a "?" without a query was signed', query === '' ? `${target}?` : target],
    ['a "?" without a query was not signed', query === '?' ? path : target],
    ['the parameters of the query were sorted before they were signed', path + sorted(query)],
    ['the target was signed in lower case', target.toLowerCase()],
    ['the target was signed without its first slash', target.replace(/^\//, '')],
  ];
}

/** The path, and the query with its question mark. */
function halves(target: string): [path: string, query: string] {
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

/** RFC 3986 §5.2.4. */
function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  const last = segments.at(-1);
  return `/${kept.join('/')}${(last === '.' || last === '..') && kept.length > 0 ? '/' : ''}`;
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
    ['the method of an override field was signed; that of the request line counts', override ?? method],
    ...others.map((other): Change => [otherMethodHint(method, other), other]),
  ];
}

function otherMethodHint(method: string, other: string): string {
  const common = `${other} was signed, and ${method} arrived`;
  return method === 'HEAD' && other === 'GET' ? `${common}: a HEAD is signed as HEAD` : common;
}

function dates(date: string, { fields }: Request): Change[] {
  const time = parseSignedDate(date);
  return [
    ['Date was signed, but X-Date was sent too, and counts', fields.get('date')],
    ['the month was signed in another case', date.toLowerCase()],
    ['the month was signed in another case', capitalised(date)],
    ['the month was signed in another case', date.toUpperCase()],
    [
      'the date was signed in another form than it was sent',
      time === undefined ? date : formatSignedDate(time),
    ],
    ['the date was signed in another form than it was sent', time === undefined ? date : formatDate(time)],
    ['a day of two digits was signed, and one of one digit sent', `0${date}`],
    ['a day of one digit was signed, and one of two digits sent', date.replace(/^0/, '')],
  ];
}

function capitalised(date: string): string {
  return date.replace(/[A-Za-z]{3}/g, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase());
}

/** The digest of the content as it is signed, or usually is elsewhere. The content itself is not read yet. */
function contentDigests(sent: string | undefined, { fields, body }: Request): Change[] {
  const contentDigest = fields.get('content-digest');
  const bytes = /:([A-Za-z0-9+/]*={0,2}):/.exec(contentDigest ?? '')?.[1];
  const list: Change[] = [['the content digest was left out', undefined]];
  if (fields.has('content-md5')) {
    list.push(['Content-MD5 was signed; Content-Digest was sent too, and counts', fields.get('content-md5')]);
  }
  if (bytes !== undefined) {
    const hint = 'the bare digest of the content was signed; the value of Content-Digest as sent is expected';
    list.push([hint, bytes], [hint, Buffer.from(bytes, 'base64').toString('hex')]);
  }
  if (sent === undefined && (!body.present || fields.get('content-length') === '0')) {
    const hint = 'a digest of no content was signed, but not sent';
    list.push(...digestsOfNothing().map((digest): Change => [hint, digest]), [hint, '']);
  }
  return list;
}

function digestsOfNothing(): string[] {
  const sha256 = createHash('sha256').digest();
  const md5 = createHash('md5').digest();
  return [
    `sha-256=:${sha256.toString('base64')}:`,
    ...[sha256, md5].flatMap((digest) => [digest.toString('base64'), digest.toString('hex')]),
  ];
}
