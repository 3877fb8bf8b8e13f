import type { Store, StoreChange, StoredReceipt, StoreResult } from '../../../src/store/store.ts';

/** Ways in which a store of receipts can be wrong. */
export type ReceiptFault =
  | 'applied again'
  | 'checked too early'
  | 'stored without its change'
  | 'of the current item'
  | 'never expired'
  | 'of a collection'
  | 'always created'
  | 'counted for all users';

/** Adds receipts to a store in memory. */
export function withReceipts(store: Store, fault?: ReceiptFault): Store & Required<Pick<Store, 'receipt'>> {
  const receipts = new Map<string, StoredReceipt>();
  const formatKey = (key: string, collection: string): string =>
    fault === 'of a collection' ? `${collection} ${key}` : key;
  const find = (key: string, now: number): StoredReceipt | undefined => {
    const found = receipts.get(key);
    return found !== undefined && (found.receipt.until >= now || fault === 'never expired')
      ? found
      : undefined;
  };
  let previous = Promise.resolve();
  const inTurn = <T>(make: () => Promise<T>): Promise<T> => {
    const made = previous.then(make);
    previous = made.then(
      () => {},
      () => {},
    );
    return made;
  };
  const apply = async (change: StoreChange, isStored: boolean): Promise<StoreResult> => {
    const { receipt, collection, kind } = change;
    if (receipt === undefined) return store.apply(change);
    if (isStored && fault !== 'applied again') return { applied: false };
    const existed = kind === 'put' && (await store.read(collection, change.id)) !== undefined;
    // The store must not store the receipt itself.
    const result = await store.apply({ ...change, receipt: undefined });
    const created = fault === 'always created' || (kind !== 'delete' && !existed);
    const entry = result.applied
      ? result.entry
      : { id: '', sequence: 0, revision: 0, modified: 0, value: {} };
    if (result.applied || fault === 'stored without its change')
      receipts.set(formatKey(receipt.key, collection), { receipt, kind, created, collection, entry });
    return result;
  };
  const isStored = ({ receipt, collection, at }: StoreChange): boolean =>
    receipt !== undefined && find(formatKey(receipt.key, collection), at) !== undefined;
  return {
    ...store,
    apply(change) {
      const stored = isStored(change);
      return inTurn(() => apply(change, fault === 'checked too early' ? stored : isStored(change)));
    },
    receiptsOf(user, now) {
      const counted = [...receipts.values()].filter(
        ({ receipt: { user: owner, until } }) =>
          until >= now && (owner === user || fault === 'counted for all users'),
      );
      const freeAt = counted.map(({ receipt }) => receipt.until).sort((a, b) => a - b)[0];
      const size = counted.reduce((sum, { entry }) => sum + JSON.stringify(entry.value).length, 0);
      return { count: counted.length, size, freeAt };
    },
    async receipt(key, now) {
      const found = find(key, now) ?? (fault === 'of a collection' ? find(`/a ${key}`, now) : undefined);
      if (found === undefined || fault !== 'of the current item') return found;
      const entry = await store.read(found.collection, found.entry.id);
      return entry === undefined ? undefined : { ...found, entry };
    },
  };
}
