// Explains a wrong signature: tries the mistakes of the catalogue against the signature that was received.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ProblemMember } from '../../http/problem.ts';
import { decodeUtf8Octets } from '../../http/syntax/utf8.ts';
import { messageBytes, type Part, type Piece } from '../../signature/message.ts';
import { fits, type Key, type KeyKind, minKeys } from '../keyring.ts';
import {
  assembleMessage,
  type MessageMistake,
  type Presented,
  type SignatureScheme,
} from '../signature-scheme.ts';
import { ExplanationBudget, verificationTime } from './budget.ts';
import { computePlainHash, findEmptySecretMistake, keyMistakes, signWith } from './key.ts';
import { explainByKnowledge } from './knowledge.ts';
import { findPublicKeyMistake } from './public-key.ts';
import {
  buildRightMessages,
  createSignatureTest,
  type Found,
  messageMistakes,
  type WrongSignature,
} from './wrong-signature.ts';

type Members = Readonly<Record<string, ProblemMember>>;

/** The longest message, and the longest content (bytes), for which mistakes are tried: they are hashed again for each. */
const longestMessage = 32_768;
/** The longest value of a part that is shown, in characters. */
const longestShown = 1024;

/**
 * Explains a wrong signature, in full for the trace, and for the client without showing whether the user exists. The mistakes are
 * tried with at least two keys of each kind, so the work does not depend on the user. It has a fixed budget.
 */
export async function explainSignature<Own extends Presented>(
  wrong: WrongSignature<Own>,
): Promise<{ readonly traced: Members; readonly shown: Members }> {
  const { scheme, presented, content, knowledge } = wrong;
  const [parts = []] = scheme.messages(presented, content);
  const message = messageBytes(assembleMessage(scheme, parts, presented));
  const found =
    Math.max(message.length, content.length) > longestMessage
      ? undefined
      : findMistake(wrong, parts, message);
  const known = found ?? (knowledge && (await explainByKnowledge(wrong, parts, message, knowledge)));
  const common = scheme.explanationMembers?.(presented, content, 'signature') ?? {};
  return {
    traced: { ...common, ...describe(parts, message, known, hintFor(wrong, parts)) },
    shown: {
      ...common,
      ...describe(
        parts,
        message,
        found,
        presented.user === ''
          ? 'no user has this key'
          : `the ${scheme.owner ?? 'user'} does not exist, ${parts.length === 0 ? 'or ' : ''}${explainUnmatched(wrong, parts)}`,
      ),
    },
  };
}

/** Returns the hint if no mistake made the signature. */
function explainUnmatched<Own extends Presented>(
  { scheme, presented }: WrongSignature<Own>,
  parts: readonly Part[],
): string {
  const key = scheme.kinds(presented)[0] === 'secret' ? 'secret' : 'key';
  const message = 'or the message differs in a way that is not a common mistake';
  return parts.length === 0 ? `the ${key} is different` : `the ${key} is different, ${message}`;
}

/** Returns the hint for the trace if no mistake made the signature. */
function hintFor<Own extends Presented>(wrong: WrongSignature<Own>, parts: readonly Part[]): string {
  const { scheme, presented, holder } = wrong;
  const { owner = 'user' } = scheme;
  if (holder === undefined && presented.user === '') return 'no user has this key, or several have it';
  if (holder === undefined)
    return owner === 'user'
      ? 'there is no user of this name, and no key of this id'
      : `there is no ${owner} of this name`;
  const own = scheme.unknownHint?.(presented, holder);
  if (own !== undefined) return own;
  const kinds = scheme.kinds(presented);
  const keys = holder.keys.filter(({ kind }) => kinds.includes(kind));
  if (keys.length === 0 && holder.keys.length > 0)
    return `the signature has another length than one of ${holder.keys.map(({ kind }) => kind).join(' or ')}`;
  if (keys.length === 0)
    return kinds.includes('secret')
      ? `the ${owner} has no secret`
      : `the ${owner} has no key of ${kinds.join(' or ')}`;
  const mac = scheme.mac?.(presented);
  const isReadable = keys.some(
    (key) => key.kind !== 'secret' || mac === undefined || key.secret.derive(mac.key) !== undefined,
  );
  return isReadable
    ? explainUnmatched(wrong, parts)
    : `the secret of the ${owner} is not in ${mac?.encoding ?? 'the right encoding'}`;
}

function findMistake<Own extends Presented>(
  wrong: WrongSignature<Own>,
  parts: readonly Part[],
  message: Buffer,
): Found | undefined {
  const { scheme, presented, content } = wrong;
  const mac = scheme.mac?.(presented);
  if (mac === undefined && scheme.kinds(presented).includes('secret')) return undefined;
  if (mac?.hash !== undefined && presented.signatures.every((signature) => signature === ''))
    return { hint: 'the signature is empty' };
  const isGiven = createSignatureTest(presented);
  const keys = keysToTry(wrong, presented);
  const rights = buildRightMessages(wrong, content).map((each) => each.toString('latin1'));
  const signsRight = ({ key, isOwn }: TriedKey, given: Own): boolean =>
    rights.filter((right) => scheme.signs(key, [right], given)).length > 0 && isOwn;
  const [expired] = keys.filter((tried) => signsRight(tried, presented));
  const tries = keys.map(({ key, isOwn }) => ({ isOwn, made: createTry(key, scheme, presented) }));
  const [signed] = new ExplanationBudget().matching(
    messageMistakes(wrong, parts, message, content),
    (mistake) => searchTime(keys, mistake.message.length),
    (mistake) => tries.filter(({ made, isOwn }) => made(mistake) && isOwn).length > 0,
  );
  const [computed] = keys.flatMap(({ key, isOwn }) => {
    const hint = computationMistake(key, message, scheme, presented);
    return isOwn && hint !== undefined ? [hint] : [];
  });
  const [reencoded] = (scheme.reencoded?.(presented) ?? []).flatMap(([hint, other]) =>
    keysToTry(wrong, other).filter((tried) => signsRight(tried, other)).length > 0 ? [hint] : [],
  );
  if (mac?.hash !== undefined && isGiven(computePlainHash(mac.hash, message)))
    return { hint: 'the signature is a plain hash of the message, without HMAC' };
  const empty = mac && findEmptySecretMistake(presented.user, mac, message, isGiven);
  if (empty !== undefined) return { hint: empty };
  if (expired !== undefined)
    return {
      hint: `the request is signed with an expired ${expired.key.kind === 'secret' ? 'secret' : 'key'}`,
    };
  const hint = computed ?? reencoded;
  return signed ?? (hint === undefined ? undefined : { hint });
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

/** Returns keys of the holder, and decoys in place of missing ones. */
function keysToTry<Own extends Presented>(
  { scheme, holder, decoys }: WrongSignature<Own>,
  presented: Own,
): TriedKey[] {
  const [signature] = presented.signatures;
  return scheme.kinds(presented).flatMap((kind) => {
    const own = (holder?.keys ?? []).filter((key) => key.kind === kind && fits(key, signature));
    return Array.from({ length: countTriedKeys(kind) }, (_, at): TriedKey => {
      const key = own[at];
      return key === undefined ? { key: decoys.of(kind, signature), isOwn: false } : { key, isOwn: true };
    });
  });
}

/** Returns the estimated time (µs) to build a mistaken message of this length (bytes) and to try it with all keys. */
function searchTime(keys: readonly TriedKey[], length: number): number {
  let time = verificationTime('secret', length);
  for (const { key } of keys) time += verificationTime(key.kind, length);
  return time;
}

/** Creates the function that returns whether a key made the signature of a mistaken message. The key is derived once. */
function createTry<Own extends Presented>(
  key: Key,
  scheme: SignatureScheme<Own>,
  presented: Own,
): (mistake: MessageMistake) => boolean {
  if (key.kind !== 'secret') return ({ message }) => scheme.signs(key, [message], presented);
  const mac = scheme.mac?.(presented);
  if (mac === undefined) return () => false;
  const bytes = key.secret.derive((secret) => mac.key(secret) ?? secret);
  const isGiven = createSignatureTest(presented);
  return ({ message }) => isGiven(signWith(mac, bytes, message));
}

function computationMistake<Own extends Presented>(
  key: Key,
  message: Buffer,
  scheme: SignatureScheme<Own>,
  presented: Own,
): string | undefined {
  return key.kind === 'secret'
    ? key.secret.derive((secret) => secretMistake(secret, message, scheme, presented))
    : keyMistake(key, message, presented);
}

function secretMistake<Own extends Presented>(
  secret: Buffer,
  message: Buffer,
  scheme: SignatureScheme<Own>,
  presented: Own,
): string | undefined {
  const mac = scheme.mac?.(presented);
  if (mac === undefined) return undefined;
  const length = Buffer.byteLength(presented.signatures[0] ?? '', 'base64');
  const further = scheme.keyMistakes?.(secret, presented) ?? [];
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
): string | undefined {
  for (const signature of signatures) {
    const hint = findPublicKeyMistake(key.kind, key.publicKey, message, Buffer.from(signature, 'base64'));
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
    ...(found?.message === undefined ? {} : difference(message, found.message)),
  };
}

/** Returns the message that was signed, and where it begins to differ. */
function difference(message: Buffer, signed: Buffer): Members {
  const [own, other] = [
    decodeUtf8Octets(message.toString('latin1')),
    decodeUtf8Octets(signed.toString('latin1')),
  ];
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
