import { masterKeyPath } from '../../accounts/master-key.ts';
import { grantsCollection, readToken, tokensCollection } from '../../oauth/records.ts';
import type { State } from '../../store/state/state.ts';

/** Returns the name of a collection for messages. */
export function collectionName(path: string): string {
  if (path === tokensCollection) return 'OAuth tokens';
  if (path === grantsCollection) return 'OAuth grants';
  return path;
}

/** Returns whether there are OAuth 1.0a tokens that have not expired at this time (ms). */
export function hasOAuth1Tokens(state: State, now: number): boolean {
  for (const { path, entries } of state.collections()) {
    if (path !== tokensCollection) continue;
    for (const entry of entries) {
      const token = readToken(entry);
      if (token?.mechanism === 'oauth1' && token.expires > now && token.kind !== 'ticket') return true;
    }
  }
  return false;
}

/** Returns the warning for a missing master key, from which the secrets of OAuth 1.0a tokens are derived. */
export function formatMissingMasterKey(directory: string): string {
  return `${masterKeyPath(directory)} is missing, so issued OAuth 1.0a tokens are not valid: restore it, or request new tokens`;
}

/** Deletes all tokens and grants. Returns how many there were. */
export function deleteTokens(state: State, now: number): number {
  let deleted = 0;
  for (const collection of [tokensCollection, grantsCollection]) {
    const view = [...state.collections()].find(({ path }) => path === collection);
    for (const { id, revision } of [...(view?.entries ?? [])]) {
      const prepared = state.prepare({ kind: 'delete', collection, id, expected: revision, at: now });
      if (!('applied' in prepared)) state.commit(prepared);
      deleted += 1;
    }
  }
  return deleted;
}
