import { formatOf } from '../formats/index.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from '../oauth/records.ts';
import type { Entry } from '../store/store.ts';
import type { Collection } from './declaration.ts';
import { collectionFinder } from './seed.ts';

/** Something is kept in a form that its collection's declaration, which was changed since, cannot write any more. */
export class StoredDataError extends Error {
  override readonly name = 'StoredDataError';
  readonly code = 'misfit';
}

/**
 * Makes what looks at each item that was kept before: it throws a StoredDataError for one that could not be read by any
 * client, or that is no token or grant of OAuth. What only breaks a rule that was added since stays as it is. Items of no declared collection are passed over.
 */
export function createStoredDataCheck(
  collections: readonly Collection[],
): (path: string, entry: Entry) => void {
  const collectionAt = collectionFinder(collections);
  let last: { readonly path: string; readonly collection: Collection | undefined } | undefined;
  return (path, entry) => {
    if (path === tokensCollection || path === grantsCollection) return judgeOAuth(path, entry);
    if (last?.path !== path) last = { path, collection: collectionAt(path) };
    if (last.collection === undefined) return;
    try {
      formatOf(undefined).writeItem(last.collection.shape, entry.value);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const advice =
        'restore the declaration, or edit or remove the item with "countersign export" and "countersign import"';
      throw new StoredDataError(`${path}/${entry.id} does not fit its declaration: ${reason}; ${advice}`, {
        cause,
      });
    }
  };
}

function judgeOAuth(path: string, entry: Entry): void {
  const known = path === tokensCollection ? readToken(entry) : readGrant(entry);
  if (known !== undefined) return;
  const what = path === tokensCollection ? 'token' : 'grant';
  throw new StoredDataError(
    `${path}/${entry.id} is not a valid ${what} of OAuth; remove it with "countersign export --with-tokens" and "countersign import"`,
  );
}
