import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { linesOf } from '../http/field-lines.ts';
import { type Attempt, attempt, type HeaderLine, type OutgoingRequest, taken } from './attempt.ts';
import { credentialAttempts } from './cases/credentials.ts';
import { freshnessAttempts } from './cases/freshness.ts';
import { hmacAttempts } from './cases/hmac.ts';
import { messageAttempts } from './cases/message.ts';
import { transportAttempts } from './cases/transport.ts';
import { createForger, type Forger } from './forger.ts';
import type { RequestSigner } from './signers.ts';

export type { Attempt, HeaderLine, OutgoingRequest, Transport } from './attempt.ts';
export {
  type AttackOptions,
  type AttackReport,
  type AttackResult,
  type AttackTarget,
  type AttackVerdict,
  attack,
} from './run.ts';
export {
  basicSigner,
  bearerSigner,
  type HmacSignerOptions,
  hmacSigner,
  oauth1Signer,
  type RequestSigner,
  type SigningChanges,
} from './signers.ts';

/** A good request before it is signed, as one would write it for `fetch`. */
export interface GoodRequest {
  /** `GET` when left out. */
  readonly method?: string;
  readonly url: string | URL;
  readonly headers?: Readonly<Record<string, string>> | readonly HeaderLine[];
  readonly body?: string | Uint8Array;
}

/** What the attempts go by. */
export interface AdversaryOptions {
  /** The clock that the server goes by; the host's when left out. Requests are dated when `adversary` is called. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Seconds that the server lets a date be off; 600 when left out. */
  readonly window?: number;
  /** Another user that the server knows: without one, nobody's name is borrowed. */
  readonly otherUser?: string;
  /** Whether strangers may send the request too: then it is not tried without credentials. */
  readonly open?: boolean;
  /** Gives that many random bytes. */
  readonly random?: (size: number) => Uint8Array;
}

/**
 * Makes of one good request those that a correct server must refuse, each with what to expect and why. What is tried
 * follows from the signer: where a signature does not cover the query, say, another query is no attempt. The first one
 * is the good request itself: unless that is taken, nothing that is refused means anything. Throws RangeError where the
 * signer does not sign the request, or signs the same one with the same date and nonce in two ways.
 * @example for (const { name, requests, expected } of adversary({ url }, hmacSigner({ user, secret }))) { … }
 */
export function adversary(
  request: GoodRequest,
  signer: RequestSigner,
  options: AdversaryOptions = {},
): Attempt[] {
  const { clock = systemClock, window = 600, otherUser, open = false, random = randomBytes } = options;
  const plain = outgoing(request);
  const now = clock.now();
  const forge = createForger({ plain, signer, now, window: window * 1000, otherUser, open, random });
  return [
    control(forge),
    ...credentialAttempts(forge),
    ...freshnessAttempts(forge),
    ...messageAttempts(forge),
    ...transportAttempts(forge),
    ...hmacAttempts(forge),
  ];
}

function outgoing({ method = 'GET', url, headers = {}, body }: GoodRequest): OutgoingRequest {
  const address = new URL(url);
  address.hash = '';
  return { method, url: address.href, headers: linesOf(headers), ...(body === undefined ? {} : { body }) };
}

function control(forge: Forger): Attempt {
  return attempt({
    name: 'the good request is taken',
    why: 'Unless it is, nothing that is refused means anything.',
    expected: taken,
    needs: forge.needs,
    requests: [forge.good()],
  });
}
