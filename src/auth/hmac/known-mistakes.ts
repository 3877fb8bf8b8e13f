// Mistakes that only a test double can recognize, because it knows all secrets, former ones too, and the content.
import { createHash } from 'node:crypto';
import { formatDate, parseSignedDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import {
  formatSignedDate,
  keyOf,
  messageOf,
  type Signed,
  type SigningKey,
  withoutSpaces,
} from '../../signature/hmac.ts';
import type { Account } from '../accounts.ts';
import { describeOtherSecret, otherSecrets } from '../other-secrets.ts';
import type { KnownSecret, TraceKnowledge } from '../trace.ts';
import { describeUnknownUser } from '../unknown-user.ts';
import type { Found } from './explain.ts';
import { messageMistakes } from './message-mistakes.ts';
import type { MessageMistake } from './message-parts.ts';
import { hostMistakes, publicHostHint } from './target-mistakes.ts';

/** A signed request whose digest is wrong. */
export interface WrongDigest {
  readonly request: Request;
  readonly signed: Signed;
  readonly digest: string;
  /** The user that the credentials name. */
  readonly user: string;
}

/** The largest number of secrets that are tried with all mistakes. */
const maxWithMistakes = 32;

/** Finds the mistake that produced a wrong digest with all that a test double knows; undefined if none did. */
export async function explainWithKnowledge(
  wrong: WrongDigest,
  account: Account | undefined,
  knowledge: TraceKnowledge,
): Promise<Found | undefined> {
  const { request, signed, digest, user } = wrong;
  const others = otherSecrets(knowledge, user);
  const own = knowledge
    .secrets()
    .filter(({ owner, secret }) => owner === 'user' && secret !== '')
    .filter(({ name, current, isPassword }) => name === user && current && !isPassword)
    .map(({ secret }) => keyOf(secret));
  const mistakes = messageMistakes(request, signed, user);
  const unknown = account === undefined ? describeUnknownUser(user, knowledge) : undefined;
  const found =
    signedBy(others, user, [{ hint: '', message: messageOf(signed) }], digest) ??
    firstSigned(own, publicHostMistakes(signed, knowledge), digest) ??
    firstSigned(own, dateMistakes(wrong), digest) ??
    firstSigned(own, await contentMistakes(signed, knowledge), digest) ??
    signedBy(others.slice(-maxWithMistakes), user, mistakes, digest) ??
    firstSigned(own, pairs(signed, mistakes), digest);
  if (unknown === undefined) return found;
  return { ...found, hint: found === undefined ? unknown : `${unknown}; ${found.hint}` };
}

function firstSigned(
  keys: readonly SigningKey[],
  mistakes: readonly MessageMistake[],
  digest: string,
): Found | undefined {
  return mistakes.find(({ message }) => keys.some((key) => key.signs([message], digest)));
}

/** Tries secrets of other users, and former ones of this user. An empty hint means that the message is right. */
function signedBy(
  secrets: readonly KnownSecret[],
  user: string,
  mistakes: readonly MessageMistake[],
  digest: string,
): Found | undefined {
  for (const known of secrets) {
    const key = keyOf(known.secret);
    const mistake = mistakes.find(({ message }) => key.signs([message], digest));
    if (mistake === undefined) continue;
    const hint = describeOtherSecret(known, user);
    return mistake.hint === '' ? { hint } : { ...mistake, hint: `${hint}; and ${mistake.hint}` };
  }
  return undefined;
}

/** Returns messages with two mistakes, in different parts. */
function pairs(signed: Signed, mistakes: readonly MessageMistake[]): MessageMistake[] {
  const single = mistakes.flatMap(({ hint, part }) =>
    part === undefined || signed[part.name] === part.signed ? [] : [{ hint, ...part }],
  );
  return single.flatMap((one, at) =>
    single
      .slice(at + 1)
      .filter(({ name }) => name !== one.name)
      .map((other) => ({
        hint: `${one.hint}; and ${other.hint}`,
        message: messageOf({
          ...signed,
          [one.name]: one.signed === '' ? undefined : one.signed,
          [other.name]: other.signed === '' ? undefined : other.signed,
        }),
      })),
  );
}

/** Returns messages with a public host of the service in front of the path. */
function publicHostMistakes(signed: Signed, knowledge: TraceKnowledge): MessageMistake[] {
  return knowledge.hosts().flatMap((host) =>
    hostMistakes(signed.target, host, publicHostHint).map(([hint, target = '']) => ({
      hint,
      message: messageOf({ ...signed, target }),
      part: { name: 'target', signed: target } as const,
    })),
  );
}

/** The largest difference (s) between the signed date and the one that arrived. */
const maxShift = 300;
const hour = 3600;

/** Returns messages with other dates: some seconds earlier or later, or in another time zone. */
function dateMistakes({ request, signed }: WrongDigest): MessageMistake[] {
  const sent = request.fields.get('x-date') ?? request.fields.get('date');
  const time = sent === undefined ? undefined : parseSignedDate(sent);
  if (time === undefined || signed.nonce === undefined) return [];
  const seconds = Array.from({ length: maxShift }, (_, at) => [at + 1, -at - 1]).flat();
  const zones = Array.from({ length: 4 * 14 }, (_, at) => ((at + 1) * hour) / 4).flatMap((off) => [
    off,
    -off,
  ]);
  return [...seconds, ...zones].flatMap((off) => {
    const shifted = time + off * 1000;
    const direction = off < 0 ? 'earlier' : 'later';
    const by = `${Math.abs(off)} s ${direction}`;
    const hint =
      Math.abs(off) > maxShift
        ? `a date ${by} was signed than the one that was sent: probably in another time zone`
        : `a date ${by} was signed than the one that arrived: a proxy or the client changed Date after signing`;
    return [formatSignedDate(shifted), formatDate(shifted), capitalMonth(formatSignedDate(shifted))].map(
      (date): MessageMistake => ({
        hint,
        message: messageOf({ ...signed, date }),
        part: { name: 'date', signed: withoutSpaces(date) },
      }),
    );
  });
}

function capitalMonth(date: string): string {
  return date.replace(/[a-z]/, (letter) => letter.toUpperCase());
}

/** Returns messages with a digest of the content that was not sent, or with the content itself. */
async function contentMistakes(signed: Signed, knowledge: TraceKnowledge): Promise<MessageMistake[]> {
  const content = await knowledge.content();
  if (content === undefined) return [];
  const digests = ['sha256', 'sha512', 'sha1', 'md5'].flatMap((algorithm): [string, string][] => {
    const digest = createHash(algorithm).update(content).digest();
    const base64 = digest.toString('base64');
    const field = `sha-${digest.length * 8}=:${base64}:`;
    return [field, base64, digest.toString('hex'), `${algorithm}=${base64}`].map((form) => [
      `the ${algorithm} digest of the content`,
      form,
    ]);
  });
  const missing =
    signed.contentDigest === undefined ? 'but no Content-Digest was sent' : 'but not as it was sent';
  const whole = Buffer.from(content).toString('latin1');
  return [...digests, ['the content itself', whole] as const].map(([what, form]): MessageMistake => {
    const part = { name: 'contentDigest', signed: what === 'the content itself' ? '' : form } as const;
    return {
      hint: `${what} was signed, ${missing}`,
      message: messageOf({ ...signed, contentDigest: form }),
      part,
    };
  });
}
