// Searches the catalogue for the mistake that made a wrong signature.

import { fitsOne, type Key, type KeyKind, minKeys, selectSamples } from '../../accounts/keyring.ts';
import type { SignatureVariant } from '../../algorithms.ts';
import { messageBytes, type Part } from '../message.ts';
import { assembleMessage, type MessageMistake, type Presented, type SchemeVerification } from '../scheme.ts';
import { type Budgets, createBudgets, describeUntried, selectLongest, verificationTime } from './budget.ts';
import { computePlainHash, findEmptySecretMistake, keyMistakes } from './key.ts';
import { encodingMistakes, findPublicKeyMistake } from './public-key.ts';
import { hashedMistakes } from './whole.ts';
import {
  createSignatureTest,
  createTry,
  type Found,
  messageMistakes,
  searchTime,
  type WrongSignature,
} from './wrong-signature.ts';

/** A message that the signature may fit. */
export interface RightMessage {
  readonly parts: readonly Part[];
  readonly message: Buffer;
}

/** What the mistakes of the catalogue show: the mistake, and the message in which it was made; otherwise the first message. */
export interface Search extends RightMessage {
  /** All messages that the signature may fit. */
  readonly messages: readonly RightMessage[];
  readonly found: Found | undefined;
  /** Why mistakes were not tried; undefined if all were. */
  readonly untried: string | undefined;
  readonly budgets: Budgets;
}

/** Tries the mistakes of the catalogue with every message that the signature may fit. */
export function searchCatalogue<Own extends Presented>(wrong: WrongSignature<Own>): Search {
  const { scheme, presented, content, knowledge } = wrong;
  const budgets = createBudgets(knowledge?.isLimited ?? true);
  const messages = scheme.messages(presented, content).map(
    (each): RightMessage => ({
      parts: each,
      message: messageBytes(assembleMessage(scheme, each, presented)),
    }),
  );
  const [first = { parts: [], message: Buffer.alloc(0) }] = messages;
  const { message } = first;
  const longestTried = selectLongest(budgets.isLimited);
  if (Math.max(message.length, content.length) > longestTried) {
    const untried =
      content.length > longestTried
        ? describeUntried('content', content.length)
        : describeUntried('message', message.length);
    return { ...first, messages, found: undefined, untried, budgets };
  }
  let shown: (RightMessage & { readonly found: Found }) | undefined;
  for (const each of messages) {
    const found = findMistake(wrong, each.parts, each.message, budgets);
    if (found !== undefined) shown ??= { ...each, found };
    // A client of a server could measure that a search has ended early.
    if (shown !== undefined && !budgets.isLimited) break;
  }
  const untried = budgets.catalogue.isExhausted ? exhausted : undefined;
  return { ...first, messages, found: undefined, ...shown, untried, budgets };
}

const exhausted = 'not all usual mistakes were tried: an explanation of a server may take 10 ms';

function findMistake<Own extends Presented>(
  wrong: WrongSignature<Own>,
  parts: readonly Part[],
  message: Buffer,
  { isLimited, catalogue: budget }: Budgets,
): Found | undefined {
  const { scheme, presented, content } = wrong;
  const mac = scheme.mistakes?.mac?.(presented);
  if (mac === undefined && presented.kinds.includes('secret')) return undefined;
  if (mac?.hash !== undefined && presented.signatures.every((signature) => signature === ''))
    return { hint: 'the signature is empty' };
  const isGiven = createSignatureTest(presented);
  const tried = keysToTry(wrong, presented, isLimited);
  const keys = tried.map(({ key }) => key);
  const rights = scheme.messages(presented, content).map((each) => assembleMessage(scheme, each, presented));
  const signsRight = ({ key, isOwn }: TriedKey, given: Own): boolean =>
    rights.filter((right) => scheme.verify(key, right, given)).length > 0 && isOwn;
  budget.spend(
    rights.length * searchTime(keys, message.length) +
      emptyTries * verificationTime('secret', message.length),
  );
  const [expired] = tried.filter((each) => signsRight(each, presented));
  const findComputed = (): string | undefined =>
    budget.spendHalf(computationTime(keys, message.length))
      ? tried.flatMap(({ key, isOwn }) => {
          const hint = computationMistake(key, message, scheme, presented);
          return isOwn && hint !== undefined ? [hint] : [];
        })[0]
      : undefined;
  const findReencoded = (): string | undefined =>
    encodingMistakes(presented.signatures[0] ?? '').flatMap(({ hint, signature }) => {
      const other = scheme.mistakes?.withSignature?.(presented, signature) ?? {
        ...presented,
        signatures: [signature],
      };
      const others = keysToTry(wrong, other, isLimited);
      const otherTime = searchTime(
        others.map(({ key }) => key),
        message.length,
      );
      if (!budget.spendHalf(rights.length * otherTime)) return [];
      return others.filter((each) => signsRight(each, other)).length > 0 ? [hint] : [];
    })[0];
  // Before the mistakes in the message, which take all that is left.
  const [computed, reencoded] = [findComputed(), findReencoded()];
  const tries = tried.map(({ key, isOwn }) => ({ isOwn, made: createTry(key, scheme, presented) }));
  const findSigned = (mistakes: Iterable<MessageMistake>): readonly MessageMistake[] =>
    tries.length === 0
      ? []
      : budget.matching(
          mistakes,
          (mistake) => searchTime(keys, mistake.message.length),
          (mistake) => tries.filter(({ made, isOwn }) => made(mistake) && isOwn).length > 0,
        );
  const [hashed] = findSigned(hashedMistakes(message));
  const [signed] = findSigned(messageMistakes(wrong, parts, message, content));
  if (mac?.hash !== undefined && isGiven(computePlainHash(mac.hash, message)))
    return { hint: 'the signature is a plain hash of the message, without HMAC' };
  const empty = mac && findEmptySecretMistake(presented.user, mac, message, isGiven);
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
  for (const { kind } of keys) time += (kind === 'secret' ? 48 : 5) * verificationTime(kind, length);
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
function keysToTry<Own extends Presented>(
  { holder, decoys }: WrongSignature<Own>,
  presented: Own,
  isLimited: boolean,
): TriedKey[] {
  const { signatures } = presented;
  return presented.kinds.flatMap((kind) => {
    const own = (holder?.keys ?? []).filter((key) => key.kind === kind && fitsOne(key, signatures));
    if (!isLimited) return own.map((key): TriedKey => ({ key, isOwn: true }));
    const [sample] = selectSamples(kind, signatures);
    if (sample === undefined) return [];
    return Array.from({ length: countTriedKeys(kind) }, (_, at): TriedKey => {
      const key = own[at];
      return key === undefined ? { key: decoys.of(kind, sample), isOwn: false } : { key, isOwn: true };
    });
  });
}

function computationMistake<Own extends Presented>(
  key: Key,
  message: Buffer,
  scheme: SchemeVerification<Own>,
  presented: Own,
): string | undefined {
  return key.kind === 'secret'
    ? key.secret.derive((secret) => secretMistake(secret, message, scheme, presented))
    : keyMistake(key, message, presented, scheme.variant);
}

function secretMistake<Own extends Presented>(
  secret: Buffer,
  message: Buffer,
  scheme: SchemeVerification<Own>,
  presented: Own,
): string | undefined {
  const mac = scheme.mistakes?.mac?.(presented);
  if (mac === undefined) return undefined;
  const length = Buffer.byteLength(presented.signatures[0] ?? '', 'base64');
  const further = scheme.mistakes?.key?.(secret, presented) ?? [];
  const isGiven = createSignatureTest(presented);
  const found = keyMistakes(secret, message, mac, length, further).filter(([, signature]) =>
    isGiven(signature),
  );
  return found[0]?.[0];
}

function keyMistake(
  key: Extract<Key, { publicKey: unknown }>,
  message: Buffer,
  { signatures }: Presented,
  variant: SignatureVariant | undefined,
): string | undefined {
  for (const text of signatures) {
    const signature = Buffer.from(text, 'base64');
    const hint = findPublicKeyMistake(key.kind, key.publicKey, message, signature, variant);
    if (hint !== undefined) return hint;
  }
  return undefined;
}
