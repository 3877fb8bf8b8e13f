import { formatDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import type { ProblemMember } from '../../http/problem.ts';
import { decodeUtf8Octets } from '../../http/syntax/utf8.ts';
import { messageOf, type Signed, type SigningKey } from '../../signature/hmac.ts';
import type { Secret } from '../accounts.ts';
import type { ExplanationBudget, MessagePart } from '../explanation.ts';
import { wrongClock, zoneHoursOf } from '../freshness.ts';
import { explanationMembers } from '../trace.ts';
import { type MessageMistake, messageParts, partName } from './message-parts.ts';
import type { SecretMistake } from './secret-mistakes.ts';

/** Members of a Problem that explain a failed check. They never contain a secret or a signature. */
export type Explanation = Record<string, ProblemMember>;

/** A mistake that explains a wrong digest: a hint, and the signed message if it differs. */
export type Found = Pick<MessageMistake, 'hint' | 'part'> & { readonly message?: string };

/** Minimum number of secrets that an explanation tries: a user usually has at most two. */
const minSecrets = 2;

/**
 * Finds the common mistake that produced a wrong digest; undefined if none did. It computes some hundred digests, the same number
 * for a user with two secrets, one or none and for an unknown user, because it always tries all mistakes. The mistakes are loaded
 * on first use.
 *
 * @param dummySecret Tried in place of a missing secret; its result is ignored.
 * @param user The user that the credentials name; some clients sign it too.
 */
export async function explainDigest(
  request: Request,
  signed: Signed,
  digest: string,
  secrets: readonly Secret[],
  dummySecret: Secret,
  budget: ExplanationBudget,
  user = '',
): Promise<Found | undefined> {
  const message = messageOf(signed);
  const [{ messageMistakes }, { isHashedAlone, secretMistakes }] = await Promise.all([
    import('./message-mistakes.ts'),
    import('./secret-mistakes.ts'),
  ]);
  const mistakes = messageMistakes(request, signed, user).filter((mistake) => mistake.message !== message);
  let found: Found | undefined;
  for (let at = 0; at < Math.max(secrets.length, minSecrets); at += 1) {
    const { key } = secrets[at] ?? dummySecret;
    const mistake = mistakeOf(key, message, digest, mistakes, secretMistakes, budget);
    if (at < secrets.length) found ??= mistake;
  }
  return isHashedAlone(digest, message)
    ? { hint: 'the digest is a plain hash of the message, without HMAC' }
    : found;
}

/** Tries all mistakes with one key. */
function mistakeOf(
  key: SigningKey,
  message: string,
  digest: string,
  mistakes: readonly MessageMistake[],
  secretMistakes: readonly SecretMistake[],
  budget: ExplanationBudget,
): Found | undefined {
  const isExpired = key.signs([message], digest);
  const [secretMistake] = secretMistakes.filter(([, compute]) =>
    key.makes(digest, (secret) => compute(secret, message)),
  );
  const [other] = budget.matching(mistakes, (mistake) => key.signs([mistake.message], digest));
  if (isExpired) return { hint: 'the request is signed with an expired secret' };
  if (other !== undefined) return other;
  return secretMistake === undefined ? undefined : { hint: secretMistake[0] };
}

/**
 * Returns the members that explain a wrong digest: the server's message with its parts and, if a mistake was found, the hint, the
 * signed message and the first difference. Messages in UTF-8 are decoded.
 *
 * @param hint The hint if no mistake was found.
 */
export function digestMembers(signed: Signed, hint: string, found?: Found): Explanation {
  const message = decodeUtf8Octets(messageOf(signed));
  const parts: MessagePart[] = messageParts(signed, found);
  const differs = found?.part === undefined ? {} : { differs: partName(found.part.name) };
  const members = { message, ...explanationMembers({ hint: found?.hint ?? hint, parts, ...differs }) };
  if (found?.message === undefined) return members;
  const signedMessage = decodeUtf8Octets(found.message);
  return { ...members, signedMessage, firstDifference: firstDifference(message, signedMessage) };
}

function firstDifference(message: string, other: string): number {
  let at = 0;
  while (at < message.length && message[at] === other[at]) at += 1;
  return at;
}

const credentialsForms: readonly [form: RegExp, hint: string][] = [
  [/, *hmac /i, 'the field was sent twice and joined with a comma (Headers.append?); send it once'],
  [/^[^:]*:(?:[^:]*:)?[A-Za-z0-9+/]{43}=(?:\\[nr]|%0[ad])+$/i, 'the digest ends with a line feed; remove it'],
  [/^[^:]*:[A-Za-z0-9+/]{43}=:[^:]*$/, 'nonce and digest were swapped'],
  [/^[^:]*::[^:]*$/, 'the nonce is empty'],
  [/:$/, 'the digest is empty'],
  [/^:/, 'the user is empty'],
  [/:[A-Za-z0-9+/]{22}==$/, 'the digest has the length of MD5; SHA-256 is required'],
  [/:"[^"]*"$/, 'the digest is in quotes'],
  [/[,;]$/, 'there is a comma or a semicolon after the credentials'],
  [/^[^:]*:[^:%]*%[0-9a-f]{2}[^:]*:[^:]*$/i, 'the nonce is percent-encoded'],
  [/:(?:[A-Za-z0-9+/]|%2b|%2f){43}%3d$/i, 'the digest is percent-encoded'],
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

/** Returns the likely cause of a date that is wrong by this many seconds. */
export function explainDate(seconds: number, now: number): Explanation {
  const hours = zoneHoursOf(seconds);
  if (hours === undefined) return { hint: wrongClock, serverDate: formatDate(now) };
  const exactly = Math.abs(seconds) === hours * 3600 ? 'exactly' : 'nearly';
  return {
    hint: `off by ${exactly} ${hours} ${hours === 1 ? 'hour' : 'hours'}: probably a time zone; the date must be in UTC`,
    serverDate: formatDate(now),
  };
}

const dateForms: readonly [form: RegExp, hint: string][] = [
  [
    /^(?:[A-Z][a-z]{2}, )?\d[^,]{1,30}, /,
    'the field was sent twice and joined with a comma (Headers.append?); send it once',
  ],
  [/^"/, 'the date is in quotes'],
  [/UTC$/, 'the zone must be written as GMT'],
  [/^\d{4}-?\d\d-?\d\dT/i, 'the date is in ISO 8601 format'],
  [/^\d+(?:\.\d+)?$/, 'the date is a number of seconds or milliseconds'],
  [/^[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d /, 'the date is in the obsolete RFC 850 format'],
  [/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d /, 'the date is in asctime format'],
  [/[+-]\d\d:?\d\d$/, 'the date has a time zone offset; it must be in UTC'],
  [/^[A-Z][a-z]{2}, .* GMT$/, 'the day of the week is wrong, or the day or time does not exist'],
  [/^\d{1,2} [A-Za-z]{4,} /, 'the name of the month must be abbreviated to three letters'],
  [/^\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d:\d\d$/, 'the day, month or time does not exist'],
  [/^\d{1,2}[A-Za-z]{3}\d{4}/, 'the spaces must be removed only in the message, not in the field'],
];

/** Returns a hint for a malformed date, from its form. */
export function explainDateForm(date: string): Explanation {
  const hint = dateForms.find(([form]) => form.test(date))?.[1];
  return hint === undefined ? {} : { hint };
}
