// Values that clients sign by mistake in place of one part of the message.
import { createHash } from 'node:crypto';
import { methods } from '../../../http/method.ts';
import { formPairs } from '../../../signature/declared/form.ts';
import {
  hostForms,
  type MessageSource,
  messageBytes,
  pieceOf,
  sortedQuery,
  splitTarget,
} from '../../../signature/declared/message.ts';
import type { TemplatePart } from '../../../signature/declared/template.ts';
import { formatTimestamp, timestampUnits } from '../../../signature/declared/timestamp.ts';
import type { DeclaredOptions } from '../options.ts';
import { unitNames } from '../presented.ts';
import { contentVariants, type Variant } from './content.ts';

/** Returns the values that may have been signed in place of a part, most likely first. */
export function variantsOf(
  part: TemplatePart,
  source: MessageSource,
  time: number | undefined,
  options: DeclaredOptions,
): Variant[] {
  const { target, content } = source;
  const { path, query } = splitTarget(target);
  switch (part.kind) {
    case 'literal':
      return [];
    case 'method':
    case 'method-lower':
      return methodVariants(source.method, part.kind);
    case 'target':
      return [...targetVariants(source), ...signatureKept(target, '', options)];
    case 'path':
      return pathVariants(path, source);
    case 'query':
    case 'query-sorted':
      return [...queryVariants(query, target), ...signatureKept(query, '?', options)];
    case 'url':
      return [...urlVariants(source), ...signatureKept(urlOf(source), '', options)];
    case 'host':
      return hostVariants(source);
    case 'timestamp':
      return timestampVariants(source, time, options);
    case 'user':
    case 'nonce':
    case 'id':
      return caseVariants(part.kind, source[part.kind]);
    case 'field':
      return fieldVariants(part.field, source.field(part.field.toLowerCase()) ?? '');
    case 'body':
      return [...contentVariants(content), ...digestsOf(content)];
    case 'body-sha256':
      return contentHashVariants(content, 'sha256', 'hex');
    case 'body-md5-base64':
      return contentHashVariants(content, 'md5', 'base64');
    case 'form-sorted':
      return formVariants(source);
  }
}

function methodVariants(method: string, kind: 'method' | 'method-lower'): Variant[] {
  const others = [...methods, 'PATCH'].filter((other) => other !== method);
  const written = (other: string): string => (kind === 'method' ? other : other.toLowerCase());
  return [
    ['the method was signed in lower case', method.toLowerCase()],
    ['the method was signed in upper case', method.toUpperCase()],
    ...others.map((other): Variant => [`${other} was signed, but ${method} arrived`, written(other)]),
  ];
}

function urlOf(source: MessageSource): string {
  return String(pieceOf({ kind: 'url' }, source));
}

const withHost = 'the host was signed with the target';

function targetVariants(source: MessageSource): Variant[] {
  const { target, host } = source;
  const { path, query } = splitTarget(target);
  return [
    ['the query was left out', path],
    [withHost, `https://${host}${target}`],
    [withHost, `http://${host}${target}`],
    [withHost, host + target],
    ['the parameters of the query were sorted before they were signed', `${path}?${sortedQuery(query)}`],
    ['a "?" without a query was signed', query === '' ? `${path}?` : target],
    ...textVariants('the target', target),
  ];
}

function pathVariants(path: string, { target, host }: MessageSource): Variant[] {
  return [
    ['the query was signed with the path', target],
    ['the host was signed with the path', `https://${host}${path}`],
    ['the host was signed with the path', `http://${host}${path}`],
    ['the host was signed with the path', host + path],
    ...textVariants('the path', path),
  ];
}

/** Variants of a path or of a text that begins with one. */
function textVariants(what: string, text: string): Variant[] {
  const toggled = text.endsWith('/') ? text.slice(0, -1) : `${text}/`;
  return [
    [`${what} was percent-decoded before it was signed`, decoded(text)],
    [`${what} was percent-encoded again, or only after signing`, encodeURI(text)],
    [`${what} was percent-encoded as a whole before it was signed`, encodeURIComponent(text)],
    [
      `${what} differs in its percent-encoding`,
      text.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toLowerCase()),
    ],
    [
      `${what} differs in its percent-encoding`,
      text.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase()),
    ],
    [`${what} differs in a trailing slash`, toggled],
    [`${what} was signed without its leading slash`, text.replace(/^\//, '')],
    [`${what} was signed in lower case`, text.toLowerCase()],
  ];
}

function decoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function queryVariants(query: string, target: string): Variant[] {
  const parameters = query.split('&');
  return [
    ['the parameters of the query were signed in another order', query],
    ['the parameters of the query were signed in another order', sortedQuery(query)],
    ['the parameters of the query were signed in another order', parameters.toReversed().join('&')],
    ['the "?" was signed with the query', `?${query}`],
    ['the "?" was signed with the query', `?${sortedQuery(query)}`],
    ['the query was left out', ''],
    ['the path was signed with the query', target],
    ['the query was percent-decoded before it was signed', decoded(query)],
    ['a space in the query was signed as "+"', query.replaceAll('%20', '+')],
    ['a space in the query was signed as "%20"', query.replaceAll('+', '%20')],
    [
      'names and values of the query were signed without "=" and "&"',
      parameters.join('').replaceAll('=', ''),
    ],
  ];
}

/** Returns the text with the parameter of the signature, empty or without a value. */
function signatureKept(text: string, mark: string, { place }: DeclaredOptions): Variant[] {
  if (!('query' in place)) return [];
  const hint = `the query parameter ${place.query} was signed; the message does not contain it`;
  const separator = mark === '?' ? (text === '' ? '' : '&') : text.includes('?') ? '&' : '?';
  return [`${place.query}=`, place.query].map((pair): Variant => [hint, text + separator + pair]);
}

function urlVariants(source: MessageSource): Variant[] {
  const { secure, host, target } = source;
  const url = urlOf(source);
  const [withoutPort, withPort] = hostForms(host, secure);
  const [own, other] = secure ? ['https', 'http'] : ['http', 'https'];
  const forwarded = source.field('x-forwarded-host');
  const { path } = splitTarget(target);
  return [
    [`${other} was signed, but the request arrived over ${own}`, url.replace(/^https?/, other)],
    ['the host was signed without its port', url.replace(host, withoutPort)],
    ['the host was signed with the default port', url.replace(host, withPort)],
    ['the query was left out', url.replace(/\?.*$/s, '')],
    ['the path was left out', url.replace(target, '')],
    ['only the target was signed, without scheme and host', target],
    ['only the path was signed, without scheme and host', path],
    ['the scheme was left out', host + target],
    ...(forwarded === undefined
      ? []
      : [['the host of X-Forwarded-Host was signed', url.replace(host, forwarded)] as const]),
    ['the URL differs in a trailing slash', url.endsWith('/') ? url.slice(0, -1) : `${url}/`],
    ['the URL was percent-decoded before it was signed', decoded(url)],
    ['the URL was signed in lower case', url.toLowerCase()],
    [
      'the parameters of the query were sorted before they were signed',
      url.replace(/\?(.*)$/s, (_, query: string) => `?${sortedQuery(query)}`),
    ],
  ];
}

function hostVariants({ host, secure, field }: MessageSource): Variant[] {
  const [withoutPort, withPort] = hostForms(host, secure);
  const forwarded = field('x-forwarded-host');
  return [
    ['the host was signed without its port', withoutPort],
    ['the host was signed with the default port', withPort],
    ['the host was signed in lower case', host.toLowerCase()],
    ['the scheme was signed with the host', `https://${host}`],
    ['the scheme was signed with the host', `http://${host}`],
    ...(forwarded === undefined ? [] : [['the host of X-Forwarded-Host was signed', forwarded] as const]),
  ];
}

function timestampVariants(
  { timestamp, field }: MessageSource,
  time: number | undefined,
  { timestamp: declared }: DeclaredOptions,
): Variant[] {
  if (time === undefined || declared === undefined) return [];
  const inUnits = timestampUnits.map(
    (unit): Variant => [
      `the timestamp was signed as ${unitNames[unit]}, but sent as ${unitNames[declared.unit]}`,
      formatTimestamp(time, unit),
    ],
  );
  const date = field('date');
  return [
    ...inUnits,
    ['the timestamp was signed with milliseconds', new Date(time).toISOString()],
    ['the timestamp was signed with a fraction', `${timestamp}.0`],
    ...(date === undefined ? [] : [['the value of Date was signed instead of the timestamp', date] as const]),
  ];
}

function caseVariants(what: string, text: string): Variant[] {
  return [
    [`the ${what} was signed in lower case`, text.toLowerCase()],
    [`the ${what} was signed in upper case`, text.toUpperCase()],
    [`the ${what} was percent-encoded before it was signed`, encodeURIComponent(text)],
  ];
}

function fieldVariants(name: string, value: string): Variant[] {
  return [
    [`the name of ${name} was signed with its value`, `${name}:${value}`],
    [`the name of ${name} was signed with its value`, `${name.toLowerCase()}:${value}`],
    [`the name of ${name} was signed with its value`, `${name}: ${value}`],
    [`the value of ${name} was signed in lower case`, value.toLowerCase()],
    [`the value of ${name} was signed without its parameters`, value.replace(/;.*$/s, '')],
    [`the value of ${name} was signed with white space around it`, ` ${value}`],
    [`the value of ${name} was signed with white space around it`, `${value} `],
  ];
}

function digestsOf(content: Uint8Array): Variant[] {
  const hint = 'a digest of the content was signed instead of the content';
  return (['sha256', 'md5', 'sha1', 'sha512'] as const).flatMap((hash): Variant[] => {
    const digest = createHash(hash).update(content).digest();
    return [
      [hint, digest.toString('hex')],
      [hint, digest.toString('base64')],
      [hint, digest],
    ];
  });
}

function contentHashVariants(
  content: Uint8Array,
  hash: 'sha256' | 'md5',
  encoding: 'hex' | 'base64',
): Variant[] {
  const digest = createHash(hash).update(content).digest();
  const other = encoding === 'hex' ? 'base64' : 'hex';
  const wrong = hash === 'sha256' ? 'md5' : 'sha256';
  return [
    [
      `the digest of the content was signed in ${other === 'hex' ? 'hexadecimal' : other}`,
      digest.toString(other),
    ],
    ['the digest of the content was signed in upper case', digest.toString('hex').toUpperCase()],
    ['the digest of the content was signed as base64url', digest.toString('base64url')],
    ['the digest of the content was signed as bytes', digest],
    ['the content was signed instead of its digest', content],
    ['the digest of the content was left out', ''],
    [
      `${wrong.toUpperCase()} was used for the digest of the content`,
      createHash(wrong).update(content).digest(encoding),
    ],
    ...contentVariants(content).map(
      ([hint, value]): Variant => [
        hint,
        createHash(hash)
          .update(messageBytes([value]))
          .digest(encoding),
      ],
    ),
  ];
}

function formVariants({ content, hasForm }: MessageSource): Variant[] {
  const form = Buffer.from(content).toString('latin1');
  const pairs = hasForm ? formPairs(form) : undefined;
  if (pairs === undefined) return [['the content was signed, but it is not a form', form]];
  const sorted = pairs.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const caseless = pairs.toSorted(([one], [other]) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1));
  const unsorted = pairs.map((pair) => pair.join('')).join('');
  return [
    ['the parameters of the form were not sorted', unsorted],
    [
      'the parameters of the form were sorted without regard to case',
      caseless.map((pair) => pair.join('')).join(''),
    ],
    [
      'the parameters of the form were joined with "=" and "&"',
      sorted.map((pair) => pair.join('=')).join('&'),
    ],
    ['the form was signed as sent', form],
    ['the parameters of the form were left out', ''],
    [
      'the parameters of the form were not decoded',
      form
        .split('&')
        .sort()
        .map((pair) => pair.replace('=', ''))
        .join(''),
    ],
    ['only the values of the form were signed', sorted.map(([, value]) => value).join('')],
  ];
}
