// What an explanation shows of a message and its parts.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ProblemMember } from '../../http/problem.ts';
import { octetsOf, toReadable } from '../../http/syntax/octets.ts';
import { secretPiece } from '../declared/message.ts';
import { messageBytes, type Part, type Piece } from '../message.ts';
import type { Found } from './search.ts';

/** The members of an explanation, by name. */
export type Members = Readonly<Record<string, ProblemMember>>;

/** The longest value of a part that is shown, in characters. */
const longestShown = 1024;

/** Returns the whole message, if it is text. What stands for a secret in it is not shown. */
export function formatWhole(parts: readonly Part[], message: Buffer): Members {
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

/** Returns the members that explain a wrong signature. Their names do not depend on the user. */
export function describe(
  parts: readonly Part[],
  message: Buffer,
  found: Found | undefined,
  hint: string,
): Members {
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
