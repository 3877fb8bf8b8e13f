// Verifies requests of the scheme `hmac`.

import { createHash } from 'node:crypto';
import { createKeyring, type KeyKind } from '../../accounts/keyring.ts';
import type { HttpHeaders } from '../../http/fields.ts';
import { parseContentDigest, parseContentMd5 } from '../../http/headers/content-digest.ts';
import { formatDate, parseSignedDate } from '../../http/headers/date.ts';
import { hasContent, type IncomingRequest } from '../../http/message.ts';
import { isSafe } from '../../http/method.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { bytesOf, octetsOf, toReadable } from '../../http/syntax/octets.ts';
import { keepLast } from '../../once.ts';
import type { Variant } from '../explain/mistake.ts';
import { explainDateForm } from '../freshness.ts';
import { areOctets, messageBytes, type Part } from '../message.ts';
import type { Fault, MessageMistake, Presented, RequestVerification } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { malformedDigest } from '../signed-digest.ts';
import {
  endsLikeFullForm,
  faultOfDigest,
  formatSignedDate,
  messageParts,
  removeSpaces,
  splitHmacCredentials,
} from './credentials.ts';
import type { HmacRules } from './options.ts';

/** The credentials of a request, with its date and its content digest. */
interface HmacPresented extends Presented {
  /** The date as the message contains it; undefined in the simple form. */
  readonly stamp: string | undefined;
  /** The value of Content-Digest, or else of Content-MD5; undefined if the request has neither. */
  readonly contentDigest: string | undefined;
}

const kinds: readonly KeyKind[] = ['secret'];

/** Creates the verification of signed requests. */
export function createHmacSignature(
  rules: HmacRules,
  { accounts }: SchemeContext,
): RequestVerification<HmacPresented> {
  const parseDate = keepLast(parseStamp);
  return {
    rules: {
      check: 'digest',
      wrong: 'The user, the secret or the signed message is wrong.',
      time: { subject: 'The date', window: rules.window, resolution: 1000 },
    },
    parse: (request, rest) => read(request, rest, rules, parseDate),
    find: createKeyring(accounts, 'hmac'),
    messages: (presented) => [buildParts(presented)],
    verify: (key, message, { signatures: [digest = ''] }) =>
      key.kind === 'secret' && areOctets(message) && key.secret.signs(message, digest),
    // Not before, because the right digest is well-formed.
    signatureFault: ({ signatures: [digest = ''] }) => {
      const fault = faultOfDigest(digest);
      return fault === undefined ? undefined : { detail: `${fault}.` };
    },
    mistakes: {
      mac: () => ({ hash: 'sha256', encoding: 'utf8', key: (secret) => secret }),
      part: partMistakes,
      message: messageMistakes,
      members: (presented) => ({
        message: toReadable(octetsOf(messageBytes(buildParts(presented).map(({ value }) => value)))),
      }),
    },
  };
}

/** A date as it appears in the message, and its time (ms). */
interface SignedDate {
  readonly stamp: string;
  readonly time: number;
}

function parseStamp(date: string): SignedDate | undefined {
  const time = parseSignedDate(date);
  return time === undefined ? undefined : { stamp: removeSpaces(date), time };
}

/** Reads the credentials and the signed parts of a request. */
function read(
  request: IncomingRequest,
  rest: string,
  { requireBodyDigest, simple }: HmacRules,
  parseDate: (date: string) => SignedDate | undefined,
): HmacPresented | Fault {
  const credentials = splitHmacCredentials(rest);
  if (typeof credentials === 'string')
    return { detail: `${credentials}.`, hint: explainCredentialsForm(rest) };
  const { headers: fields, method, target } = request;
  const contentDigest = readDigestField(fields);
  if (typeof contentDigest === 'object') return contentDigest;
  if (requireBodyDigest && contentDigest === undefined && hasContent(request))
    return buildRefusal('digest-required', 'The content requires a signed Content-Digest.');
  const { user, nonce, digest } = credentials;
  const signatures = [digest];
  if (nonce === undefined)
    return (
      findSimpleFormFault(method, target, simple) ?? {
        request,
        user,
        signatures,
        kinds,
        time: undefined,
        nonce,
        stamp: undefined,
        contentDigest,
      }
    );
  const date = fields.get('x-date') ?? fields.get('date');
  if (date === undefined)
    return buildRefusal('date-missing', 'The full form requires a Date or X-Date field.');
  const signedDate = parseDate(date);
  if (signedDate === undefined)
    return {
      detail: 'The date must be like "20 apr 2013 12:59:24" or an IMF-fixdate.',
      hint: explainDateForm(date),
    };
  const { stamp, time } = signedDate;
  return { request, user, signatures, kinds, time, sentTime: date, nonce, stamp, contentDigest };
}

function buildRefusal(type: ProblemType, detail: string): Fault {
  return { detail, problem: new Problem(type, detail) };
}

/**
 * Returns the value of Content-Digest, or else of Content-MD5, or a fault if it is malformed. It is a part of the message, so it
 * must be a digest: a date and a nonce in its place would turn a full signature into a simple one, which never expires.
 */
function readDigestField(fields: HttpHeaders): string | Fault | undefined {
  const contentDigest = fields.get('content-digest');
  if (contentDigest !== undefined)
    return parseContentDigest(contentDigest) === undefined
      ? malformedDigest('Content-Digest', 'a dictionary of digests (RFC 9530 §2)')
      : contentDigest;
  const md5 = fields.get('content-md5');
  if (md5 === undefined || parseContentMd5(md5) !== undefined) return md5;
  return malformedDigest('Content-MD5', '16 bytes in base64');
}

function findSimpleFormFault(
  method: string,
  target: string,
  allowed: HmacRules['simple'],
): Fault | undefined {
  if (allowed === 'off') return buildRefusal('simple-form-refused', 'The simple form is disabled.');
  if (allowed === 'safe' && !isSafe(method))
    return buildRefusal(
      'simple-form-refused',
      `The simple form cannot sign ${method}, because the request could be replayed.`,
    );
  if (!endsLikeFullForm(target)) return undefined;
  return buildRefusal(
    'simple-form-refused',
    'The target ends like the date and nonce of the full form, or like a content digest.',
  );
}

/** Returns the parts of the message. */
function buildParts({ request, stamp, nonce, contentDigest }: HmacPresented): Part[] {
  const { method, target } = request;
  return messageParts({ method, target, date: stamp, nonce, contentDigest });
}

/** Returns the values of date and content digest that only clients of this scheme sign. */
function partMistakes({ kind, value }: Part, { request, time }: HmacPresented): Variant[] {
  if (kind === 'digest') return digestVariants(request.headers);
  if (kind !== 'time' || time === undefined || typeof value !== 'string') return [];
  const { headers: fields } = request;
  const sent = fields.get('x-date') ?? fields.get('date') ?? '';
  const ignored = fields.has('x-date') ? fields.get('date') : undefined;
  const otherCase = 'the month was signed in a different letter case';
  const otherFormat = 'the date was signed in a different format than it was sent';
  const variants: Variant[] = [
    ['the spaces were not removed from the date', sent],
    [otherCase, value.toLowerCase()],
    [
      otherCase,
      value.replace(/[A-Za-z]{3}/g, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()),
    ],
    [otherCase, value.toUpperCase()],
    [otherFormat, removeSpaces(formatSignedDate(time))],
    [otherFormat, removeSpaces(formatDate(time))],
    ['the day was signed with two digits, but sent with one', `0${value}`],
    ['the day was signed with one digit, but sent with two', value.replace(/^0/, '')],
  ];
  if (ignored === undefined) return variants;
  return [
    ['Date was signed, but X-Date, which was also sent, takes precedence', removeSpaces(ignored)],
    ...variants,
  ];
}

function digestVariants(fields: HttpHeaders): Variant[] {
  const md5 = fields.get('content-md5');
  if (md5 === undefined) return [];
  return [['Content-MD5 was signed, but Content-Digest, which was also sent, takes precedence', md5]];
}

/** Returns the messages of the other form, and those with a digest of no content. */
function messageMistakes(
  { request, stamp, contentDigest }: HmacPresented,
  parts: readonly Part[],
): MessageMistake[] {
  const { method, target, headers: fields } = request;
  const message = octetsOf(messageBytes(parts.map(({ value }) => value)));
  const build = (hint: string, ...values: (string | undefined)[]): MessageMistake => ({
    hint,
    message: bytesOf(values.filter((value) => value !== undefined).join('+')),
  });
  const date = fields.get('x-date') ?? fields.get('date');
  const full = 'the full form was signed, but the simple form was sent';
  const simple = 'the simple form was signed, but the full form was sent: date and nonce were left out';
  const otherForm =
    stamp === undefined
      ? date === undefined
        ? []
        : [
            build(full, method, target, removeSpaces(date), contentDigest),
            build(full, method, target, removeSpaces(date), '', contentDigest),
          ]
      : [build(simple, method, target, contentDigest)];
  if (contentDigest !== undefined || hasContent(request)) return otherForm;
  const empty = 'a digest of empty content was signed, but not sent';
  return [...otherForm, ...digestsOfEmptyContent().map((digest) => build(empty, message, digest))];
}

function digestsOfEmptyContent(): string[] {
  const sha256 = createHash('sha256').digest();
  const md5 = createHash('md5').digest();
  return [
    `sha-256=:${sha256.toString('base64')}:`,
    ...[sha256, md5].flatMap((digest) => [digest.toString('base64'), digest.toString('hex')]),
  ];
}

// The usual mistakes in the form of credentials, which need no secret to be recognized.

const credentialsForms: readonly [form: RegExp, hint: string][] = [
  [/, *hmac /i, 'the field was sent twice and joined with a comma (Headers.append?); send it once'],
  [/^[^:]*:[A-Za-z0-9+/]{43}=:[^:]*$/, 'nonce and digest were swapped'],
  [/^[^:]*::[^:]*$/, 'the nonce is empty'],
  [/:$/, 'the digest is empty'],
  [/^:/, 'the user is empty'],
  [/[,;]$/, 'there is a comma or a semicolon after the credentials'],
  [/^[^:]*:[^:%]*%[0-9a-f]{2}[^:]*:[^:]*$/i, 'the nonce is percent-encoded'],
  [/^"[^"]*"$/, 'the credentials are in quotes'],
  [/^[A-Za-z0-9+/]{16,}={0,2}$/, 'the credentials are encoded in base64, as for Basic'],
  [/^[^:]*%3a/i, 'the colons are percent-encoded'],
  [/, /, 'the credentials are a list of parameters, as in other schemes'],
  [/^[^:]*: | :/, 'there are spaces around a colon'],
];

/** Returns a hint for malformed credentials, from their form. */
export function explainCredentialsForm(rest: string): string | undefined {
  return credentialsForms.find(([form]) => form.test(rest))?.[1];
}
