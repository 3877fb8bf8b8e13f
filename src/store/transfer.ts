import type { Store } from './store.ts';

/**
 * The methods of a store whose whole content can be moved to another store and back. Numbers, times and ids are preserved, so that
 * entity tags remain valid and no id is used again.
 */
export type Transferable = Required<Pick<Store, 'exportState' | 'importState'>>;

/** Returns whether the content of a store can be transferred. */
export function isTransferable<T extends Store>(store: T): store is T & Transferable {
  return typeof store.exportState === 'function' && typeof store.importState === 'function';
}
