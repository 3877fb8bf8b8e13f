// Mistakes in keys and tokens that are sent as they are: in their form, or in the place where they are sent.

import { createHash } from 'node:crypto';
import { findClosestMatch } from '../../did-you-mean.ts';
import { parseForm, splitPairs } from '../../http/form.ts';
import { cookiePairs } from '../../http/headers/cookie.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { decodeEscapes } from '../../http/syntax/percent.ts';
import { findRepeated } from '../../http/syntax/token.ts';
import { findQuery } from '../../http/target.ts';
import { describeOther, isMasked } from '../known-secrets.ts';
import { describeForm } from '../signature-form.ts';
import type { KnownSecret } from '../trace.ts';

/** A change that clients make to a key or a token: what was done, and how to undo it. */
type KeyChange = readonly [done: string, undo: (sent: string) => string | undefined];

/** Words that clients send before a key. */
const word = /^(?:bearer|basic|token|api-?key|key)(?:\s*[:=]\s*|\s+|(?=[^a-z]))/i;

const changes: readonly KeyChange[] = [
  ['sent in quotes', (sent) => (isInQuotes(sent) ? sent.slice(1, -1) : undefined)],
  ['sent with a word before it', (sent) => sent.replace(word, '')],
  ['sent with a word before it', (sent) => sent.replace(word, '').replace(word, '')],
  ['sent with a word before it, in quotes', (sent) => /^"(.*)"$/s.exec(sent.replace(word, ''))?.[1]],
  [
    "sent in the notation of bytes in Python; decode them to text (b'…')",
    (sent) => /^b'(.*)'$/s.exec(sent)?.[1],
  ],
  ['sent with white space or a line feed', (sent) => sent.trim().replace(/\\[nr]$|%0[AD]$/i, '')],
  ['percent-encoded', (sent) => decodeEscapes(sent)],
  ['percent-encoded twice', (sent) => decodeEscapes(decodeEscapes(sent))],
  ['encoded in base64', (sent) => decodeBase64(sent)],
  ['encoded in base64 with a colon, as for Basic', (sent) => findAfterColon(decodeBase64(sent))],
  ['encoded in base64 with a colon, as for Basic', (sent) => findBeforeColon(decodeBase64(sent))],
  ['encoded in hexadecimal', (sent) => octetsOf(Buffer.from(sent, 'hex'))],
  ['sent together with a name', (sent) => findAfterColon(sent)],
  ['sent together with a name', (sent) => findBeforeColon(sent)],
  ['sent twice', (sent) => findHalf(sent)],
  ['sent twice, joined with a comma', (sent) => findRepeated(sent)],
  ['sent with a character at its end that does not belong to it', (sent) => sent.replace(/[.,;:]$/, '')],
];

function isInQuotes(sent: string): boolean {
  return /^".*"$|^'.*'$/s.test(sent);
}

/** The least number of characters of a key of which a part, or another letter case, is recognized. */
const leastRecognized = 8;

/** What is sent as it is. */
type SentKind = 'key' | 'token' | 'password';

/** Yields what a client may have meant to send, each with the hint at its mistake. */
export function* undoChanges(
  sent: string,
  kind: SentKind,
): Generator<readonly [hint: string, meant: string]> {
  for (const [done, undo] of changes) {
    const meant = undo(sent);
    if (meant !== undefined && meant !== '' && meant !== sent) yield [`the ${kind} was ${done}`, meant];
  }
}

/** Forms of what is sent in place of a key or a token. */
const sentForms: readonly (readonly [form: RegExp, what: string])[] = [
  [/^\s*\{"/, 'it is JSON'],
  [/^(?:process\.env|os\.environ|ENV)\b/, 'it is the name of a variable, not its value'],
  [
    /^(?:your|my|the)?[-_ ]?(?:api|secret|access|auth)[-_ ]?(?:key|token)(?:[-_ ]?here)?$/i,
    'it is a placeholder that was not replaced',
  ],
  [
    /^(?:x{6,}|X{6,}|0{8,}|changeme|change-me|todo|test|example|placeholder|secret)$/i,
    'it is a placeholder that was not replaced',
  ],
];

/** Returns the mistake that the form of a key or a token shows; undefined if it shows none. */
export function describeSentForm(sent: string, kind: SentKind): string | undefined {
  const form = word.test(sent) && /\s/.test(sent) ? 'it begins with a word' : describeForm(sent);
  const isJwt = kind === 'key' && /^eyJ[\w-]+\.[\w-]*\.[\w-]*$/.test(sent);
  const shown = form ?? (isJwt ? 'it is a JWT' : sentForms.find(([pattern]) => pattern.test(sent))?.[1]);
  return shown === undefined ? undefined : `what was sent is no ${kind}: ${shown}`;
}

/**
 * Returns the mistake in a key that was refused; undefined if none is recognized.
 *
 * @param user The user whose key it must be; empty if the key identifies its user
 * @param known The secrets that a test double knows
 */
export function describeSentKey(
  sent: string,
  user: string,
  known: readonly KnownSecret[],
): string | undefined {
  const exact = known.filter(({ secret }) => secret === sent);
  const [first] = exact;
  if (first !== undefined) {
    const owners = new Set(exact.flatMap(({ name, current }) => (current ? [name] : [])));
    if (user === '' && owners.size > 1) return 'several users have this key';
    const isOwn = first.current && !first.isPassword && (user === '' || first.name === user);
    return `what was sent is ${isOwn ? `an expired secret of ${first.name}` : describeOther(first, user)}`;
  }
  if (known.some(({ name }) => name === sent)) return 'a name was sent in place of the key';
  const current = known.filter(({ secret, isPassword }) => secret !== '' && !isPassword);
  const secrets = new Set(current.map(({ secret }) => secret));
  for (const [hint, meant] of undoChanges(sent, 'key')) if (secrets.has(meant)) return hint;
  const masked = current.find(({ secret }) => isMasked(sent, secret));
  if (masked !== undefined)
    return `the key of ${masked.name} was sent masked, as a page or a log shows it; send the whole key`;
  if (sent.length >= leastRecognized) {
    if (current.some(({ secret }) => secret.startsWith(sent))) return 'the end of the key is missing';
    if (current.some(({ secret }) => secret.endsWith(sent))) return 'the beginning of the key is missing';
    if (current.some(({ secret }) => secret.toLowerCase() === sent.toLowerCase()))
      return 'the key was sent in another letter case';
    const similar = /^\s*\{"/.test(sent) ? undefined : describeSimilar(sent, [...secrets]);
    if (similar !== undefined) return similar;
  }
  return describeSentForm(sent, 'key');
}

/** The largest number of characters in which a key is compared with others for a typo. */
const longestCompared = 256;

/** Returns how a text relates to a key that it contains, hashes, or nearly is. */
function describeSimilar(sent: string, secrets: readonly string[]): string | undefined {
  const long = secrets.filter(({ length }) => length >= leastRecognized);
  const parts = sent.split(/[,;|\s]+/);
  if (parts.length > 1 && parts.some((part) => long.includes(part)))
    return 'the key was sent together with another value';
  if (long.some((secret) => sent.startsWith(secret) || sent.endsWith(secret)))
    return 'there are further characters before or after the key';
  const hashed = hashes.find(([hash, encoding]) =>
    long.some((secret) => createHash(hash).update(secret).digest(encoding) === sent),
  );
  if (hashed !== undefined) return `the ${hashed[0]} hash of the key was sent; the key itself is expected`;
  if (sent.length > longestCompared) return undefined;
  return findClosestMatch(sent, long) === undefined
    ? undefined
    : 'the key differs in a few characters from one that is known: a typo?';
}

const hashes = (['sha256', 'sha1', 'md5', 'sha512'] as const).flatMap((hash) =>
  (['hex', 'base64'] as const).map((encoding) => [hash, encoding] as const),
);

function decodeBase64(sent: string): string | undefined {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(sent) ? octetsOf(Buffer.from(sent, 'base64')) : undefined;
}

function findHalf(sent: string): string | undefined {
  const half = sent.slice(0, sent.length / 2);
  return half + half === sent ? half : undefined;
}

function findAfterColon(text = ''): string | undefined {
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : undefined;
}

function findBeforeColon(text = ''): string | undefined {
  return text.includes(':') ? text.slice(0, text.indexOf(':')) : undefined;
}

/** The number of values of a request that are examined: a client may send thousands. */
const maxValues = 64;

/**
 * Returns where a key was sent that a test double knows, if it is not where one is expected.
 *
 * @param expected The places where keys are expected, for the hint: `X-Api-Key`
 */
export function describeMisplacedKey(
  request: IncomingRequest,
  expected: readonly string[],
  known: readonly KnownSecret[],
): string | undefined {
  if (expected.length === 0 || known.length === 0) return undefined;
  const secrets = new Set(known.filter(({ secret }) => secret !== '').map(({ secret }) => secret));
  for (const [place, value] of listValues(request))
    if (secrets.has(value)) return `a key was sent in ${place}; ${expected.join(' or ')} is expected`;
  return undefined;
}

/** Fields in which clients send access tokens. */
const tokenFields = ['access-token', 'x-access-token', 'x-auth-token', 'auth-token', 'x-token', 'token'];

/** Returns where a token was sent that RFC 6750 does not permit, or that this service does not read; undefined if none was. */
export function describeMisplacedToken({ headers, target }: IncomingRequest): string | undefined {
  const field = tokenFields.find((name) => headers.has(name));
  if (/^[^\s,=]{16,}$/.test(headers.get('authorization') ?? ''))
    return 'Authorization has no scheme; send "Bearer " before the token';
  const place = /[?&]access_token=/.test(target) ? 'the query' : field && `the field ${field}`;
  return place && `a token was sent in ${place}, which is not read; send it in Authorization with Bearer`;
}

/** Yields the values of a request that can be keys, with their places. */
function* listValues({ headers, target }: IncomingRequest): Generator<[place: string, value: string]> {
  const { raw } = headers;
  for (let at = 0; at < raw.length && at < 2 * maxValues; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (lower === 'cookie')
      for (const [cookie, content] of cookiePairs(value)) yield [`the cookie ${cookie}`, content];
    if (lower !== 'authorization') yield [`the field ${name}`, value];
    else yield* listAuthorizationValues(value);
  }
  for (const [name, value] of splitPairs(findQuery(target)).slice(0, maxValues))
    yield [`the query parameter ${name}`, decodeEscapes(value)];
}

function* listAuthorizationValues(value: string): Generator<[place: string, value: string]> {
  yield ['Authorization without the name of a scheme', value];
  const [, scheme = '', rest = ''] = /^([!-~]+) +(.*)$/s.exec(value) ?? [];
  yield [`Authorization with ${scheme}`, rest];
  if (scheme.toLowerCase() !== 'basic') return;
  const decoded = decodeBase64(rest);
  yield ['Authorization with Basic', decoded ?? ''];
  yield ['Authorization with Basic', findBeforeColon(decoded) ?? ''];
  yield ['Authorization with Basic', findAfterColon(decoded) ?? ''];
}

/** The fields that clients misspell, in lower case. */
const credentialFields = ['authorization', 'authentication'];

/** Returns the field with credentials that no scheme reads; undefined if there is none. */
export function describeOtherField(raw: readonly string[]): string | undefined {
  for (let at = 0; at < raw.length && at < 2 * maxValues; at += 2) {
    const name = raw[at] ?? '';
    if (credentialFields.includes(name.toLowerCase())) continue;
    const meant = findClosestMatch(name.toLowerCase().replace(/^(?:x|proxy)-/, ''), credentialFields);
    if (meant !== undefined || /^(?:hmac|basic|bearer) \S/i.test(raw[at + 1] ?? ''))
      return `credentials are in the field ${name}, which is not read; did you mean ${meant ?? 'Authentication'}?`;
  }
  return undefined;
}

/** Names of members and parameters that contain a key, and of those that contain a signature. */
const keyName =
  /^(?:x[-_])?(?:(?:api|access|auth|app|client|secret|private|subscription)[-_]?(?:key|token|secret|id)|key|token|secret|passw(?:or)?d|apikey|authorization|bearer)$/i;
const signatureName = /^(?:x[-_])?(?:.*[-_])?(?:signature|sign|sig|hmac|mac|digest|checksum|hash)$/i;

/**
 * Returns which credentials stand in JSON or a form instead of in their place; undefined if there are none.
 *
 * @param expected The places where credentials are expected, for the hint
 */
export function describeInContent(
  content: Uint8Array,
  expected: readonly string[],
  known: readonly KnownSecret[],
): string | undefined {
  const secrets = new Set(known.filter(({ secret }) => secret !== '').map(({ secret }) => secret));
  const values = listContentValues(Buffer.from(content).toString());
  const where = expected.length === 0 ? '' : `; ${expected.join(' or ')} is expected`;
  for (const [place, , value] of values) if (secrets.has(value)) return `a key was sent in ${place}${where}`;
  for (const [what, form] of [
    ['a signature', signatureName],
    ['a key', keyName],
  ] as const)
    for (const [place, name, value] of values)
      if (form.test(name) && value.length >= leastRecognized) return `${what} was sent in ${place}${where}`;
  return undefined;
}

/** The deepest member of JSON that is examined. */
const maxDepth = 4;

type PlacedValue = readonly [place: string, name: string, value: string];

/** Returns the texts of JSON, or the parameters of a form, with their places and names. */
function listContentValues(text: string): readonly PlacedValue[] {
  try {
    return listTexts(JSON.parse(text), '', 0).slice(0, maxValues);
  } catch {
    const pairs = /^[!-~]+=/.test(text) ? parseForm(text)?.slice(0, maxValues) : undefined;
    return pairs?.map(([name, value]) => [`the parameter ${name} of the form`, name, value]) ?? [];
  }
}

function listTexts(value: unknown, path: string, depth: number): PlacedValue[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > maxDepth) return [];
  return Object.entries(value).flatMap(([name, each]: [string, unknown]): PlacedValue[] => {
    const member = path === '' ? name : `${path}.${name}`;
    if (typeof each !== 'string') return listTexts(each, member, depth + 1);
    return [[`the member ${member} of the content`, name, each]];
  });
}
