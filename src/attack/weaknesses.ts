// What a server lacks if it accepts an attempt. Several attempts show the same weakness.

import { didYouMean } from '../did-you-mean.ts';

/** How much an attacker gains: `high` and `medium` decide whether a server passes, `low` is only reported. */
export type Severity = 'high' | 'medium' | 'low';

/** What an accepted request proves, and what to do. */
interface Weakness {
  readonly severity: Severity;
  /** What the server permits if it accepts the request. */
  readonly proves: string;
  /** What the server must do. */
  readonly remedy: string;
}

/** All weaknesses by id. */
const weaknesses = {
  'good-request': high(
    'Nothing: the refusal of other requests means something only if this one is accepted.',
    'Correct the URL, the method, the content or the credentials until the server accepts the request.',
  ),
  'wrong-proof': high(
    'Anyone can send requests in the name of a user.',
    'Compute the whole signature, and compare all of it with timingSafeEqual.',
  ),
  'encoded-proof': low(
    'One signature has several spellings, so that a list of used ones can be evaded.',
    'Compare the text of the signature, or decode it strictly: what is encoded again must be the same text.',
  ),
  'no-credentials': high(
    'Requests without credentials are answered.',
    'Refuse a request with 401 unless it has credentials of a known scheme.',
  ),
  'unsigned-token': high(
    'Anyone can make a token of any user, because its signature is not verified.',
    'Verify the signature of every JWT, and refuse the algorithm none (RFC 8725 §3.2).',
  ),
  'token-algorithm': high(
    'Anyone can sign tokens, with the public key as the secret of an HMAC.',
    'Take the algorithm from the key, never from the token (RFC 8725 §3.1).',
  ),
  'token-key': high(
    'Anyone can sign tokens, because the token itself determines which key verifies it.',
    'Verify with the published keys of the issuer alone; ignore jwk, jku and x5u, and compare kid as text (RFC 8725 §3.10).',
  ),
  'token-claims': high(
    'Tokens that are expired, or were issued by others or for other APIs, are accepted.',
    'Compare iss and aud with what you expect, and require exp (RFC 8725 §3.8, §3.9, RFC 9068 §4).',
  ),
  'token-type': medium(
    'Tokens that were issued for another purpose, such as ID tokens, are accepted.',
    'Require the type at+jwt, and refuse crit unless you know the extension (RFC 8725 §3.11, RFC 9068 §4).',
  ),
  'proxy-fields': high(
    'Anyone can claim another user or address, because the client sends these fields.',
    'Read fields such as X-Forwarded-For only if the connection comes from your proxy, which replaces them.',
  ),
  'unknown-user': high(
    'A request of a user who does not exist is accepted.',
    'Look users up in a Map, and refuse the request if there is none; a missing secret is no empty secret.',
  ),
  'wrong-secret': high(
    'A request is accepted although it is not signed with the secret of its user.',
    'Verify with the secret of the user that the credentials name.',
  ),
  'user-spelling': medium(
    'One user has several names, which limits and logs treat as several users.',
    'Compare names exactly, without trimming or changing their case.',
  ),
  'stale-date': medium(
    'A recorded request can be sent again long after.',
    'Compare the signed date with your clock, and refuse the request if it is older than the window.',
  ),
  'future-date': low(
    'A request that is dated ahead stays valid for longer than the window.',
    'Compare the signed date with your clock in both directions: refuse it beyond the window, such as 5 minutes.',
  ),
  'date-form': low(
    'A date in another form is accepted, which another implementation reads as another time.',
    'Parse the date strictly in its one form.',
  ),
  'unsigned-date': high(
    'The date can be changed after signing, so that a recorded request never expires.',
    'Verify the date that is part of the signed message, and require it.',
  ),
  'repeated-field': low(
    'Two programs can read different values of one field, such as a proxy and the server.',
    'Refuse a request in which the field, the parameter or the label occurs twice.',
  ),
  replay: high(
    'Who records a request can send it again.',
    'Store each nonce, or each signature, until its date has left the window, and refuse it the second time.',
  ),
  'replay-race': medium(
    'A request that is sent several times at once is performed several times.',
    'Store the nonce in one atomic step that fails if it is there: a unique key, or SET with NX.',
  ),
  'nonce-reuse': medium(
    'A nonce is accepted again under another date or in another spelling.',
    'Look nonces up by their exact text, independently of the date.',
  ),
  'nonce-form': low(
    'A nonce or id of any length or form is accepted, such as one that contains the separator of the message.',
    'Accept only nonces and ids of a limited length and alphabet.',
  ),
  'ambiguous-message': high(
    'A signature for one request is also valid for another one, because the parts of the message can be split in two ways.',
    'Refuse parts that contain the separator of the message.',
  ),
  'other-method': high(
    'A signature for reading permits to write, or vice versa.',
    'Sign and verify the method of the request line.',
  ),
  'other-path': high(
    'A signature for one resource is valid for another one.',
    'Sign and verify the target of the request line.',
  ),
  'path-spelling': medium(
    'A signature is accepted for other spellings of the path, which a proxy can route elsewhere.',
    'Verify the target as it was received, before it is decoded or normalized.',
  ),
  'other-query': high(
    'The query can be changed after signing.',
    'Verify the target as it was received, with its query.',
  ),
  'other-host': medium(
    'A signature for another server is valid here.',
    'Verify the host that the scheme signs against your own.',
  ),
  'other-content': high(
    'The content can be changed after signing.',
    'Verify the octets of the content, or compare the signed digest with that of the octets received.',
  ),
  'content-spelling': medium(
    'Content with other octets than were signed is accepted.',
    'Verify the octets as received, before the content is parsed.',
  ),
  'weak-digest': medium(
    'The signed digest is of an algorithm for which other content has the same digest.',
    'Accept only sha-256 and sha-512 (RFC 9530 §5).',
  ),
  'uncovered-component': high(
    'A part of the request that the signature does not cover can be changed.',
    'Require that the signature covers each component that the server acts on.',
  ),
  'invalid-component': low(
    'A component that does not exist is accepted as covered.',
    'Refuse components that cannot be computed (RFC 9421 §2.5).',
  ),
  'other-algorithm': high(
    'The sender chooses how the signature is verified.',
    'Take the algorithm from the key or the configuration, and refuse another one.',
  ),
  'changed-parameters': high(
    'The parameters of a signature can be changed after signing.',
    'Verify the parameters as part of the signed message.',
  ),
  'other-scope': medium(
    'A signature or key for another day, region, service or application is valid here.',
    'Compare the scope or the tag with that of this server.',
  ),
  'signature-count': low(
    'A request makes the server verify any number of signatures.',
    'Limit how many signatures of a request are verified.',
  ),
  'clear-text': medium(
    'Credentials are accepted that everyone on the path could read.',
    'Refuse passwords, tokens and keys over plain HTTP, with 403.',
  ),
  'secret-in-query': medium(
    'Logs and caches store the secret.',
    'Read keys only from the fields of the request.',
  ),
  'lost-update': medium(
    'Of changes at the same time, all but the last are lost.',
    'Compare the entity tag and store the change in one atomic step.',
  ),
  'authorization-code': high(
    'A code that was stolen, used or changed is exchanged for tokens.',
    'Accept a code once, for its client and redirect URI, until it expires; a second use revokes its tokens.',
  ),
  'proof-key': high(
    'Who intercepts a code can exchange it.',
    'Require a code challenge with S256, and compare the verifier with it (RFC 7636 §4.6).',
  ),
  client: high(
    'A client can use what was issued to another one.',
    'Authenticate the client, and compare it with that of the code or the token.',
  ),
  'refresh-token': high(
    'A refresh token that was stolen can be used beside the client.',
    'Rotate refresh tokens in one atomic step, and revoke the grant if one is used again.',
  ),
  'redirect-uri': high(
    'Codes are sent to an address that is not registered.',
    'Compare redirect URIs as text (RFC 9700 §4.1.3), before anything is redirected.',
  ),
  'request-token': high(
    'A request token that was stolen, used or not approved is exchanged.',
    'Accept a request token once, for its consumer, with the verifier of the user who approved it.',
  ),
} as const satisfies Readonly<Record<string, Weakness>>;

/** The id of a weakness, which `waive` names. */
export type WeaknessId = keyof typeof weaknesses;

/** The ids of all weaknesses. */
export const weaknessIds: readonly WeaknessId[] = Object.keys(weaknesses).filter(isWeakness);

/** Returns whether a weakness has this id. */
function isWeakness(id: string): id is WeaknessId {
  return Object.hasOwn(weaknesses, id);
}

/** Returns a weakness. */
export function findWeakness(id: WeaknessId): Weakness {
  return weaknesses[id];
}

/** Weaknesses that are known and accepted, each with the reason. */
export type Waivers = Readonly<Partial<Record<WeaknessId, string>>>;

/** Throws RangeError unless each name is that of a weakness, and each reason a text. */
export function checkWaivers(waive: unknown, where: string): void {
  if (waive === undefined) return;
  if (typeof waive !== 'object' || waive === null || Array.isArray(waive))
    throw new RangeError(`${where}.waive must be an object such as { 'future-date': 'reason' }`);
  for (const [id, reason] of Object.entries(waive)) {
    if (!isWeakness(id))
      throw new RangeError(
        `${where}.waive: there is no weakness ${JSON.stringify(id)}${didYouMean(id, weaknessIds)}`,
      );
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new RangeError(`${where}.waive.${id} must be the reason as text`);
  }
}

function high(proves: string, remedy: string): Weakness {
  return { severity: 'high', proves, remedy };
}

function medium(proves: string, remedy: string): Weakness {
  return { severity: 'medium', proves, remedy };
}

function low(proves: string, remedy: string): Weakness {
  return { severity: 'low', proves, remedy };
}
