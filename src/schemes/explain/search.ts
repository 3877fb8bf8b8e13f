// One search for the mistake that made a wrong signature.

import { timingSafeEqual } from 'node:crypto';
import type { AccountKey } from '../../accounts/account-key.ts';
import type { Account } from '../../accounts/accounts.ts';
import type { Decoys, Key, KeyHolder } from '../../accounts/keyring.ts';
import { addressedAuthority } from '../../http/target.ts';
import { messageBytes, type Part, type Piece } from '../message.ts';
import {
  assembleMessage,
  type Mac,
  type MessageMistake,
  type Presented,
  type SchemeVerification,
} from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { TraceKnowledge } from '../trace.ts';
import { type Budgets, createBudgets, describeUntried, selectLongest, verificationTime } from './budget.ts';
import { signWith } from './key.ts';
import type { Facts } from './mistake.ts';

/** A request whose signature no key of the user made, when it is refused. */
export interface RefusedSignature {
  readonly scheme: SchemeVerification;
  readonly presented: Presented;
  /** Undefined if the user does not exist. */
  readonly holder: KeyHolder | undefined;
  readonly content: Uint8Array;
  readonly decoys: Decoys;
  /** What a test double knows. Default: nothing. */
  readonly knowledge: TraceKnowledge | undefined;
  readonly context: SchemeContext;
}

/** Such a request with all that its explanation depends on: later changes of users do not change it. */
export interface WrongSignature extends Omit<RefusedSignature, 'context'> {
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

/** A message that the signature may fit. */
export interface RightMessage {
  readonly parts: readonly Part[];
  readonly pieces: readonly Piece[];
  readonly message: Buffer;
}

/** Returns what the request shows beside its parts. */
export function readFacts({ request, target = request.target, time }: Presented, content: Uint8Array): Facts {
  const host = addressedAuthority(request.target, request.headers);
  return { request, target, host, content, time };
}

/** A search: what it is about, what it has tried, and what it has found. */
export class Search {
  readonly wrong: WrongSignature;
  readonly budgets: Budgets;
  /** The messages of which the signature must fit one. */
  readonly messages: readonly RightMessage[];
  /** How a shared secret signs; undefined if none does, or if mistakes in its use are not explained. */
  readonly mac: Mac | undefined;
  /** The content that arrived, whether the scheme reads it or not. */
  readonly content: Uint8Array;
  readonly facts: Facts;
  /** The message in which the mistake was made; otherwise the first one. */
  shown: RightMessage;
  found: Found | undefined;
  /** Why mistakes were not tried; undefined if all were. */
  untried: string | undefined;
  readonly #given: readonly Buffer[];

  constructor(wrong: WrongSignature) {
    const { scheme, presented, content, arrived, knowledge } = wrong;
    this.wrong = wrong;
    this.budgets = createBudgets(knowledge?.isLimited ?? true);
    this.messages = scheme.messages(presented, content).map((parts): RightMessage => {
      const pieces = this.assemble(parts);
      return { parts, pieces, message: messageBytes(pieces) };
    });
    this.mac = scheme.mistakes?.mac?.(presented);
    this.content = content.length === 0 ? (arrived ?? content) : content;
    this.facts = readFacts(presented, this.content);
    this.shown = this.messages[0] ?? { parts: [], pieces: [], message: Buffer.alloc(0) };
    this.#given = presented.signatures
      .map((text) => Buffer.from(text, 'base64'))
      .filter(({ length }) => length > 0);
    this.untried = this.#describeLength();
  }

  /** Returns why no mistakes are tried: a message or content that is long. */
  #describeLength(): string | undefined {
    const longest = selectLongest(this.budgets.isLimited);
    const { content } = this.wrong;
    if (content.length > longest) return describeUntried('content', content.length);
    const { length } = this.shown.message;
    return length > longest ? describeUntried('message', length) : undefined;
  }

  /** Returns the octets that are signed. Parts may be missing, or in another order. */
  assemble = (parts: readonly Part[]): readonly Piece[] =>
    assembleMessage(this.wrong.scheme, parts, this.wrong.presented);

  /** Returns a mistake in one part of a message. */
  change(parts: readonly Part[], at: number, hint: string, signed: Piece): MessageMistake {
    const part = parts[at];
    const changed = part === undefined ? parts : parts.with(at, { ...part, value: signed });
    return {
      hint,
      message: messageBytes(this.assemble(changed)),
      differs: { name: part?.name ?? '', signed },
    };
  }

  /** Whether a signature was presented. The time does not depend on where signatures differ. */
  isGiven = (signature: Buffer): boolean =>
    this.#given.filter((bytes) => bytes.length === signature.length && timingSafeEqual(bytes, signature))
      .length > 0;

  /** Returns whether a text, used as the secret, made the signature of a message. */
  isMadeWith(secret: string, message: Buffer): boolean {
    const bytes = Buffer.from(secret);
    const { mac } = this;
    return mac !== undefined && this.isGiven(signWith(mac, mac.key(bytes) ?? bytes, message));
  }

  /** Creates the function that returns whether a key made the signature of a mistaken message. The key is derived once. */
  createTry(key: Key): (mistake: MessageMistake) => boolean {
    const { scheme, presented } = this.wrong;
    if (key.kind !== 'secret') return ({ message }) => scheme.verify(key, [message], presented);
    const { mac } = this;
    if (mac === undefined) return () => false;
    const bytes = key.secret.derive((secret) => mac.key(secret) ?? secret);
    return ({ message }) => this.isGiven(signWith(mac, bytes, message));
  }
}

/** Returns the estimated time (µs) to build a mistaken message of this length (bytes) and to try it with all keys. */
export function searchTime(keys: readonly Key[], length: number): number {
  let time = verificationTime('secret', length);
  for (const { kind } of keys) time += verificationTime(kind, length);
  return time;
}
