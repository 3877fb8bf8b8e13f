import { removeSpaces } from '../../schemes/hmac/credentials.ts';
import {
  type AttackRequest,
  type Case,
  elsewhere,
  group,
  malformed,
  type Row,
  refused,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import { findCredentials } from '../credentials.ts';
import type { Forger } from '../forger.ts';
import { alterContent, appendParameters } from '../target.ts';

/** Credentials of the full form: scheme and user, nonce, digest. */
const fullForm = /^(hmac [^:]+):([^:]+):([^:]+)$/i;

/**
 * Full signatures of the HMAC scheme, sent in the simple form, which does not expire. The parts of the message are joined
 * by `+`, so a signed date and nonce can be sent as another part of the message.
 */
export function* hmacCases(forger: Forger): Generator<Case> {
  const { plain } = forger;
  const withQuery = { ...plain, url: appendParameters(plain.url, 'z=1') };
  const [bare, longer, queried, digested] = [plain, plain, withQuery, plain].map((each) =>
    readSimple(forger, each),
  );
  if (bare === undefined || longer === undefined || queried === undefined || digested === undefined) return;
  const name = 'a full digest is sent in the simple form';
  const why = 'Both messages are the same text, but the signature was for one use of another request.';
  const absent = 'The digest covers a date and a nonce, which are missing.';
  yield* group({ id: 'ambiguous-message', why, expected: refused }, [
    [name, bare.request, { why: absent }],
    [`${name}, with date and nonce in the path or query`, moveToTarget(longer), { expected: elsewhere }],
    [`${name}, with date and nonce in an unknown parameter`, moveToTarget(queried)],
    [
      `${name}, with date and nonce as Content-Digest`,
      replaceLine(digested.request, ['Content-Digest', digested.ending]),
      { expected: malformed },
    ],
  ]);
}

/** A full signature without its date and nonce, and the part of the message that contained these. */
interface Simple {
  readonly request: AttackRequest;
  readonly ending: string;
}

function readSimple(forger: Forger, original: AttackRequest): Simple | undefined {
  const signed = forger.signRequest({}, original);
  const [field, value] = (signed && findCredentials(signed)) ?? ['', ''];
  const date = signed && forger.dateLine(signed)?.[1];
  const [, user, nonce, digest] = fullForm.exec(value) ?? [];
  if (signed === undefined || date === undefined || nonce === undefined) return undefined;
  const request = replaceLine(forger.undated(signed), [field, `${user}:${digest}`]);
  return { request, ending: `${removeSpaces(date)}+${nonce}` };
}

function moveToTarget({ request, ending }: Simple): AttackRequest {
  return { ...request, url: `${request.url}+${ending}` };
}

/**
 * Nonces that contain other parts of the signed message. Where the parts are joined without being encoded, a nonce must not
 * contain the separator: otherwise a signature for one request is also valid for another one.
 */
export function* nonceCases(forger: Forger): Generator<Case> {
  const value = findCredentials(forger.signGood())?.[1] ?? '';
  if (fullForm.test(value)) {
    const split =
      'A nonce that may contain the separator of the message makes the signature valid for any content.';
    yield* group({ id: 'ambiguous-message', why: split, expected: malformed }, [
      ['the content was changed, and its digest moved into the nonce', digestInNonce(forger)],
    ]);
    yield* group({ id: 'nonce-form', why: '', expected: malformed }, invalidNonces(forger));
  }
  if (!/^OAuth /i.test(value)) return;
  const why =
    'Names and values are encoded before they are joined, so that a value cannot contain a parameter (RFC 5849 §3.4.1.3.2).';
  yield* group({ id: 'ambiguous-message', why, expected: refused }, [
    ['a parameter of the query was moved into the nonce', parameterInNonce(forger)],
  ]);
}

/** Returns a request whose signed content digest is in the nonce: the message is the same, but the content is not verified. */
function digestInNonce(forger: Forger): AttackRequest | undefined {
  const signed = forger.signGood();
  const [field, value] = findCredentials(signed) ?? ['', ''];
  const [, user, nonce, digest] = fullForm.exec(value) ?? [];
  const contentDigest = signed.headers.find(([name]) => name.toLowerCase() === 'content-digest');
  if (signed.body === undefined || contentDigest === undefined) return undefined;
  const headers = removeLines(signed.headers, 'Content-Digest');
  const credentials = `${user}:${nonce}+${contentDigest[1]}:${digest}`;
  return { ...replaceLine({ ...signed, headers }, [field, credentials]), body: alterContent(signed.body) };
}

/** Nonces that the HMAC scheme does not have, signed as sent. */
function invalidNonces({ nonce: createNonce, signRequest }: Forger): readonly Row[] {
  const nonce = createNonce();
  const invalid: readonly (readonly [name: string, nonce: string, why: string])[] = [
    ['contains a plus sign', `${nonce}+1`, 'The plus sign separates the parts of the message.'],
    ['contains a colon', `${nonce}:1`, 'The colon separates the parts of the credentials.'],
    ['contains a space', `${nonce} 1`, 'A nonce has no spaces, which parsers remove or collapse.'],
    ['is empty', '', 'Without a nonce the request can be sent again.'],
    ['has 129 characters', nonce.padEnd(129, 'x'), 'A nonce has at most 128 characters.'],
  ];
  return invalid.map(([name, text, why]) => [`the nonce ${name}`, signRequest({ nonce: text }), { why }]);
}

/** Sorts directly after `oauth_nonce`, so that both parameters are adjacent in the base string. */
const adjacent = 'oauth_note=1';

/** Returns a request with a signed parameter of the query moved into the nonce of OAuth 1.0a. */
function parameterInNonce(forger: Forger): AttackRequest | undefined {
  const { plain } = forger;
  const nonce = forger.nonce();
  const signed = forger.signRequest({ nonce }, { ...plain, url: appendParameters(plain.url, adjacent) });
  const line = signed && findCredentials(signed);
  if (signed === undefined || line === undefined) return undefined;
  const moved = line[1].replace(nonce, `${nonce}${encodeURIComponent(`&${adjacent}`)}`);
  return { ...replaceLine(signed, [line[0], moved]), url: plain.url };
}
