import { hasPrivateKey, keyKinds } from '../../signature/declared/asymmetric.ts';
import { isInContent, type RolePlace } from '../../signature/declared/places.ts';
import { covers, coversContent } from '../../signature/declared/template.ts';
import { parseTimestamp } from '../../signature/declared/timestamp.ts';
import type { KeyKind } from '../keyring.ts';
import type { DeclaredOptions } from './options.ts';

/** A declaration with what a verification uses of it, computed once. */
export interface CompiledDeclaration extends DeclaredOptions {
  /** The literals beside parts of the message that a client chooses freely, which their values must not contain. */
  readonly guards: Guards;
  /** Whether the message contains something that is computed from the content, from a form, from Host, or from the user. */
  readonly needs: {
    readonly content: boolean;
    readonly form: boolean;
    readonly host: boolean;
    readonly url: boolean;
    readonly user: boolean;
  };
  /** Whether the content contains credentials, or may contain some. */
  readonly readsContent: boolean;
  /** The name of the field with the signature in lower case; '' if it is elsewhere. */
  readonly signatureField: string;
  /** The kind of the private keys that sign; undefined if secrets do, alone or beside private keys. */
  readonly keyKinds: readonly KeyKind[] | undefined;
  /** Parses a timestamp of the declared unit. */
  readonly parseTime: (timestamp: string) => number | undefined;
}

/** The literals beside parts that a client chooses freely. */
interface Guards {
  readonly nonce: readonly string[];
  readonly id: readonly string[];
}

/** Computes what a verification uses of a declaration. */
export function compileDeclaration(options: DeclaredOptions): CompiledDeclaration {
  const { algorithm, message, place } = options;
  const hasUrl = covers(message, 'url');
  return {
    ...options,
    guards: listGuards(options),
    needs: {
      content: coversContent(message),
      form: covers(message, 'form-sorted'),
      host: covers(message, 'host') || hasUrl,
      url: hasUrl,
      user: covers(message, 'user') || covers(message, 'key-id'),
    },
    readsContent: readsContent(options),
    signatureField: 'field' in place ? place.field.toLowerCase() : '',
    keyKinds: hasPrivateKey(algorithm) ? [keyKinds[algorithm]] : undefined,
    parseTime: createTimeParser(options),
  };
}

/** Returns whether the content contains credentials, or may contain some. */
export function readsContent({ place, user, timestamp, nonce, queryOrForm }: DeclaredOptions): boolean {
  const places: readonly (RolePlace | string | undefined)[] = [place, user, timestamp?.place, nonce];
  return queryOrForm === true || places.some((each) => isInContent(each));
}

/** Returns the literals beside the parts that a client chooses freely. A value that contained one could extend another part. */
export function listGuards({ message }: DeclaredOptions): Guards {
  const listLiteralsBeside = (kind: 'nonce' | 'id'): string[] =>
    message.flatMap((part, at) =>
      part.kind === kind
        ? [message[at - 1], message[at + 1]].flatMap((other) =>
            other?.kind === 'literal' ? [other.text] : [],
          )
        : [],
    );
  return { nonce: listLiteralsBeside('nonce'), id: listLiteralsBeside('id') };
}

/** Creates a parser that caches the last timestamp, because many requests have the same one. */
function createTimeParser({ timestamp }: DeclaredOptions): CompiledDeclaration['parseTime'] {
  const unit = timestamp?.unit ?? 's';
  let last = '';
  let parsed: number | undefined;
  return (text) => {
    if (text === last) return parsed;
    parsed = parseTimestamp(text, unit);
    last = text;
    return parsed;
  };
}
