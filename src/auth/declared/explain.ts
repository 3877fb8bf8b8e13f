import { isUtf8 } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import type { ProblemMember } from '../../http/problem.ts';
import { isSameDigest, keyBytes } from '../../signature/declared/key.ts';
import { messageBytes, namedPieces, type Piece } from '../../signature/declared/message.ts';
import type { Secret } from '../accounts.ts';
import type { ExplanationBudget, MessagePart, SignatureExplanation } from '../explanation.ts';
import { keyMistakes } from './mistakes/key.ts';
import { type MessageMistake, messageMistakes } from './mistakes/message.ts';
import type { DeclaredOptions } from './options.ts';
import type { Presented, Sources } from './presented.ts';

/** Minimum number of secrets that an explanation tries: a user usually has at most two. */
const minSecrets = 2;
/** The longest message, and the longest content (bytes), for which mistakes are tried: they are hashed for each mistake. */
const longestMessage = 32_768;
/** The longest value of a part that is shown, in characters. */
const longestShown = 1024;

/** Used in place of a missing secret. */
const decoySecret = Buffer.from('no one has this secret');

interface Found {
  readonly hint: string;
  readonly differs?: MessageMistake['differs'];
}

/**
 * Finds the common mistake that produced a wrong signature. It computes some hundred digests, the same number for a user with two
 * secrets, one or none and for an unknown user, because it always tries all mistakes.
 */
export function explainSignature(
  sources: Sources,
  { digests, time }: Presented,
  secrets: readonly Secret[],
  options: DeclaredOptions,
  budget: ExplanationBudget,
): SignatureExplanation {
  const [source] = sources;
  const pieces = namedPieces(options.message, source);
  const message = messageBytes(pieces.map(({ piece }) => piece));
  const found =
    Math.max(message.length, source.content.length) > longestMessage || digests.length === 0
      ? undefined
      : mistakeOf(
          message,
          budget.matching(messageMistakes(source, time, options), () => true),
          digests,
          secrets,
          options,
          budget,
        );
  const parts = pieces.flatMap(({ name, piece }): MessagePart[] => {
    if (name === '') return [];
    const part = { name, expected: shown(piece) };
    return [found?.differs?.name === name ? { ...part, signed: shown(found.differs.signed) } : part];
  });
  return {
    parts,
    ...(found === undefined ? {} : { hint: found.hint }),
    ...(found?.differs === undefined ? {} : { differs: found.differs.name }),
  };
}

function mistakeOf(
  message: Buffer,
  mistakes: readonly MessageMistake[],
  digests: readonly string[],
  secrets: readonly Secret[],
  options: DeclaredOptions,
  budget: ExplanationBudget,
): Found | undefined {
  let found: Found | undefined;
  for (let at = 0; at < Math.max(secrets.length, minSecrets); at += 1) {
    const own = secrets[at];
    const secret = own === undefined ? decoySecret : own.key.derive((bytes) => bytes);
    const mistake = mistakeWith(secret, message, mistakes, digests, options, budget);
    if (own !== undefined) found ??= mistake;
  }
  const { hash } = options;
  return isGiven(createHash(hash).update(message).digest('base64'), digests)
    ? { hint: 'the signature is a plain hash of the message, without HMAC' }
    : found;
}

/** Tries all mistakes with one secret. */
function mistakeWith(
  secret: Buffer,
  message: Buffer,
  mistakes: readonly MessageMistake[],
  digests: readonly string[],
  options: DeclaredOptions,
  budget: ExplanationBudget,
): Found | undefined {
  const key = keyBytes(secret, options) ?? secret;
  const digestOf = (signed: Buffer): string => createHmac(options.hash, key).update(signed).digest('base64');
  const isExpired = isGiven(digestOf(message), digests);
  const [keyMistake] = keyMistakes(secret, message, options).filter(([, digest]) => isGiven(digest, digests));
  const [mistake] = budget.matching(mistakes, (other) => isGiven(digestOf(other.message), digests));
  if (isExpired) return { hint: 'the request is signed with an expired secret' };
  return mistake ?? (keyMistake === undefined ? undefined : { hint: keyMistake[0] });
}

function isGiven(digest: string, digests: readonly string[]): boolean {
  return digests.filter((given) => isSameDigest(digest, given)).length > 0;
}

/** Returns the text of a piece, shortened; of other content its length and digest. */
function shown(piece: Piece): string {
  const bytes = messageBytes([piece]);
  if (!isUtf8(bytes))
    return `${bytes.length} bytes that are not UTF-8, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
  const text = bytes.toString('utf8');
  return text.length <= longestShown
    ? text
    : `${text.slice(0, longestShown).replace(/[\ud800-\udbff]$/, '')}… (${bytes.length} bytes)`;
}

/** Converts an explanation to members of a Problem. */
export function membersOf({
  hint,
  parts,
  differs,
}: SignatureExplanation): Readonly<Record<string, ProblemMember>> {
  return {
    ...(hint === undefined ? {} : { hint }),
    parts: parts.map(({ name, expected, signed }) => ({
      name,
      expected,
      ...(signed === undefined ? {} : { signed }),
    })),
    ...(differs === undefined ? {} : { differs }),
  };
}
