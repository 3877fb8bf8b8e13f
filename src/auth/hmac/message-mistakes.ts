// Messages that clients sign by mistake, and changes that proxies make to a request in transit. Each entry reconstructs, from the
// request that arrived, a message that may have been signed.
import { createHash } from 'node:crypto';
import { formatDate, parseSignedDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import { methods } from '../../http/method.ts';
import { formatSignedDate, messageOf, type Signed, withoutSpaces } from '../../signature/hmac.ts';
import { basePathMistakes } from './base-path-mistake.ts';
import { type MessageMistake, partName, partOrder } from './message-parts.ts';
import { type Change, escaped, permutations, targetMistakes } from './target-mistakes.ts';

/** Returns the common mistakes, most likely first. Includes those that do not change the message of this request. */
export function messageMistakes(request: Request, signed: Signed, user: string): MessageMistake[] {
  const date = request.fields.get('x-date') ?? request.fields.get('date') ?? '';
  const changedBy = (name: keyof Signed, changes: readonly Change[]): MessageMistake[] =>
    changes.map(([hint, changed]) => ({
      hint,
      message: messageOf({ ...signed, [name]: changed }),
      part: { name, signed: name === 'date' ? withoutSpaces(changed ?? '') : (changed ?? '') },
    }));
  return [
    ...changedBy('target', targetMistakes(signed.target, request)),
    ...wholes(signed, date),
    ...changedBy('target', basePathMistakes(signed.target, request)),
    ...changedBy('method', otherMethods(signed.method, request)),
    ...(signed.nonce === undefined ? [] : changedBy('date', dates(date, request))),
    ...changedBy('contentDigest', contentDigests(signed.contentDigest, request)),
    ...encodings(messageOf(signed)),
    ...additions(signed, request, user),
    ...orders(signed),
  ];
}

type Parts = readonly (string | undefined)[];

/** Returns mistakes that affect more than one part of the message. `date` is as sent. */
function wholes(signed: Signed, date: string): MessageMistake[] {
  const { method, target, nonce, contentDigest } = signed;
  const message = messageOf(signed);
  const stamp = withoutSpaces(date);
  const forms: readonly (readonly [hint: string, parts: Parts, differs?: 'date' | 'nonce'])[] =
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
          ['the spaces were not removed from the date', [method, target, date, nonce, contentDigest], 'date'],
          ['the nonce was left out', [method, target, stamp, contentDigest], 'nonce'],
          [
            'the nonce was percent-encoded before it was signed',
            [method, target, stamp, encodedMarks(nonce), contentDigest],
            'nonce',
          ],
          ['the date was left out', [method, target, nonce, contentDigest], 'date'],
          ['date and nonce were swapped', [method, target, nonce, stamp, contentDigest]],
        ];
  const parts =
    nonce === undefined ? [method, target, contentDigest] : [method, target, stamp, nonce, contentDigest];
  return [
    { hint: 'a line feed was signed at the end (echo without -n?)', message: `${message}\n` },
    { hint: 'a line ending (CR LF) was signed at the end', message: `${message}\r\n` },
    { hint: 'a "+" was signed at the end, as before an empty content digest', message: `${message}+` },
    ...forms.map(([hint, form, differs]): MessageMistake => {
      const mistake = { hint, message: joined(form, '+') };
      return differs === undefined ? mistake : { ...mistake, part: partIn(form, differs) };
    }),
    ...Object.entries(separators).map(([name, separator]) => ({
      hint: `the parts were joined with ${name} instead of "+"`,
      message: joined(parts, separator),
    })),
  ];
}

/** Returns the part that differs in a form: its signed value is empty if the form leaves it out. */
function partIn(form: Parts, name: 'date' | 'nonce'): NonNullable<MessageMistake['part']> {
  const isComplete = form.length === allParts;
  return { name, signed: isComplete ? (form[name === 'date' ? 2 : 3] ?? '') : '' };
}

/** Returns messages that were encoded as a whole before they were signed. Each character of a result is one octet. */
function encodings(message: string): MessageMistake[] {
  const utf16 = Buffer.from(message, 'utf16le').toString('latin1');
  const octets = Buffer.from(message, 'latin1');
  return [
    { hint: 'the whole message was signed in lower case', message: message.toLowerCase() },
    { hint: 'the whole message was signed in upper case', message: message.toUpperCase() },
    { hint: 'the whole message was percent-encoded', message: encodeURIComponent(message) },
    { hint: 'the whole message was encoded in base64', message: octets.toString('base64') },
    { hint: 'the whole message was encoded in hexadecimal', message: octets.toString('hex') },
    { hint: 'the whole message was encoded in UTF-16 instead of UTF-8', message: utf16 },
    { hint: 'the whole message was signed in quotes', message: `"${message}"` },
    { hint: 'a byte order mark was signed at the start', message: `\u00ef\u00bb\u00bf${message}` },
    { hint: 'a space was signed at the end', message: `${message} ` },
  ];
}

/** Returns messages with a part that does not belong to them. */
function additions(signed: Signed, { fields }: Request, user: string): MessageMistake[] {
  const name = Buffer.from(user, 'utf8').toString('latin1');
  const others: readonly (readonly [what: string, value: string | undefined])[] = [
    ['the user', name],
    ['the host', fields.get('host')],
    ['the Content-Type', fields.get('content-type')],
    ['the Content-Length', fields.get('content-length')],
  ];
  const parts = Object.values(partsOf(signed));
  return others.flatMap(([what, value]) => {
    if (value === undefined) return [];
    const hint = `${what} was signed too, but does not belong to the message`;
    return Array.from({ length: parts.length + 1 }, (_, at) => ({
      hint,
      message: [...parts.slice(0, at), value, ...parts.slice(at)].join('+'),
    }));
  });
}

/** Returns the parts of the message that are present, in the order in which they are signed. */
function partsOf({
  method,
  target,
  date,
  nonce,
  contentDigest,
}: Signed): Partial<Record<keyof Signed, string>> {
  const isFull = date !== undefined && nonce !== undefined;
  return {
    ...{ method, target },
    ...(isFull ? { date: withoutSpaces(date), nonce } : {}),
    ...(contentDigest === undefined ? {} : { contentDigest }),
  };
}

/** Returns messages with the parts in other orders. */
function orders(signed: Signed): MessageMistake[] {
  const parts = partsOf(signed);
  const named = partOrder
    .filter((name) => parts[name] !== undefined)
    .map((name) => ({ name: partName(name), value: parts[name] ?? '' }));
  return permutations(named).map((other) => ({
    hint: `the parts were signed in another order: ${other.map(({ name }) => name).join(', ')}`,
    message: other.map(({ value }) => value).join('+'),
  }));
}

/** The number of parts of the full form, the content digest included. */
const allParts = 5;

const separators = {
  ...{ 'line feeds': '\n', 'no separator': '', spaces: ' ', '"&"': '&', '":"': ':', '"|"': '|', '","': ',' },
  ...{ '"."': '.', '"-"': '-', '";"': ';', tabs: '\t', 'CR LF': '\r\n', '" + "': ' + ', '"%2B"': '%2B' },
};

/** Percent-encodes the unreserved marks, which some encoders escape needlessly (RFC 3986 §2.3). */
function encodedMarks(nonce: string): string {
  return nonce.replace(/[._~-]/g, escaped);
}

function joined(parts: Parts, separator: string): string {
  return parts.filter((part) => part !== undefined).join(separator);
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
    ...(time === undefined ? [] : otherDateForms(time)).map(
      ([form, signed]): Change => [`the date was signed ${form}, not as it was sent`, signed],
    ),
  ];
}

function otherDateForms(time: number): [form: string, date: string][] {
  const iso = new Date(time).toISOString();
  return [
    ['in ISO 8601 format', iso],
    ['in ISO 8601 format', iso.replace(/\.\d+/, '')],
    ['as a number of seconds', String(time / 1000)],
    ['as a number of milliseconds', String(time)],
    ['with the zone +0000', formatDate(time).replace('GMT', '+0000')],
    ['with the zone UTC', formatDate(time).replace('GMT', 'UTC')],
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
  for (const member of contentDigest?.split(', ') ?? []) {
    const hint = 'Content-Digest was sent twice and joined (Headers.append?), but only one value was signed';
    if (member !== contentDigest) list.push([hint, member]);
  }
  if (bytes !== undefined) {
    const hint = 'the bare digest of the content was signed instead of the value of Content-Digest as sent';
    list.push([hint, bytes], [hint, Buffer.from(bytes, 'base64').toString('hex')]);
  }
  if (sent === undefined && (!body.present || fields.get('content-length') === '0')) {
    const hint = 'a digest of empty content was signed, but not sent';
    list.push(...digestsOfEmptyContent().map((digest): Change => [hint, digest]));
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
