// Explains a wrong signature: tries the mistakes of the catalogue against the signature that was received.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ProblemMember } from '../../http/problem.ts';
import { octetsOf, toReadable } from '../../http/syntax/octets.ts';
import type { SignatureVariant } from '../../signature/algorithms.ts';
import { secretPiece } from '../../signature/declared/message.ts';
import { messageBytes, type Part, type Piece } from '../../signature/message.ts';
import { fitsOne, type Key, type KeyKind, minKeys, selectSamples } from '../keyring.ts';
import { assembleMessage, type MessageMistake, type Presented, type SchemeVerification } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { Explained, TraceKnowledge } from '../trace.ts';
import {
  type Budgets,
  countTried,
  createBudgets,
  describeUntried,
  selectLongest,
  verificationTime,
} from './budget.ts';
import { computePlainHash, findEmptySecretMistake, keyMistakes } from './key.ts';
import { explainByKnowledge } from './knowledge.ts';
import { encodingMistakes, findPublicKeyMistake } from './public-key.ts';
import { describeSentForm, describeSentKey } from './sent-keys.ts';
import { hashedMistakes } from './whole.ts';
import {
  createSignatureTest,
  createTry,
  type Found,
  messageMistakes,
  type OthersKey,
  type RefusedSignature,
  searchTime,
  type WrongSignature,
} from './wrong-signature.ts';

type Members = Readonly<Record<string, ProblemMember>>;

/** The longest value of a part that is shown, in characters. */
const longestShown = 1024;

/**
 * Prepares the explanation of a wrong signature: keeps all that it depends on, so that it is the same whenever it is made. It is made
 * in full for the trace, and for the client without showing whether the user exists. Then the mistakes are tried with at least two
 * keys of each kind, so the work does not depend on the user, and it has a fixed budget.
 */
export async function prepareExplanation<Own extends Presented>({
  context,
  ...refused
}: RefusedSignature<Own>): Promise<Explained> {
  const { scheme, holder, content, knowledge } = refused;
  const isUser = (scheme.rules.owner ?? 'user') === 'user';
  const hasPublicKeys = refused.presented.kinds.some((kind) => kind !== 'secret');
  const [account, arrived, others] = await Promise.all([
    knowledge && isUser && holder && context.accounts.find(holder.principal.name),
    content.length === 0 ? knowledge?.content() : undefined,
    knowledge && hasPublicKeys ? findOthersKeys(knowledge, context) : [],
  ]);
  const presented = withoutBody(refused.presented);
  const wrong: WrongSignature<Own> = {
    ...refused,
    presented,
    arrived,
    account: account || undefined,
    others,
  };
  let made: Search | undefined;
  const search = (): Search => {
    made ??= searchCatalogue(wrong);
    return made;
  };
  return { traced: () => traceSearch(wrong, search()), shown: () => showSearch(wrong, search()) };
}

/** The number of keys of other users that are tried: a verification with a public key takes long. */
const maxOthers = 256;

/** Finds the keys that users have, with their ids, for a test double. */
async function findOthersKeys(
  { keyIds }: TraceKnowledge,
  { accounts }: SchemeContext,
): Promise<readonly OthersKey[]> {
  const found = await Promise.all(
    keyIds.slice(0, maxOthers).map(async (id) => ({ id, found: await accounts.findKey?.(id) })),
  );
  return found.flatMap(({ id, found: known }) =>
    known === undefined ? [] : [{ id, user: known.account.name, key: known.key }],
  );
}

/** Returns credentials that do not keep the content of their request, nor its connection. */
function withoutBody<Own extends Presented>(presented: Own): Own {
  const { present } = presented.request.body;
  const unread = (): Promise<never> => Promise.reject(new Error('the content was not kept'));
  return {
    ...presented,
    request: { ...presented.request, body: { present, consume: unread, hold: unread } },
  };
}

/** A message that the signature may fit. */
interface RightMessage {
  readonly parts: readonly Part[];
  readonly message: Buffer;
}

/** What the mistakes of the catalogue show: the mistake, and the message in which it was made; otherwise the first message. */
interface Search extends RightMessage {
  /** All messages that the signature may fit. */
  readonly messages: readonly RightMessage[];
  readonly found: Found | undefined;
  /** Why mistakes were not tried; undefined if all were. */
  readonly untried: string | undefined;
  readonly budgets: Budgets;
}

function searchCatalogue<Own extends Presented>(wrong: WrongSignature<Own>): Search {
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

/** Returns the explanation for the trace, with all that a test double knows. */
function traceSearch<Own extends Presented>(wrong: WrongSignature<Own>, search: Search): Members {
  const { parts, message } = search;
  const found = search.found ?? findByKnowledge(wrong, search);
  return {
    ...formatWhole(parts, message),
    ...listCommonMembers(wrong),
    ...describe(parts, message, found, hintFor(wrong, search)),
  };
}

/** Returns the whole message, if it is text. What stands for a secret in it is not shown. */
function formatWhole(parts: readonly Part[], message: Buffer): Members {
  if (parts.length === 0) return {};
  const bytes = hideSecret(message);
  return isUtf8(bytes) ? { message: bytes.toString('utf8') } : {};
}

/** Returns a message with a note in place of the piece that stands for the secret. */
function hideSecret(message: Buffer): Buffer {
  const at = message.indexOf(secretPiece);
  if (at < 0) return message;
  return Buffer.concat([
    message.subarray(0, at),
    Buffer.from('(not shown)'),
    message.subarray(at + secretPiece.length),
  ]);
}

/** Returns the mistake that what a test double knows shows. */
function findByKnowledge<Own extends Presented>(
  wrong: WrongSignature<Own>,
  { messages, budgets }: Search,
): Found | undefined {
  const { knowledge } = wrong;
  if (knowledge === undefined) return undefined;
  const found = messages.map(({ parts, message }) =>
    explainByKnowledge(wrong, parts, message, knowledge, budgets),
  );
  return found.find((each) => each?.message !== undefined) ?? found.find((each) => each !== undefined);
}

/** Returns the explanation for the client. */
function showSearch<Own extends Presented>(wrong: WrongSignature<Own>, search: Search): Members {
  const { scheme, presented } = wrong;
  const { parts, message, found } = search;
  const sent = presented.sentKey;
  const hint =
    presented.user === ''
      ? (describeSentForm(sent ?? '', 'key') ?? 'no user has this key')
      : `the ${scheme.rules.owner ?? 'user'} does not exist, ${parts.length === 0 ? 'or ' : ''}${explainUnmatched(wrong, search)}`;
  return { ...listCommonMembers(wrong), ...describe(parts, message, found, hint) };
}

function listCommonMembers<Own extends Presented>({
  scheme,
  presented,
  content,
}: WrongSignature<Own>): Members {
  return scheme.mistakes?.members?.(presented, content, 'signature') ?? {};
}

/** Returns the hint if no mistake made the signature. */
function explainUnmatched<Own extends Presented>(
  { presented }: WrongSignature<Own>,
  { parts, untried }: Search,
  kinds: readonly KeyKind[] = presented.kinds,
): string {
  const different = `the ${kinds[0] === 'secret' ? 'secret' : 'key'} is different`;
  if (untried !== undefined)
    return `${different}${parts.length === 0 ? '' : ', or the message differs'}; ${untried}`;
  if (parts.length === 0) return different;
  return `${different}, or the message differs in a way that is not a common mistake`;
}

/** Returns the hint for the trace if no mistake made the signature. */
function hintFor<Own extends Presented>(wrong: WrongSignature<Own>, search: Search): string {
  const { scheme, presented, holder } = wrong;
  const { owner = 'user' } = scheme.rules;
  const sent = presented.sentKey;
  const mistake =
    sent === undefined ? undefined : describeSentKey(sent, presented.user, wrong.knowledge?.secrets ?? []);
  if (mistake !== undefined) return mistake;
  if (holder === undefined && presented.user === '') return 'no user has this key, or several have it';
  if (holder === undefined)
    return owner === 'user'
      ? 'there is no user of this name, and no key of this id'
      : `there is no ${owner} of this name`;
  const own = holder.hint;
  if (own !== undefined) return own;
  const kinds = presented.kinds.filter((kind) => selectSamples(kind, presented.signatures).length > 0);
  const keys = holder.keys.filter(({ kind }) => kinds.includes(kind));
  if (keys.length === 0 && holder.keys.length > 0)
    return `the signature has another length than one of ${holder.keys.map(({ kind }) => kind).join(' or ')}`;
  if (keys.length === 0)
    return kinds.includes('secret')
      ? `the ${owner} has no secret`
      : `the ${owner} has no key of ${kinds.join(' or ')}`;
  const mac = scheme.mistakes?.mac?.(presented);
  const isReadable = keys.some(
    (key) => key.kind !== 'secret' || mac === undefined || key.secret.derive(mac.key) !== undefined,
  );
  return isReadable
    ? `${explainUnmatched(
        wrong,
        search,
        keys.map(({ kind }) => kind),
      )}${describeTries(wrong, search)}`
    : `the secret of the ${owner} is not in ${mac?.encoding ?? 'the right encoding'}`;
}

/** Describes how much was tried when no mistake made the signature, and what cannot be tried. */
function describeTries<Own extends Presented>(
  { presented: { request } }: WrongSignature<Own>,
  { parts, untried, budgets }: Search,
): string {
  if (untried !== undefined || parts.length === 0) return '';
  const unknown = parts.some(({ kind }) => kind === 'host' || kind === 'url')
    ? ['a host that the request does not show, such as that of a proxy']
    : [];
  if (/^multipart\//i.test(request.headers.get('content-type') ?? ''))
    unknown.push('multipart content with another boundary, which each serialization has');
  const rest = unknown.length === 0 ? '' : `; not tried: ${unknown.join(', and ')}`;
  const count = countTried(budgets).toLocaleString('en-US');
  return ` (${count} forms of the message were tried${rest})`;
}

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
const emptyTries = 16;

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

/** Returns the members that explain a wrong signature. Their names do not depend on the user. */
function describe(parts: readonly Part[], message: Buffer, found: Found | undefined, hint: string): Members {
  const shownParts = parts.flatMap((part): Record<string, string>[] => {
    if (part.name === '') return [];
    if (part.kind === 'secret') return [{ name: part.name, expected: '(not shown)' }];
    const shownPart = { name: part.name, expected: formatPiece(part.value) };
    return [
      found?.differs?.name === part.name
        ? { ...shownPart, signed: formatPiece(found.differs.signed) }
        : shownPart,
    ];
  });
  const { differs } = found ?? {};
  // What differs may be no part of its own, such as the text that the parts make.
  if (differs !== undefined && !shownParts.some(({ name }) => name === differs.name))
    shownParts.push({
      name: differs.name,
      expected: formatPiece(message),
      signed: formatPiece(differs.signed),
    });
  return {
    hint: found?.hint ?? hint,
    ...(shownParts.length === 0 ? {} : { parts: shownParts }),
    ...(found?.differs === undefined ? {} : { differs: found.differs.name }),
    ...(found?.message === undefined ? {} : difference(hideSecret(message), hideSecret(found.message))),
  };
}

/** Returns the message that was signed, and where it begins to differ. */
function difference(message: Buffer, signed: Buffer): Members {
  const [own, other] = [toReadable(octetsOf(message)), toReadable(octetsOf(signed))];
  let at = 0;
  while (at < own.length && own[at] === other[at]) at += 1;
  return { signedMessage: formatPiece(signed), firstDifference: at };
}

/** Returns the text of a piece, shortened; of other content its length and digest. */
function formatPiece(piece: Piece): string {
  const bytes = messageBytes([piece]);
  if (!isUtf8(bytes))
    return `${bytes.length} bytes that are not UTF-8, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
  const text = bytes.toString('utf8');
  return text.length <= longestShown
    ? text
    : `${text.slice(0, longestShown).replace(/[\ud800-\udbff]$/, '')}… (${bytes.length} bytes)`;
}
