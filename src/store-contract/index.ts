import type { Check, CheckedStore } from './check.ts';
import { expectationChecks } from './expectations.ts';
import { historyChecks } from './histories.ts';
import { idChecks } from './ids.ts';
import { itemChecks } from './items.ts';
import { listChecks } from './lists.ts';
import { receiptChecks } from './receipts.ts';
import { storedNonceChecks } from './stored-nonces.ts';

export type { MaybePromise } from '../maybe-promise.ts';
export type { NoncesLost } from '../store/nonces/lost.ts';
export type { Claimed, ShareUsed } from '../store/nonces/nonces.ts';
export type {
  Applied,
  Change,
  Creation,
  Deletion,
  Entry,
  Page,
  Receipt,
  ReceiptCount,
  ReceiptedChange,
  RecordValue,
  Replacement,
  Store,
  StoredNonce,
  Value,
} from '../store/store.ts';
export { NonceRefusedError, StoreError } from '../store/store.ts';
export type { Check, CheckedNonces, CheckedStore, CheckOptions } from './check.ts';
export { noncesContract } from './nonces.ts';

/**
 * The rules of the interface `Store`, for any test runner. Each check opens a store of its own, and closes it. Checks of
 * nonces and receipts pass if the store has none.
 *
 * @example
 * // `test` is that of node:test, Vitest or Jest.
 * for (const { name, run } of storeContract) test(name, () => run(async () => createMyStore()));
 */
export const storeContract: readonly Check<CheckedStore>[] = [
  ...itemChecks,
  ...idChecks,
  ...listChecks,
  ...expectationChecks,
  ...historyChecks,
  ...storedNonceChecks,
  ...receiptChecks,
];
