// Usual mistakes behind refusals other than those of signatures, recognized from what the client sent.

import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { formatCount } from '../../counted.ts';
import { HttpHeaders } from '../../http/fields.ts';
import { parseContentDigest } from '../../http/headers/content-digest.ts';
import { isMethod } from '../../http/method.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { findDigestMistake } from '../../schemes/explain/content.ts';
import type { RecordedExchange } from './exchange.ts';

/** Returns the usual mistake that explains the problem of an exchange; undefined if none is recognized. It contains no secret. */
export function findUsualMistake(exchange: RecordedExchange): string | undefined {
  const { problem, request, received } = exchange;
  if (problem === undefined) return undefined;
  const fields = new HttpHeaders(request?.raw ?? []);
  switch (problem.type) {
    case 'method-not-implemented':
      return methodMistake(request?.method ?? /^[^ ]{0,32}/.exec(received ?? '')?.[0] ?? '');
    case 'malformed-request':
    case 'version-not-supported':
      return received === undefined ? undefined : wireMistake(received);
    case 'digest-mismatch':
      return digestMistake(fields, Buffer.from(exchange.content?.bytes ?? []));
    case 'malformed-field':
      return digestForms.find(([name, form]) => form.test(fields.get(name) ?? ''))?.[2];
    case 'malformed-credentials':
      return credentialsMistake(fields);
    case 'internal-error':
      return describeFailure(problem.cause);
    case 'quota-exceeded':
      return quotaHint(problem.detail);
    default:
      return undefined;
  }
}

/** The maximum length of the text of an error, in UTF-16 units. */
const longestFailure = 1000;

/** Returns what code in the double threw. The client does not see it. */
function describeFailure(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  try {
    const text = String(cause instanceof Error && cause.name === 'Error' ? cause.message : cause);
    return (text.startsWith('[object ') ? inspect(cause, { breakLength: Infinity }) : text).slice(
      0,
      longestFailure,
    );
  } catch {
    return 'what was thrown cannot be written as text';
  }
}

/** Returns how a test ends the window of a quota: in its own process, and through the control interface. */
function quotaHint(detail: string): string | undefined {
  const seconds = /Retry after ([0-9]+) s/.exec(detail)?.[1];
  if (seconds === undefined) return undefined;
  const inProcess = `double.clock.advance('${seconds}s') ends the window`;
  return `${inProcess}; so does POST /clock/advance with {"by":"${seconds}s"} on the control interface`;
}

function methodMistake(method: string): string | undefined {
  const upper = method.toUpperCase();
  if (upper === method) return undefined;
  return `methods are case-sensitive (RFC 9110 §9.1): ${method} was sent instead of ${upper}`;
}

const fieldName = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}";
const bareLineFeed = new RegExp(`^(${fieldName}):.*\\n`, 'm');
const folded = new RegExp(`^(${fieldName}):.*\\r\\n[ \\t]`, 'm');
const spaceBeforeColon = new RegExp(`^(${fieldName})[ \\t]+:`, 'm');

/** Recognizes a mistake in a request that could not be parsed. */
function wireMistake(received: string): string | undefined {
  const [start = ''] = received.split('\n', 1);
  if (received.startsWith('\x16\x03')) return 'a TLS handshake was sent to a port of plain HTTP';
  if (/[^\x00-\x7f]/.test(start))
    return 'the target has characters outside ASCII; percent-encode them as UTF-8';
  if (/^[A-Za-z]+ \S+ .* HTTP\//.test(start)) return 'the target has a space; percent-encode it as %20';
  if (isMethodInOtherCase(start)) return methodMistake(start.slice(0, start.indexOf(' ')));
  const fed = bareLineFeed.exec(received)?.[1];
  if (fed !== undefined)
    return `the value of ${fed} ends with a line feed (a digest was encoded with a trailing newline?); lines end with CR LF`;
  const continued = folded.exec(received)?.[1];
  if (continued !== undefined)
    return `the value of ${continued} has a line break (a digest was encoded with a newline?); send it on one line`;
  const spaced = spaceBeforeColon.exec(received)?.[1];
  return spaced === undefined ? undefined : `there is a space between ${spaced} and its colon`;
}

function isMethodInOtherCase(start: string): boolean {
  const method = /^([A-Za-z]{1,32}) \S/.exec(start)?.[1];
  return method !== undefined && !isMethod(method) && isMethod(method.toUpperCase());
}

/** Recognizes the content that a digest belongs to instead. */
function digestMistake(fields: HttpHeaders, content: Buffer): string {
  const declared = readDeclaredDigests(fields).filter(
    ({ algorithm, digest }) => !computeDigest(algorithm, content).equals(digest),
  );
  for (const { field, algorithm, digest } of declared) {
    const form = { hash: algorithm, format: octetsOf };
    const hint = findDigestMistake(form, content, octetsOf(digest));
    if (hint !== undefined) return hint;
    if (octetsOf(digest) === computeDigest(algorithm, content).toString('hex'))
      return `${field} contains the digest in hexadecimal`;
  }
  const actual = declared.map(
    ({ algorithm }) => `${algorithm} ${computeDigest(algorithm, content).toString('base64')}`,
  );
  // Digests in other places than these fields are SHA-256 in hexadecimal.
  if (actual.length === 0) actual.push(`sha256 ${computeDigest('sha256', content).toString('hex')}`);
  const received = `the content that arrived has ${formatCount(content.length, 'byte')} and the digest ${actual.join(', ')}`;
  return `the digest is that of other content, or the content was changed after it was signed; ${received}`;
}

function readDeclaredDigests(fields: HttpHeaders) {
  const md5 = fields.get('content-md5');
  const digests = parseContentDigest(fields.get('content-digest') ?? '') ?? [];
  return [
    ...digests.map(({ algorithm, digest }) => ({
      field: 'Content-Digest',
      algorithm: algorithm.replace('-', ''),
      digest,
    })),
    ...(md5 === undefined
      ? []
      : [{ field: 'Content-MD5', algorithm: 'md5', digest: Buffer.from(md5, 'base64') }]),
  ];
}

function computeDigest(algorithm: string, content: string | Buffer): Buffer {
  return createHash(algorithm).update(content).digest();
}

const digestForms: readonly (readonly [field: string, form: RegExp, hint: string])[] = [
  ['content-digest', /^[0-9a-f]{64,128}$/i, 'Content-Digest is bare hexadecimal; send sha-256=:BASE64:'],
  ['content-digest', /^[A-Za-z0-9+/]{40,90}={0,2}$/, 'Content-Digest is bare base64; send sha-256=:BASE64:'],
  [
    'content-digest',
    /^sha-(?:256|512)=[^:]/i,
    'the colons around the base64 are missing; send sha-256=:BASE64:',
  ],
  ['content-digest', /^sha-?(?:256|512)[:=]/i, 'the form is sha-256=:BASE64:, in lower case with a hyphen'],
  ['content-md5', /^[0-9a-f]{32}$/i, 'Content-MD5 is hexadecimal; send base64'],
  ['content-md5', /, /, 'Content-MD5 was sent twice and joined with a comma (Headers.append?)'],
];

function credentialsMistake(fields: HttpHeaders): string | undefined {
  const value = fields.get('authorization') ?? fields.get('authentication');
  if (value === undefined) return undefined;
  if (/^[^\s:]+:[^\s]+$/.test(value)) return 'the scheme is missing; send "hmac " before the credentials';
  if (/^[a-z][a-z-]*: ?\S/i.test(value)) return 'there is a colon after the scheme; send a space';
  return undefined;
}
