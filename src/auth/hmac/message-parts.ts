import { decodeUtf8Octets } from '../../http/syntax/utf8.ts';
import type { Signed } from '../../signature/hmac.ts';
import type { MessagePart } from '../explanation.ts';

/** A message that a client may have signed, and a hint that describes the mistake. */
export interface MessageMistake {
  readonly hint: string;
  readonly message: string;
  /** The part that differs and its signed value; undefined if the mistake affects the whole message. */
  readonly part?: { readonly name: keyof Signed; readonly signed: string };
}

/** The names of the parts in explanations. */
const names = {
  method: 'method',
  target: 'target',
  date: 'date',
  nonce: 'nonce',
  contentDigest: 'content digest',
} as const satisfies Readonly<Record<keyof Signed, string>>;

/** The parts in the order in which they are signed. */
export const partOrder = ['method', 'target', 'date', 'nonce', 'contentDigest'] as const;

/** Returns the name of a part of the message. */
export function partName(name: keyof Signed): string {
  return names[name];
}

/** Returns the parts of the server's message, with the value that the client signed by mistake. */
export function messageParts(signed: Signed, { part }: Pick<MessageMistake, 'part'> = {}): MessagePart[] {
  return partOrder
    .filter((name) => signed[name] !== undefined || name === part?.name)
    .map((name): MessagePart => {
      const expected = { name: names[name], expected: decodeUtf8Octets(signed[name] ?? '') };
      return name === part?.name ? { ...expected, signed: decodeUtf8Octets(part.signed) } : expected;
    });
}
