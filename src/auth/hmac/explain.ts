import { formatDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import type { ProblemMember } from '../../http/problem.ts';
import { messageOf, type Signed, type SigningKey } from '../../signature/hmac.ts';
import type { Secret } from '../accounts.ts';
import type { MessageMistake } from './message-mistakes.ts';
import type { SecretMistake } from './secret-mistakes.ts';

/** Members of a problem that say what was checked. Nothing of a secret, nor any signature, is ever in them. */
export type Explanation = Record<string, ProblemMember>;

/** What a digest was made of, where that was found out: a hint, and the signed message if it is another one. */
export type Found = {
  readonly hint: string;
  readonly signedMessage?: string;
  readonly firstDifference?: number;
};

/** The number of secrets that every explanation tries, at least: a user has no more than two as a rule. */
const secretsTried = 2;

/**
 * Finds out what a wrong digest is the digest of, where that is one of the usual mistakes. It costs some hundred digests,
 * the same number for a user with two secrets, one or none and for no user at all: whatever is found, all mistakes are
 * tried. `standIn` is tried where there is no secret, and what is found with it does not count. The mistakes are loaded when
 * the first digest is explained.
 */
export async function explainDigest(
  request: Request,
  signed: Signed,
  digest: string,
  secrets: readonly Secret[],
  standIn: Secret,
): Promise<Found | undefined> {
  const message = messageOf(signed);
  const [{ messageMistakes }, { isHashedAlone, secretMistakes }] = await Promise.all([
    import('./message-mistakes.ts'),
    import('./secret-mistakes.ts'),
  ]);
  const mistakes = messageMistakes(request, signed).filter((mistake) => mistake.message !== message);
  let found: Found | undefined;
  for (let at = 0; at < Math.max(secrets.length, secretsTried); at += 1) {
    const { key } = secrets[at] ?? standIn;
    const foundBy = mistakeOf(key, message, digest, mistakes, secretMistakes);
    if (at < secrets.length) found ??= foundBy;
  }
  return isHashedAlone(digest, message) ? { hint: 'the message was hashed without HMAC' } : found;
}

/** Tries all mistakes with one key. */
function mistakeOf(
  key: SigningKey,
  message: string,
  digest: string,
  mistakes: readonly MessageMistake[],
  secretMistakes: readonly SecretMistake[],
): Found | undefined {
  const isExpired = key.signs([message], digest);
  const [other] = mistakes.filter((mistake) => key.signs([mistake.message], digest));
  const [misused] = secretMistakes.filter(([, compute]) =>
    key.makes(digest, (secret) => compute(secret, message)),
  );
  if (isExpired) return { hint: 'this is signed with a secret that has expired' };
  if (other !== undefined) return difference(message, other);
  return misused === undefined ? undefined : { hint: misused[0] };
}

function difference(message: string, { hint, message: implied }: MessageMistake): Found {
  let at = 0;
  while (at < message.length && message[at] === implied[at]) at += 1;
  return { hint, signedMessage: implied, firstDifference: at };
}

const credentialsForms: readonly [form: RegExp, hint: string][] = [
  [/^[^:]*:[^:%]*%[0-9a-f]{2}[^:]*:[^:]*$/i, 'the nonce was percent-encoded'],
  [/:(?:[A-Za-z0-9+/]|%2b|%2f){43}%3d$/i, 'the digest was percent-encoded'],
  [/^"[^"]*"$/, 'the credentials stand in quotes'],
  [/^[A-Za-z0-9+/]+={0,2}$/, 'the credentials were encoded as base64, like those of Basic'],
  [/^[^:]*%3a/i, 'the colons were percent-encoded'],
  [/, /, 'the credentials are parameters, as other schemes have them'],
  [/^[^:]*: | :/, 'there are spaces around a colon'],
];

/** What credentials that cannot be read are by the look of them. */
export function credentialsLook(rest: string): string | undefined {
  return credentialsForms.find(([form]) => form.test(rest))?.[1];
}

const hour = 3600;
/** So many seconds (either way) a date may be on its way and still be off by hours. */
const slack = 30;

/**
 * What usually makes a date so many seconds wrong, as far as can be told. A zone is whole hours from UTC, or half
 * hours and quarters more, up to 14 hours.
 */
export function explainDate(seconds: number, now: number): Explanation {
  const distance = Math.abs(seconds);
  const hours = Math.round((distance / hour) * 4) / 4;
  const rest = Math.abs(distance - hours * hour);
  // Below an hour there is no zone, and a clock that is wrong by some minutes is more likely.
  if (hours < 1 || hours > 14 || rest > slack) {
    return { hint: "the client's clock is wrong, or the request was held up", serverDate: formatDate(now) };
  }
  const exactly = rest === 0 ? 'exactly' : 'nearly';
  return {
    hint: `off by ${exactly} ${hours} ${hours === 1 ? 'hour' : 'hours'}: a time zone? The date is in UTC`,
    serverDate: formatDate(now),
  };
}

const dateForms: readonly [form: RegExp, hint: string][] = [
  [/^\d{4}-?\d\d-?\d\dT/i, 'this is ISO 8601'],
  [/^\d+(?:\.\d+)?$/, 'this is a number of seconds or milliseconds'],
  [/^[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d /, 'this is the obsolete form of RFC 850'],
  [/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d /, 'this is the form of asctime'],
  [/[+-]\d\d:?\d\d$/, 'the date has an offset; it must be in UTC'],
  [/^[A-Z][a-z]{2}, .* GMT$/, 'the day of the week does not fit, or there is no such day or time'],
  [/^\d{1,2} [A-Za-z]{4,} /, 'the month is written out; its first three letters are expected'],
  [/^\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d:\d\d$/, 'there is no such day, month or time'],
  [/^\d{1,2}[A-Za-z]{3}\d{4}/, 'the spaces are left out in the message alone, not in the field'],
];

/** What a date that cannot be read is by the look of it. */
export function explainDateForm(date: string): Explanation {
  const hint = dateForms.find(([form]) => form.test(date))?.[1];
  return hint === undefined ? {} : { hint };
}
