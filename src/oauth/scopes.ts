import { isKnownScope, knownScopes, type Scope } from '../principal.ts';

/** The scope of a request that does not name one (RFC 6749 §3.3). */
const defaultScopes: readonly Scope[] = ['read'];

/** Returns the scope of a request that does not name one, to a client that is registered for these: `read`, or all of a partner. */
export function defaultScopesFor(registered: readonly Scope[]): readonly Scope[] {
  const others = registered.filter((scope) => scope !== 'openid');
  return others.every(isKnownScope) ? defaultScopes : others;
}

/**
 * Parses a scope parameter: words separated by one space (RFC 6749 §3.3). Returns undefined if a word is not a supported scope.
 * @param further supported scopes beside `read` and `write`
 */
export function parseScope(text: string, further: readonly Scope[] = []): readonly Scope[] | undefined {
  const words = text.split(' ');
  const supported = [...new Set<Scope>([...knownScopes, ...further])];
  if (!words.every((word) => supported.includes(word))) return undefined;
  return supported.filter((scope) => words.includes(scope));
}

/** Formats scopes as a scope parameter. */
export function formatScope(scopes: readonly Scope[]): string {
  return scopes.join(' ');
}

/** Returns whether all requested scopes are allowed. */
export function isWithin(requested: readonly Scope[], allowed: readonly Scope[]): boolean {
  return requested.every((scope) => allowed.includes(scope));
}

/** Returns the scopes that are in both lists. */
export function intersectScopes(scopes: readonly Scope[], others: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => others.includes(scope));
}
