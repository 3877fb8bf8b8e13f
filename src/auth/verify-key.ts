// Finds the key that made a signature. Refusals cost the same, whatever keys the user has and whether or not the user exists.

import type { Piece } from '../signature/message.ts';
import { fits, isCurrent, type Key, type KeyHolder, minKeys, selectSamples } from './keyring.ts';
import { assembleMessage, type Presented, type SchemeVerification } from './scheme.ts';
import type { Verification } from './scheme-context.ts';

/** The key that made a signature. */
interface SigningKey {
  readonly key: Key | undefined;
  /** Whether an expired key made it. */
  readonly isExpired: boolean;
}

const noKeys: readonly Key[] = [];

/** Returns the messages that the signature may fit. */
export function assembleMessages<Own extends Presented>(
  presented: Own,
  content: Uint8Array,
  scheme: SchemeVerification<Own>,
): readonly (readonly Piece[])[] {
  const messages: (readonly Piece[])[] = [];
  for (const parts of scheme.messages(presented, content))
    messages.push(assembleMessage(scheme, parts, presented));
  return messages;
}

/**
 * Finds the valid key that made one of the signatures. A refusal tries at least two keys of each kind and length, whatever keys the
 * user has, valid or expired, and whether or not the user exists.
 */
export function findSigningKey<Own extends Presented>(
  presented: Own,
  messages: readonly (readonly Piece[])[],
  holder: KeyHolder | undefined,
  now: number,
  { scheme, decoys }: Verification<Own>,
): SigningKey {
  let isExpired = false;
  for (const kind of presented.kinds) {
    for (const sample of selectSamples(kind, presented.signatures)) {
      let tried = 0;
      for (const key of holder?.keys ?? noKeys) {
        if (key.kind !== kind || !fits(key, sample)) continue;
        tried += 1;
        for (const message of messages) {
          if (!scheme.verify(key, message, presented)) continue;
          if (isCurrent(key, now)) return { key, isExpired };
          isExpired = true;
        }
      }
      for (; tried < minKeys; tried += 1) {
        const decoy = decoys.of(kind, sample);
        for (const message of messages) scheme.verify(decoy, message, presented);
      }
    }
  }
  return { key: undefined, isExpired };
}
