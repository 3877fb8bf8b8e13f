import { formatOf } from '../formats/index.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from '../oauth/records.ts';
import type { Entry } from '../store/store.ts';
import type { Collection } from './declaration.ts';
import { collectionFinder } from './seed.ts';

/** Thrown for a stored item that its collection's changed declaration cannot represent. */
export class StoredDataError extends Error {
  override readonly name = 'StoredDataError';
  readonly code = 'misfit';
}

/**
 * Creates a function that checks a stored item. It throws a StoredDataError for an item that cannot be
 * written, and for an invalid token or grant of OAuth. It accepts an item that violates only a rule that was
 * added later, and ignores items of undeclared collections.
 */
export function createStoredDataCheck(
  collections: readonly Collection[],
): (path: string, entry: Entry) => void {
  const collectionAt = collectionFinder(collections);
  let last: { readonly path: string; readonly collection: Collection | undefined } | undefined;
  return (path, entry) => {
    if (path === tokensCollection || path === grantsCollection) return checkOAuthRecord(path, entry);
    if (last?.path !== path) last = { path, collection: collectionAt(path) };
    if (last.collection === undefined) return;
    try {
      formatOf(undefined).writeItem(last.collection.shape, entry.value);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const advice =
        'restore the declaration, or edit or remove the item with "countersign export" and "countersign import"';
      throw new StoredDataError(`${path}/${entry.id} does not match its declaration: ${reason}; ${advice}`, {
        cause,
      });
    }
  };
}

function checkOAuthRecord(path: string, entry: Entry): void {
  const record = path === tokensCollection ? readToken(entry) : readGrant(entry);
  if (record !== undefined) return;
  const what = path === tokensCollection ? 'token' : 'grant';
  throw new StoredDataError(
    `${path}/${entry.id} is not an OAuth ${what}; remove it with "countersign export --with-tokens" and "countersign import"`,
  );
}
