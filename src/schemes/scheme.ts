// A signature scheme: everything that is particular to it, and nothing else. `verify.ts` verifies the requests of every scheme, and
// `explain/` explains their refusals.

import type { Key, KeyHolder, KeyKind } from '../accounts/keyring.ts';
import type { SignatureVariant } from '../algorithms.ts';
import type { IncomingRequest } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { ProblemType } from '../http/problem-types.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Variant } from './explain/mistake.ts';
import type { Part, Piece } from './message.ts';
import type { KnownSecret, Members } from './trace.ts';

/** The credentials of a request as parsed, before anything is looked up. */
export interface Presented {
  readonly request: IncomingRequest;
  /** The user, or the id of the key, as named. */
  readonly user: string;
  /** The name under which failures and nonces are counted. Default: that of the user. */
  readonly countedAs?: string;
  /** The signatures in canonical base64. One of them must be valid. */
  readonly signatures: readonly string[];
  /** The kinds of keys that may have made the signatures. */
  readonly kinds: readonly KeyKind[];
  /**
   * Whether the message contains the content, or parameters of a form, which is limited to 64 KiB. Then the time is judged before the
   * content is read. Default: neither.
   */
  readonly needs?: 'content' | 'form' | undefined;
  /** The key that is sent as it is, in place of a signature. Default: the scheme signs. */
  readonly sentKey?: string;
  /** The time of the request (ms since 1970-01-01T00:00:00Z); undefined if it has none. */
  readonly time: number | undefined;
  /** The time as sent. Default: whole seconds. */
  readonly sentTime?: string | undefined;
  /** The time (ms) after which the credentials are expired. Default: only the window decides. */
  readonly expires?: number | undefined;
  /** The nonce; undefined if the request has none. */
  readonly nonce: string | undefined;
  /** The request target without the signature. Default: the target as sent. */
  readonly target?: string;
}

/** A fault that the request shows without any key. It never contains a secret. */
export interface Fault {
  /** One sentence for the client. */
  readonly detail: string;
  /** The likely cause. */
  readonly hint?: string | undefined;
  /** The field that is missing, with the request that lacks it. The explanation names one that was sent in its place. */
  readonly missing?: { readonly field: string; readonly request: IncomingRequest } | undefined;
  /** The check that failed. Default: `parse`. */
  readonly check?: string | undefined;
  /** The user or the id of the key, if it can be read. */
  readonly claimed?: string | undefined;
  /** The type of the Problem. Default: `malformed-credentials`. */
  readonly type?: ProblemType | undefined;
  /** Members that the explanation has beside the hint. Default: none. */
  readonly members?: Members | undefined;
  /** The Problem in the form of a partner. Default: a problem document of `type`. */
  readonly problem?: Problem | undefined;
}

/** Returns a text with its first letter in upper case. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns those of several credentials that could be read; the fault of the first if none could. */
export function keepReadable<Own extends Presented>(read: readonly (Own | Fault)[]): readonly Own[] | Fault {
  const readable = read.flatMap((each) => ('detail' in each ? [] : [each]));
  const [first] = read;
  return readable.length === 0 && first !== undefined && 'detail' in first ? first : readable;
}

/** Why a request is refused whose credentials could be read. */
export type RefusalReason =
  | 'unknown-user'
  | 'signature'
  | 'expired-key'
  | 'content'
  | 'time'
  | 'expired'
  | 'before-start'
  | 'replayed';

/** A refusal of a request whose credentials could be read. */
export interface Refusal<Own extends Presented = Presented> {
  readonly reason: RefusalReason;
  readonly presented: Own;
  /** One sentence for the client. */
  readonly detail: string;
  /** The explanation; empty if errors contain none. */
  readonly members: Members;
  /** The time of the server's clock (ms). */
  readonly now: number;
  /** The content, if the message contains it. */
  readonly content: Uint8Array;
  /** The digest that the content has, if that is the reason. */
  readonly computed: string | undefined;
}

/** How the time of a request is judged. */
export interface TimeRule {
  /** The subject of sentences about it: `The date`. */
  readonly subject: string;
  /** Maximum difference (ms, inclusive) between the time and the clock, in either direction. */
  readonly window: number;
  /** How long (ms) the nonce of a request without a time is stored. Default: it is not claimed. */
  readonly undated?: number;
  /** 1000 if times are whole seconds, so that fractions of the clock are ignored; otherwise 1. */
  readonly resolution: 1 | 1000;
  /** Whether an expiry takes the place of the window after the time. Default: both are judged. */
  readonly expiryReplacesWindow?: boolean;
}

/** How shared secrets sign. Explanations try other secrets, keys and hash functions. */
export interface Mac {
  /**
   * The hash function of HMAC, as node:crypto knows it; undefined if `sign` computes the signature, or if the key itself is the
   * signature.
   */
  readonly hash: string | undefined;
  /** How the text of a secret contains the key. */
  readonly encoding: 'utf8' | 'hex' | 'base64';
  /** A prefix of the secret that does not belong to the key: `whsec_`. Default: none. */
  readonly prefix?: string | undefined;
  /** Returns the key of HMAC; undefined if the secret is not in this encoding. */
  readonly key: (secret: Buffer) => Buffer | undefined;
  /** Computes the signature if it is no HMAC. May throw. */
  readonly sign?: ((key: Buffer, message: Buffer) => Buffer) | undefined;
}

/** A message that a client may have signed by mistake. */
export interface MessageMistake {
  readonly hint: string;
  readonly message: Buffer;
  /** The part that differs, and what was signed in its place; undefined if more than one part differs. */
  readonly differs?: { readonly name: string; readonly signed: Piece };
}

/** How requests are judged beside their signatures. */
export interface Rules {
  /** The name of the check of the signature. */
  readonly check: 'digest' | 'signature' | 'secret';
  /** What is wrong if the signature is, in one sentence that does not show whether the user exists. */
  readonly wrong: string;
  /** What has the keys, in explanations. Default: a user. */
  readonly owner?: KnownSecret['owner'];
  /** How the time is judged. Default: requests have no time. */
  readonly time?: TimeRule | undefined;
  /** Whether a message without a nonce is accepted only once. Default: false. */
  readonly refusesReplays?: boolean;
  /** The name of the check of the digest, which a request with content passes. Default: it is not recorded. */
  readonly digestCheck?: string;
}

/** What explanations try beside the mistakes of every scheme. */
export interface OwnMistakes<Own extends Presented = Presented> {
  /** Returns how shared secrets sign; undefined if they do not. Omitted if mistakes in the use of a secret are not explained. */
  mac?(presented: Own): Mac | undefined;
  /** Returns the values that clients sign in place of a part, beside those of its kind. Default: none. */
  part?(part: Part, presented: Own, content: Uint8Array): Iterable<Variant>;
  /** Returns the messages that clients sign by mistake. Default: none. */
  message?(presented: Own, parts: readonly Part[], content: Uint8Array): Iterable<MessageMistake>;
  /** Returns the keys that clients derive by mistake. Their number does not depend on the secret. Default: none. */
  key?(secret: Buffer, presented: Own): readonly (readonly [hint: string, key: Buffer])[];
  /** Returns the credentials with another signature, in base64. Default: nothing but `signatures` changes. */
  withSignature?(presented: Own, signature: string): Own;
  /** Returns members that the explanation of a refusal has: the whole message. Default: none. */
  members?(presented: Own, content: Uint8Array, reason: RefusalReason): Members;
}

/** A signature scheme as a value. `Holder` is what its `find` returns. */
export interface SchemeVerification<Own extends Presented = Presented, Holder extends KeyHolder = KeyHolder> {
  readonly rules: Rules;
  /** Adds what the content presents, or returns why the signature cannot cover it. Default: nothing is added. */
  complete?(presented: Own, content: Uint8Array): Own | Fault;
  /** Finds the holder of the key. */
  find(presented: Own): MaybePromise<Holder | undefined>;
  /** Returns the message in named parts; several if one signature may fit several messages. */
  messages(presented: Own, content: Uint8Array): readonly (readonly Part[])[];
  /** Returns the octets that are signed. Parts may be missing, or in another order. Default: the values of the parts. */
  join?(parts: readonly Part[], presented: Own): readonly Piece[];
  /** Returns whether a key made one of the signatures. The time does not depend on where they differ. */
  verify(key: Key, message: readonly Piece[], presented: Own): boolean;
  /** Returns a fault in the form of a signature that turned out to be wrong. Default: none. */
  signatureFault?(presented: Own): Fault | undefined;
  /**
   * Returns why a valid signature is refused for the key that made it, or for its holder, such as a token that has expired. Default:
   * it is not.
   */
  accept?(presented: Own, key: Key, holder: Holder): MaybePromise<Fault | undefined>;
  /** Returns why the content does not have the digest that is signed. Default: nothing of the kind is signed. */
  digestFault?(presented: Own, content: Uint8Array): MaybePromise<DigestFault | undefined>;
  /** In what signatures by private keys differ from those of RFC 9421. Default: in nothing. */
  readonly variant?: SignatureVariant;
  /** The mistakes that only clients of this scheme make. Default: none, and mistakes in the use of a secret are not explained. */
  readonly mistakes?: OwnMistakes<Own>;
  /** Returns the Problem of a refusal in the form of a partner. Default: a problem document. */
  problem?(refusal: Refusal<Own>): Problem;
}

/** A signature scheme that reads its credentials without the content. */
export interface RequestVerification<Own extends Presented = Presented> extends SchemeVerification<Own> {
  /**
   * Reads the credentials; several if one of several signatures is enough. Then all are verified, because the nonces of all valid
   * ones are claimed, so the scheme limits their number. `rest` is Authorization after the scheme.
   */
  parse(request: IncomingRequest, rest: string): Own | readonly Own[] | Fault;
}

/** Why content does not have the digest that is signed. */
export interface DigestFault {
  readonly detail: string;
  /** Returns the explanation, or the function that makes it when it is read, limited to the time of a server or not. */
  readonly explain: () => MaybePromise<
    Members | ((isLimited: boolean) => Members & { readonly hint: string })
  >;
  /** The digest that the content has. Default: it is not shown. */
  readonly computed?: string;
}

/** Returns the octets that are signed, in pieces. */
export function assembleMessage<Own extends Presented>(
  scheme: SchemeVerification<Own>,
  parts: readonly Part[],
  presented: Own,
): readonly Piece[] {
  if (scheme.join !== undefined) return scheme.join(parts, presented);
  const pieces: Piece[] = [];
  for (const { value } of parts) pieces.push(value);
  return pieces;
}

/** Returns the fault of a valid signature whose key may not have made it. Only the holder of the key receives the hint. */
export function wrongKey(wrong: string, hint: string): Fault {
  return { detail: wrong, hint, check: 'alg', type: 'credentials-refused' };
}
