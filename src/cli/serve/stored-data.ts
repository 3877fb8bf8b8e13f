import { createHash } from 'node:crypto';
import { masterKeyPath } from '../../accounts/master-key.ts';
import type { Collection } from '../../collections/declaration.ts';
import { type Mismatches, StoredDataCheck } from '../../collections/stored-data-check.ts';
import { grantsCollection, readToken, tokensCollection } from '../../oauth/records.ts';
import type { Scanned } from '../../store/scan.ts';
import type { State } from '../../store/state/state.ts';

/** Must be increased when the check becomes stricter. */
const version = 3;
/** The number of items from which a conforming store is marked; fewer are checked quickly. */
const minimumForMark = 3_000;

/** The result of a comparison. */
interface CheckedData {
  /** The items that do not conform; undefined if all do. */
  readonly mismatches: Mismatches | undefined;
  /** Identifies the declarations to which all items conform; undefined if some do not, or there are few items. */
  readonly declarations: string | undefined;
}

/**
 * Compares all stored items with the declared collections, unless a previous start did that with the same declarations: items
 * stored since then were validated against them. The comparison of a million items takes longer than loading them.
 *
 * @throws StoredDataError for an invalid token or grant of OAuth
 */
export function checkStoredData(
  { state, journals }: Pick<Scanned, 'state' | 'journals'>,
  collections: readonly Collection[],
): CheckedData {
  const declarations = computeDigest(collections);
  if (journals.at(-1)?.declarations === declarations) return { mismatches: undefined, declarations };
  const mismatches = checkAllStoredData(state, collections);
  const count = Array.from(state.collections()).reduce((sum, view) => sum + view.count, 0);
  const isMarked = mismatches === undefined && count >= minimumForMark;
  return { mismatches, declarations: isMarked ? declarations : undefined };
}

/** Compares all stored items with the declared collections. Throws StoredDataError as `checkStoredData` does. */
export function checkAllStoredData(state: State, collections: readonly Collection[]): Mismatches | undefined {
  const check = new StoredDataCheck(collections);
  for (const { path, entries } of state.collections()) for (const entry of entries) check.add(path, entry);
  return check.result();
}

/** Returns a digest of the declarations. */
function computeDigest(collections: readonly Collection[]): string {
  const forms = collections.map(({ path, form }) => [path, form]);
  forms.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify({ version, forms })).digest('hex');
}

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
