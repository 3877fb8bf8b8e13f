import type { AcceptedSchemes, Verifier } from './verifier.ts';

/** Returns the alternatives as lists of names. */
export function listAlternatives(accepted: AcceptedSchemes): readonly (readonly string[])[] {
  return accepted.map((names) => (typeof names === 'string' ? [names] : names));
}

/** Returns whether a scheme is accepted, alone or together with others. */
export function isAccepted({ name }: Verifier, accepted: AcceptedSchemes | undefined): boolean {
  return accepted === undefined || listAlternatives(accepted).some((names) => names.includes(name));
}

/** Returns the alternatives for a client: `aws4, key with hmac`. */
export function describeAccepted(accepted: AcceptedSchemes): string {
  const named = listAlternatives(accepted).filter((names) => names.length > 0);
  return [...new Set(named.map((names) => names.join(' with ')))].join(', ');
}
