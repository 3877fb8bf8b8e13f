import { masterKeyPath } from '../../accounts/master-key.ts';
import { grantsCollection, readToken, tokensCollection } from '../../oauth/records.ts';
import type { State } from '../../store/state/state.ts';

/** What a collection is called where people read of it. */
export function collectionName(path: string): string {
  if (path === tokensCollection) return 'tokens of OAuth';
  if (path === grantsCollection) return 'grants of OAuth';
  return path;
}

/** Whether there are tokens of OAuth 1.0a that are good at this time (ms), if their secrets can be derived. */
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

/** What is told where the key is gone that their secrets were derived with. */
export function masterKeyGone(directory: string): string {
  return `${masterKeyPath(directory)} is gone, and the tokens of OAuth 1.0a that were issued are void: put it back, or let clients ask for new ones`;
}

/** Ends every token and grant: which of them were used or revoked is not known. Gives how many there were. */
export function endTokens(state: State, now: number): number {
  let ended = 0;
  for (const collection of [tokensCollection, grantsCollection]) {
    const view = [...state.collections()].find(({ path }) => path === collection);
    for (const { id, revision } of [...(view?.entries ?? [])]) {
      const prepared = state.prepare({ kind: 'delete', collection, id, expected: revision, at: now });
      if (prepared !== undefined) state.commit(prepared);
      ended += 1;
    }
  }
  return ended;
}
