// Signatures for one sender while its key is rotated: several schemes that differ in nothing but the key.

import type { Principal } from '../principal.ts';
import type { Attempt } from './attempt.ts';
import type { FoundCredentials, Together } from './find-credentials.ts';
import type { VerifyOne } from './together.ts';
import type { Verdict, Verifier } from './verifier.ts';

/** Returns whether schemes sign for one sender whose key is rotated. */
export function areRotated([first, ...others]: readonly (Verifier | undefined)[]): boolean {
  const rotation = first?.rotation;
  return rotation !== undefined && others.every((other) => other?.rotation === rotation);
}

/** Returns whether alternatives are one signature each, for one sender whose key is rotated. */
export function isRotation(alternatives: readonly Together[]): boolean {
  return (
    alternatives.length > 1 &&
    alternatives.every(({ length }) => length === 1) &&
    areRotated(alternatives.map(([only]) => only?.scheme))
  );
}

/** Verifies signatures of which one valid one is enough. All are verified, because the nonces of all valid ones are claimed. */
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
