import {
  type AttackRequest,
  type Attempt,
  attempt,
  malformed,
  refused,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import { findCredentials } from '../credentials.ts';
import type { Forger } from '../forger.ts';
import { alterContent } from '../target.ts';
import { fullForm } from './hmac.ts';

/**
 * Nonces that contain other parts of the signed message. Where the parts are joined without being encoded, a nonce must not
 * contain the separator: otherwise a signature for one request is also valid for another one.
 */
export function* nonceAttempts(forger: Forger): Generator<Attempt> {
  const value = findCredentials(forger.signGood())?.[1] ?? '';
  if (fullForm.test(value)) {
    yield* digestInNonce(forger);
    yield* signInvalidNonces(forger);
  }
  if (/^OAuth /i.test(value)) yield* parameterInNonce(forger);
}

/** A signed content digest, moved into the nonce: the message is the same, but the content is no longer verified. */
function* digestInNonce(forger: Forger): Generator<Attempt> {
  const signed = forger.signGood();
  const [field, value] = findCredentials(signed) ?? ['', ''];
  const [, user, nonce, digest] = fullForm.exec(value) ?? [];
  const contentDigest = signed.headers.find(([name]) => name.toLowerCase() === 'content-digest');
  if (signed.body === undefined || contentDigest === undefined) return;
  const moved = replaceLine({ ...signed, headers: removeLines(signed.headers, 'Content-Digest') }, [
    field,
    `${user}:${nonce}+${contentDigest[1]}:${digest}`,
  ]);
  yield attempt({
    id: 'ambiguous-message',
    name: 'the content was changed, and its digest moved into the nonce',
    why: 'A nonce that may contain the separator of the message makes the signature valid for any content.',
    expected: malformed,
    needs: forger.needs,
    requests: [{ ...moved, body: alterContent(signed.body) }],
  });
}

/** Nonces that the HMAC scheme does not have, signed as sent. */
function* signInvalidNonces(forger: Forger): Generator<Attempt> {
  const nonce = forger.nonce();
  const invalid: readonly (readonly [name: string, nonce: string, why: string])[] = [
    ['the nonce contains a plus sign', `${nonce}+1`, 'The plus sign separates the parts of the message.'],
    ['the nonce contains a colon', `${nonce}:1`, 'The colon separates the parts of the credentials.'],
    ['the nonce contains a space', `${nonce} 1`, 'A nonce has no spaces, which parsers remove or collapse.'],
    ['the nonce is empty', '', 'Without a nonce the request can be sent again.'],
    ['the nonce has 129 characters', nonce.padEnd(129, 'x'), 'A nonce has at most 128 characters.'],
  ];
  for (const [name, text, why] of invalid) {
    const request = forger.signRequest({ nonce: text });
    if (request !== undefined)
      yield attempt({
        id: 'nonce-form',
        name,
        why,
        expected: malformed,
        needs: forger.needs,
        requests: [request],
      });
  }
}

/** Sorts directly after `oauth_nonce`, so that both parameters are adjacent in the base string. */
const adjacent = 'oauth_note=1';

/** A signed parameter of the query, moved into the nonce of OAuth 1.0a. */
function* parameterInNonce(forger: Forger): Generator<Attempt> {
  const { plain } = forger;
  const nonce = forger.nonce();
  const separator = plain.url.includes('?') ? '&' : '?';
  const signed = forger.signRequest({ nonce }, { ...plain, url: `${plain.url}${separator}${adjacent}` });
  const line = signed && findCredentials(signed);
  if (signed === undefined || line === undefined) return;
  const moved = line[1].replace(nonce, `${nonce}${encodeURIComponent(`&${adjacent}`)}`);
  const request: AttackRequest = { ...replaceLine(signed, [line[0], moved]), url: plain.url };
  yield attempt({
    id: 'ambiguous-message',
    name: 'a parameter of the query was moved into the nonce',
    why: 'Names and values are encoded before they are joined, so that a value cannot contain a parameter (RFC 5849 §3.4.1.3.2).',
    expected: refused,
    needs: forger.needs,
    requests: [request],
  });
}
