// A wrong signature, and the messages that may have been signed in place of the right one.

import { timingSafeEqual } from 'node:crypto';
import type { AccountKey } from '../../accounts/account-key.ts';
import type { Account } from '../../accounts/accounts.ts';
import type { Decoys, Key, KeyHolder } from '../../accounts/keyring.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { addressedAuthority } from '../../http/target.ts';
import { messageBytes, type Part, type Piece } from '../message.ts';
import { assembleMessage, type MessageMistake, type Presented, type SchemeVerification } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { TraceKnowledge } from '../trace.ts';
import { verificationTime } from './budget.ts';
import { signWith } from './key.ts';
import type { Facts, Variant } from './mistake.ts';
import { furtherVariantsOfPart, variantsOfPart } from './parts.ts';
import { readings, usualReadings } from './times.ts';
import {
  additions,
  endMistakes,
  omissions,
  orderMistakes,
  separatorMistakes,
  versionMistakes,
  wholeMistakes,
} from './whole.ts';

/** A request whose signature no key of the user made, when it is refused. */
export interface RefusedSignature<Own extends Presented = Presented> {
  readonly scheme: SchemeVerification<Own>;
  readonly presented: Own;
  /** Undefined if the user does not exist. */
  readonly holder: KeyHolder | undefined;
  readonly content: Uint8Array;
  readonly decoys: Decoys;
  /** What a test double knows. Default: nothing. */
  readonly knowledge: TraceKnowledge | undefined;
  readonly context: SchemeContext;
}

/** Such a request with all that its explanation depends on: later changes of users do not change it. */
export interface WrongSignature<Own extends Presented = Presented>
  extends Omit<RefusedSignature<Own>, 'context'> {
  /** Content that the scheme does not read, if a test double has it. */
  readonly arrived: Uint8Array | undefined;
  /** The account of the user, if a test double has it. */
  readonly account: Account | undefined;
  /** The keys of all users that a test double knows, if the signature may be one by a private key. */
  readonly others: readonly OthersKey[];
}

/** A key of any user. */
export interface OthersKey {
  readonly id: string;
  readonly user: string;
  readonly key: AccountKey;
}

/** The mistake that made the signature. */
export interface Found {
  readonly hint: string;
  readonly message?: Buffer;
  readonly differs?: MessageMistake['differs'];
}

/** Returns what the request shows beside its parts. */
export function readFacts({ request, target = request.target, time }: Presented, content: Uint8Array): Facts {
  const host = addressedAuthority(request.target, request.headers);
  return { request, target, host, content, time };
}

/** Returns the messages of which the signature must fit one. */
export function buildRightMessages<Own extends Presented>(
  { scheme, presented }: Pick<WrongSignature<Own>, 'scheme' | 'presented'>,
  content: Uint8Array,
): Buffer[] {
  return scheme
    .messages(presented, content)
    .map((parts) => messageBytes(assembleMessage(scheme, parts, presented)));
}

/**
 * Yields the messages that clients sign by mistake, most likely first, without those that equal a right one or an earlier one.
 * Each is built when it is asked for.
 */
export function* messageMistakes<Own extends Presented>(
  wrong: SearchedSignature<Own>,
  parts: readonly Part[],
  right: Buffer,
  read: Uint8Array,
): Generator<MessageMistake> {
  if (parts.length === 0) return;
  const rights = buildRightMessages(wrong, read);
  const content = read.length === 0 ? (wrong.arrived ?? read) : read;
  const isRight = ({ message }: MessageMistake): boolean => rights.some((each) => each.equals(message));
  const seen = new Set<string>();
  for (const mistake of buildMistakes(wrong, parts, right, content)) {
    if (isRight(mistake)) continue;
    const { message } = mistake;
    if (message.length > longestRemembered || seen.size < seen.add(octetsOf(message)).size) yield mistake;
  }
}

/** The longest message (bytes) that is remembered, so that one that equals it is not tried again. */
const longestRemembered = 65_536;

/** What the messages depend on. */
type SearchedSignature<Own extends Presented> = Pick<WrongSignature<Own>, 'scheme' | 'presented'> &
  Partial<Pick<WrongSignature<Own>, 'arrived' | 'knowledge'>>;

function* buildMistakes<Own extends Presented>(
  { scheme, presented, knowledge }: SearchedSignature<Own>,
  parts: readonly Part[],
  right: Buffer,
  content: Uint8Array,
): Generator<MessageMistake> {
  const facts = readFacts(presented, content);
  const assemble = (changed: readonly Part[]): readonly Piece[] =>
    assembleMessage(scheme, changed, presented);
  const buildChanged = function* (at: number, variants: Iterable<Variant>): Generator<MessageMistake> {
    const part = parts[at];
    if (part === undefined) return;
    for (const [hint, signed] of variants)
      yield {
        hint,
        message: messageBytes(assemble(parts.with(at, { ...part, value: signed }))),
        differs: { name: part.name, signed },
      };
  };
  const changes = parts.map(function* (part, at): Generator<MessageMistake> {
    yield* buildChanged(at, scheme.mistakes?.part?.(part, presented, content) ?? []);
    yield* buildChanged(at, variantsOfPart(part, facts));
  });
  const own = scheme.mistakes?.message?.(presented, parts, content) ?? [];
  const times = readings(parts, presented.time, usualReadings, assemble);
  yield* takeTurns([own, endMistakes(right, parts), ...changes, times]);
  yield* omissions(parts, assemble);
  yield* separatorMistakes(parts, assemble);
  yield* versionMistakes(parts, assemble);
  // The order of the parts of a canonical form is that of the form.
  if (scheme.join === undefined) yield* orderMistakes(parts, assemble);
  yield* wholeMistakes(right);
  yield* additions(parts, facts, presented.user, assemble);
  // To build them takes longer than a server has.
  if (knowledge?.isLimited === false)
    yield* takeTurns(parts.map((part, at) => buildChanged(at, furtherVariantsOfPart(part, facts))));
}

/** Yields the first item of each list, then the second ones: a budget that ends early has tried the likely ones of each. */
function* takeTurns<Item>(lists: readonly Iterable<Item>[]): Generator<Item> {
  let iterators = lists.map((list) => list[Symbol.iterator]());
  while (iterators.length > 0) {
    const left: Iterator<Item>[] = [];
    for (const iterator of iterators) {
      const step = iterator.next();
      if (step.done === true) continue;
      yield step.value;
      left.push(iterator);
    }
    iterators = left;
  }
}

/** Creates the function that returns whether a signature was presented. Its time does not depend on where signatures differ. */
export function createSignatureTest({ signatures }: Presented): (signature: Buffer) => boolean {
  const given = signatures.map((text) => Buffer.from(text, 'base64')).filter(({ length }) => length > 0);
  return (signature) =>
    given.filter((bytes) => bytes.length === signature.length && timingSafeEqual(bytes, signature)).length >
    0;
}

/** Creates the function that returns whether a key made the signature of a mistaken message. The key is derived once. */
export function createTry<Own extends Presented>(
  key: Key,
  scheme: SchemeVerification<Own>,
  presented: Own,
): (mistake: MessageMistake) => boolean {
  if (key.kind !== 'secret') return ({ message }) => scheme.verify(key, [message], presented);
  const mac = scheme.mistakes?.mac?.(presented);
  if (mac === undefined) return () => false;
  const bytes = key.secret.derive((secret) => mac.key(secret) ?? secret);
  const isGiven = createSignatureTest(presented);
  return ({ message }) => isGiven(signWith(mac, bytes, message));
}

/** Returns the estimated time (µs) to build a mistaken message of this length (bytes) and to try it with all keys. */
export function searchTime(keys: readonly Key[], length: number): number {
  let time = verificationTime('secret', length);
  for (const { kind } of keys) time += verificationTime(kind, length);
  return time;
}
