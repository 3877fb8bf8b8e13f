// Searches the catalogue for the mistake that made a wrong signature.

import { fitsOne, type Key, type KeyKind, minKeys, selectSamples } from '../../accounts/keyring.ts';
import type { MessageMistake, Presented } from '../scheme.ts';
import { verificationTime } from './budget.ts';
import { computeHash, findEmptySecretMistake, keyMistakes } from './key.ts';
import { messageMistakes } from './messages.ts';
import { encodingMistakes, findPublicKeyMistake } from './public-key.ts';
import { type Found, type RightMessage, type Search, searchTime } from './search.ts';
import { hashedMistakes } from './whole.ts';

/** Tries the mistakes of the catalogue with every message that the signature may fit. */
export function searchCatalogue(search: Search): void {
  if (search.untried !== undefined) return;
  const { isLimited, catalogue } = search.budgets;
  for (const each of search.messages) {
    const found = findMistake(search, each);
    if (found !== undefined && search.found === undefined) {
      search.found = found;
      search.shown = each;
    }
    // A client of a server could measure that a search has ended early.
    if (search.found !== undefined && !isLimited) break;
  }
  if (catalogue.isExhausted)
    search.untried = 'not all usual mistakes were tried: an explanation of a server may take 10 ms';
}

function findMistake(search: Search, right: RightMessage): Found | undefined {
  const { wrong, mac, messages } = search;
  const { scheme, presented } = wrong;
  const { message } = right;
  const budget = search.budgets.catalogue;
  if (mac === undefined && presented.kinds.includes('secret')) return undefined;
  if (mac?.hash !== undefined && presented.signatures.every((signature) => signature === ''))
    return { hint: 'the signature is empty' };
  const tried = keysToTry(search, presented);
  const keys = tried.map(({ key }) => key);
  const signsRight = ({ key, isOwn }: TriedKey, given: Presented): boolean =>
    messages.filter(({ pieces }) => scheme.verify(key, pieces, given)).length > 0 && isOwn;
  budget.spend(
    messages.length * searchTime(keys, message.length) +
      emptyTries * verificationTime('secret', message.length),
  );
  const [expired] = tried.filter((each) => signsRight(each, presented));
  const findComputed = (): string | undefined =>
    budget.spendHalf(computationTime(keys, message.length))
      ? tried.flatMap(({ key, isOwn }) => {
          const hint = computationMistake(search, key, message);
          return isOwn && hint !== undefined ? [hint] : [];
        })[0]
      : undefined;
  const findReencoded = (): string | undefined =>
    encodingMistakes(presented.signatures[0] ?? '').flatMap(({ hint, signature }) => {
      const other = scheme.mistakes?.withSignature?.(presented, signature) ?? {
        ...presented,
        signatures: [signature],
      };
      const others = keysToTry(search, other);
      const otherKeys = others.map(({ key }) => key);
      if (!budget.spendHalf(messages.length * searchTime(otherKeys, message.length))) return [];
      return others.filter((each) => signsRight(each, other)).length > 0 ? [hint] : [];
    })[0];
  // Before the mistakes in the message, which take all that is left.
  const [computed, reencoded] = [findComputed(), findReencoded()];
  const tries = tried.map(({ key, isOwn }) => ({ isOwn, made: search.createTry(key) }));
  const findSigned = (mistakes: Iterable<MessageMistake>): readonly MessageMistake[] =>
    tries.length === 0
      ? []
      : budget.matching(
          mistakes,
          (mistake) => searchTime(keys, mistake.message.length),
          (mistake) => tries.filter(({ made, isOwn }) => made(mistake) && isOwn).length > 0,
        );
  const [hashed] = findSigned(hashedMistakes(message));
  const [signed] = findSigned(messageMistakes(search, right));
  if (mac?.hash !== undefined && search.isGiven(computeHash(mac.hash, message)))
    return { hint: 'the signature is a plain hash of the message, without HMAC' };
  const empty = mac && findEmptySecretMistake(presented.user, (secret) => search.isMadeWith(secret, message));
  if (empty !== undefined) return { hint: empty };
  if (expired !== undefined)
    return {
      hint: `the request is signed with an expired ${expired.key.kind === 'secret' ? 'secret' : 'key'}`,
    };
  const hint = reencoded ?? computed ?? hashed?.hint;
  return signed ?? (hint === undefined ? undefined : { hint });
}

/** The number of tries with a text in place of a secret. */
const emptyTries = 20;

/** Returns the estimated time (µs) to try the mistakes in the use of keys and in the computation. */
function computationTime(keys: readonly Key[], length: number): number {
  let time = 0;
  for (const { kind } of keys) time += (kind === 'secret' ? 54 : 5) * verificationTime(kind, length);
  return time;
}

/** A key with which mistakes are tried. */
interface TriedKey {
  readonly key: Key;
  /** Otherwise it is a decoy. */
  readonly isOwn: boolean;
}

/** The number of keys of a kind with which mistakes are tried: a verification with a public key takes long. */
function countTriedKeys(kind: KeyKind): number {
  return kind === 'secret' ? minKeys : 1;
}

/** Returns keys of the holder: all, or as many of each kind as any user has, with decoys in place of missing ones. */
function keysToTry(
  { wrong: { holder, decoys }, budgets }: Search,
  { signatures, kinds }: Presented,
): TriedKey[] {
  return kinds.flatMap((kind) => {
    const own = (holder?.keys ?? []).filter((key) => key.kind === kind && fitsOne(key, signatures));
    if (!budgets.isLimited) return own.map((key): TriedKey => ({ key, isOwn: true }));
    const [sample] = selectSamples(kind, signatures);
    if (sample === undefined) return [];
    return Array.from({ length: countTriedKeys(kind) }, (_, at): TriedKey => {
      const key = own[at];
      return key === undefined ? { key: decoys.of(kind, sample), isOwn: false } : { key, isOwn: true };
    });
  });
}

/** Returns the mistake in the use of a key, or in the computation, that made the signature. */
function computationMistake(
  { wrong: { scheme, presented }, mac, isGiven }: Search,
  key: Key,
  message: Buffer,
): string | undefined {
  if (key.kind !== 'secret') {
    for (const text of presented.signatures) {
      const signature = Buffer.from(text, 'base64');
      const hint = findPublicKeyMistake(key.kind, key.publicKey, message, signature, scheme.variant);
      if (hint !== undefined) return hint;
    }
    return undefined;
  }
  if (mac === undefined) return undefined;
  const length = Buffer.byteLength(presented.signatures[0] ?? '', 'base64');
  return key.secret.derive((secret) => {
    const further = scheme.mistakes?.key?.(secret, presented) ?? [];
    const found = keyMistakes(secret, message, mac, length, further);
    return found.filter(([, signature]) => isGiven(signature))[0]?.[0];
  });
}
