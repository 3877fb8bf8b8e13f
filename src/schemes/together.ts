// Verifies credentials that a resource requires together, such as an API key and a signature.

import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { AuthFailures } from './challenges.ts';
import type { FoundCredentials, Together } from './find-credentials.ts';
import type { Attempt, Verdict } from './verifier.ts';

/** Verifies the credentials of one scheme, unless the verdict is known. Throws a Problem, and counts the failure, if they are refused. */
export type VerifyOne = (
  found: FoundCredentials,
  attempt: Attempt,
  verdict?: Verdict,
) => Principal | Promise<Principal>;

/** Verifies credentials that are required together. */
export async function verifyTogether(
  found: Together,
  attempt: Attempt,
  verify: VerifyOne,
  failures: AuthFailures,
): Promise<Principal | undefined> {
  const principals: Principal[] = [];
  for (const each of found) principals.push(await verify(each, attempt));
  const merged = mergePrincipals(principals);
  if (merged === undefined) throw refuseDifferentUsers(found, principals, attempt, failures);
  return merged;
}

function refuseDifferentUsers(
  [first]: Together,
  [principal]: readonly Principal[],
  attempt: Attempt,
  failures: AuthFailures,
): Problem {
  const problem = new Problem('credentials-refused', 'The credentials are those of different users.');
  if (first === undefined) return problem;
  return failures.count({ outcome: 'bad', problem, claimed: principal?.name }, attempt, first.scheme);
}

/**
 * Returns the principal of credentials that were sent together: the first that is a user's own or lent by one, otherwise the first,
 * with the rights of the token if one of them is a token. Returns undefined if they are those of different users.
 */
function mergePrincipals(principals: readonly Principal[]): Principal | undefined {
  const ofUsers = principals.filter(({ lent }) => lent?.users === undefined);
  const [main = principals[0]] = ofUsers;
  if (main === undefined || ofUsers.some(({ name }) => name !== main.name)) return undefined;
  const token = principals.find(({ lent }) => lent !== undefined)?.lent;
  const lent = main.lent ?? (token && { ...token, users: undefined });
  return {
    name: main.name,
    scheme: main.scheme,
    ...(lent !== undefined && { lent }),
  };
}

/** Verifies signatures for one sender whose key is rotated, of which one valid one is enough. All are verified, because the nonces of all valid ones are claimed. */
export async function verifyAny(found: Together, attempt: Attempt, verify: VerifyOne): Promise<Principal> {
  const { request } = attempt;
  const admitted: { readonly credentials: FoundCredentials; readonly verdict: Verdict }[] = [];
  for (const credentials of found) {
    const verdict = await credentials.scheme.authenticate(request, credentials.rest);
    if (verdict.outcome === 'good') admitted.push({ credentials, verdict });
    // Otherwise a repeated request would be admitted by its next signature.
    else if (verdict.problem.type === 'nonce-replayed') return verify(credentials, attempt);
  }
  const [first] = admitted;
  if (first !== undefined) return verify(first.credentials, attempt, first.verdict);
  const [refused] = found;
  if (refused === undefined) throw new RangeError('there are no credentials');
  return verify(refused, attempt);
}
