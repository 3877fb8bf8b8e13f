import type { Clock } from '../../clock.ts';
import type { Account, Secret } from '../accounts.ts';
import { ExplanationBudget } from '../explanation.ts';
import type { AuthenticationTrace } from '../trace.ts';
import { digestMembers, type Explanation, explainDigest } from './explain.ts';
import type { WrongDigest } from './known-mistakes.ts';

/** The options and state of the scheme that an explanation needs. */
export interface RefusalContext {
  /** Whether errors explain what the server checked. */
  readonly explain: boolean;
  /** Tried in place of a missing secret. */
  readonly dummySecret: Secret;
  readonly clock: Clock;
}

/**
 * Explains a wrong digest: in full in the trace, and in the response without revealing whether the user exists. Returns the
 * members of the Problem. Their names, the time to compute them and, for a client without the secret, their values do not depend
 * on the user. Only the trace of a test double tries other secrets than those of the user.
 */
export function explainRefusal(
  wrong: WrongDigest,
  account: Account | undefined,
  { explain, dummySecret, clock }: RefusalContext,
  authTrace: AuthenticationTrace | undefined,
): Explanation | Promise<Explanation> {
  authTrace?.pass('parse');
  if (account !== undefined) authTrace?.pass('user');
  if (!explain && authTrace === undefined) return {};
  const secrets = account?.secrets ?? [];
  const { request, signed, digest, user } = wrong;
  const budget = new ExplanationBudget(clock, authTrace);
  return explainDigest(request, signed, digest, secrets, dummySecret, budget, user).then(async (found) => {
    if (authTrace !== undefined) {
      const known = found ?? (await explainByKnowledge(wrong, account, authTrace));
      const usual = account === undefined ? noUser : secrets.length === 0 ? noSecret : otherSecret;
      const check = account === undefined ? 'user' : 'digest';
      authTrace.fail(check, digestMembers(signed, usual, known));
    }
    return explain ? { check: 'digest', ...digestMembers(signed, otherUserOrSecret, found) } : {};
  });
}

async function explainByKnowledge(
  wrong: WrongDigest,
  account: Account | undefined,
  { knowledge }: AuthenticationTrace,
) {
  if (knowledge === undefined) return undefined;
  const { explainWithKnowledge } = await import('./known-mistakes.ts');
  return explainWithKnowledge(wrong, account, knowledge);
}

const noUser = 'there is no user of this name';
const noSecret = 'the user has no secret';
const otherSecret = 'the secret is different, or the message differs in a way that is not a common mistake';
const otherUserOrSecret = `the user does not exist, ${otherSecret}`;
