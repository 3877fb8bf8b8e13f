// Checks the time and the nonce of a signature that is valid otherwise.
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { HeldNonce } from '../../principal.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import { describeDistance, wrongClock, zoneHoursOf } from '../freshness.ts';
import { type RefusedNonce, unclaimableNonce } from '../nonce-claim.ts';
import type { BadVerdict, Verdict } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { AuthenticationTrace, TraceDetails } from '../trace.ts';
import type { Holder, Verifiers } from './keys.ts';
import type { KnownComponents } from './known-components.ts';
import type { MessageSignaturesOptions } from './options.ts';
import type { Candidate, Requirements } from './requirements.ts';

/** The parts that every verification uses. */
export interface Verification {
  readonly name: string;
  readonly options: MessageSignaturesOptions;
  readonly context: SchemeContext;
  readonly requirements: Requirements;
  readonly known: KnownComponents;
  readonly verifiers: Verifiers;
}

/** A request that is being verified. */
export interface Presented {
  readonly request: Request;
  readonly message: RequestMessage;
  readonly claimed: string | undefined;
  readonly authTrace: AuthenticationTrace | undefined;
  /** Whether the nonce may be claimed with the change of the request. */
  readonly deferrable: boolean;
}

/** A refusal that is explained only if no other signature of the request is accepted. */
export interface Refusal {
  /** The number of checks that the signature passed. The refusal with the most is reported. */
  readonly passed: number;
  readonly verdict: () => Verdict | Promise<Verdict>;
}

/** A refusal for which nothing has to be loaded. */
export interface KnownRefusal extends Refusal {
  readonly verdict: () => BadVerdict;
}

/** Returns the verdict of a refusal. */
export function bad(problem: Problem, claimed: string | undefined): BadVerdict {
  return claimed === undefined ? { outcome: 'bad', problem } : { outcome: 'bad', problem, claimed };
}

/** Returns a refusal that is explained to a holder of the key. */
export function refusal(
  passed: number,
  { context }: Verification,
  { claimed, authTrace }: Presented,
  check: string,
  type: 'credentials-refused' | 'date-out-of-window' | 'nonce-replayed',
  detail: string,
  details: TraceDetails,
): KnownRefusal {
  return {
    passed,
    verdict: () => {
      for (const name of ['parse', 'user', 'signature', 'date'].slice(0, passed + 1)) authTrace?.pass(name);
      authTrace?.fail(check, details);
      const members = context.explain ? { check, ...details } : {};
      return bad(new Problem(type, detail, { members }), claimed);
    },
  };
}

/** Returns a refusal if the time of a signature is outside the window, or it has expired. */
export function dateFault(
  verification: Verification,
  presented: Presented,
  { created, parameters }: Candidate,
  now: number,
): Refusal | undefined {
  const { options, context } = verification;
  const second = Math.floor(now / 1000);
  const { expires, nonce } = parameters;
  const off = created - second;
  if (Math.abs(off) > options.window) {
    const detail = describeDistance('created', off, options.window);
    return dateRefusal(verification, presented, detail, createdHint(created, second));
  }
  if (expires !== undefined && second > expires) {
    const detail = `The signature expired ${second - expires} s ago.`;
    const hint = 'the time in expires has passed; sign the request again';
    return dateRefusal(verification, presented, detail, hint);
  }
  if (
    nonce === undefined ||
    context.notBefore === undefined ||
    created >= Math.floor(context.notBefore / 1000)
  )
    return undefined;
  const detail = 'created is before the start of this server, which does not know the nonces used before.';
  return dateRefusal(verification, presented, detail, 'sign the request again');
}

function dateRefusal(
  verification: Verification,
  presented: Presented,
  detail: string,
  hint: string,
): Refusal {
  const serverTime = Math.floor(verification.context.clock.now() / 1000);
  const details = { hint, serverTime };
  return refusal(2, verification, presented, 'date', 'date-out-of-window', detail, details);
}

/** Returns the likely cause of a wrong time. */
function createdHint(created: number, second: number): string {
  if (Math.abs(created / 1000 - second) < 86_400) return 'created is in milliseconds; it must be in seconds';
  const hours = zoneHoursOf(created - second);
  return hours === undefined
    ? wrongClock
    : `created is off by ${hours} h: probably a time zone; it must be in UTC`;
}

/** Returns the nonce to claim; undefined if there is none, or nonces are not used. */
export function nonceOf(
  { options, context }: Verification,
  { created, parameters: { nonce } }: Candidate,
  { account }: Holder,
): HeldNonce | undefined {
  if (nonce === undefined || options.nonce === 'off') return undefined;
  // Until the time is outside the nonce window, to the end of its second.
  return { user: account.name, nonce, until: created * 1000 + context.nonceWindow + 999 };
}

/** Returns the refusal of a nonce that was used before or cannot be stored. */
export function nonceRefusal(
  verification: Verification,
  presented: Presented,
  claimed: RefusedNonce,
  now: number,
): KnownRefusal {
  if (claimed === 'seen') {
    const hint = 'generate a new nonce for every request, including retries';
    const detail = 'The user has already used this nonce.';
    return refusal(3, verification, presented, 'nonce', 'nonce-replayed', detail, { hint });
  }
  const problem = unclaimableNonce(claimed, verification.options.window * 1000, now);
  const verdict = (): BadVerdict => {
    presented.authTrace?.fail('nonce');
    return bad(problem, presented.claimed);
  };
  return { passed: 3, verdict };
}
