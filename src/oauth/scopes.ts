import { knownScopes, type Scope } from '../principal.ts';

export { knownScopes };

/** What is asked for where nothing is said (RFC 6749 §3.3). */
export const defaultScopes: readonly Scope[] = ['read'];

/** Reads a scope as it is sent: words with one space between them (RFC 6749 §3.3). Undefined where a word is not known here. */
export function parseScope(text: string): readonly Scope[] | undefined {
  const words = text.split(' ');
  if (!words.every((word) => knownScopes.some((scope) => scope === word))) return undefined;
  return knownScopes.filter((scope) => words.includes(scope));
}

/** Writes scopes as they are sent. */
export function formatScope(scopes: readonly Scope[]): string {
  return scopes.join(' ');
}

/** Whether all of these are among those. */
export function isWithin(asked: readonly Scope[], allowed: readonly Scope[]): boolean {
  return asked.every((scope) => allowed.includes(scope));
}

/** What is in both. */
export function commonScopes(scopes: readonly Scope[], others: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => others.includes(scope));
}
