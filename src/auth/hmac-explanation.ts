import { createSecretKey, type KeyObject } from 'node:crypto';
import type { ProblemMember } from '../http/problem.ts';
import { digestOf, messageOf, type Signed, sameDigest } from '../signature/hmac.ts';

/** A message that a client may have signed by mistake, and the mistake. */
interface Suspicion {
  readonly hint: string;
  readonly message: string;
}

/**
 * What a wrong digest is the digest of, where that is one of the usual mistakes: the message that was signed, where
 * it first differs from the server's, and a hint. Nothing of the secret, nor any digest, is in what it gives.
 */
export function explainDigest(
  signed: Signed,
  digest: string,
  secrets: readonly { readonly key: KeyObject }[],
): Record<string, ProblemMember> {
  const message = messageOf(signed);
  for (const { key } of secrets) {
    const found = suspicions(signed).find((suspicion) =>
      sameDigest(digestOf(key, suspicion.message), digest),
    );
    if (found !== undefined) return difference(message, found);
    const hint = keyMistake(key, message, digest);
    if (hint !== undefined) return { hint };
  }
  return {
    hint: 'the secret is another one, or the message differs in a way that is not among the usual ones',
  };
}

function difference(message: string, { hint, message: implied }: Suspicion): Record<string, ProblemMember> {
  let at = 0;
  while (at < message.length && message[at] === implied[at]) at += 1;
  return { hint, signedMessage: implied, firstDifference: at };
}

/** The usual mistakes in a message, those that change nothing here included: they cannot fit. */
function suspicions(signed: Signed): Suspicion[] {
  const { method, target, date, nonce } = signed;
  const query = target.indexOf('?');
  const of = (hint: string, changed: Partial<Signed>): Suspicion => ({
    hint,
    message: messageOf({ ...signed, ...changed }),
  });
  const list = [
    { hint: 'a line feed was signed at the end (echo without -n?)', message: `${messageOf(signed)}\n` },
    of('the query was left out', { target: query < 0 ? target : target.slice(0, query) }),
    of('the target was percent-decoded before it was signed', { target: decoded(target) }),
    of('the target was percent-encoded after it was signed, or again', { target: encodeURI(target) }),
    of('the host was signed with the path, or the other way round', {
      target: target.replace(/^https?:\/\/[^/]*/i, ''),
    }),
    of('the method was signed in lower case', { method: method.toLowerCase() }),
    of('the content digest was left out', { contentDigest: undefined }),
    of('date and nonce were left out', { date: undefined, nonce: undefined }),
  ];
  if (date !== undefined && nonce !== undefined) {
    list.push({ hint: 'the spaces were left in the date', message: `${method}+${target}+${date}+${nonce}` });
    list.push({ hint: 'the nonce was left out', message: `${method}+${target}+${date.replaceAll(' ', '')}` });
    list.push(of('the month was signed in another case', { date: date.toLowerCase() }));
    list.push(of('the month was signed in another case', { date: capitalised(date) }));
  }
  return list;
}

function decoded(target: string): string {
  return target.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function capitalised(date: string): string {
  return date.replace(/[A-Za-z]{3}/g, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase());
}

/** The usual mistakes with the secret itself. */
function keyMistake(key: KeyObject, message: string, digest: string): string | undefined {
  const secret = key.export().toString('utf8');
  const readings: [hint: string, bytes: Buffer][] = [
    ['the secret was decoded as base64; its characters are the key', Buffer.from(secret, 'base64')],
    ['the secret was decoded as hexadecimal; its characters are the key', Buffer.from(secret, 'hex')],
    ['the secret was taken with a line feed at its end', Buffer.from(`${secret}\n`)],
  ];
  return readings.find(
    ([, bytes]) => bytes.length > 0 && sameDigest(digestOf(createSecretKey(bytes), message), digest),
  )?.[0];
}
