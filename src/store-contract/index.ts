import type { CheckedStore, ContractCheck } from './check.ts';
import { expectationChecks } from './expectations.ts';
import { historyChecks } from './histories.ts';
import { idChecks } from './ids.ts';
import { itemChecks } from './items.ts';
import { listChecks } from './lists.ts';
import { receiptChecks } from './receipts.ts';
import { storedNonceChecks } from './stored-nonces.ts';

export type { MaybePromise } from '../maybe-promise.ts';
export type { NonceClaim } from '../principal.ts';
export { NonceRefusedError, StoreError } from '../store/errors.ts';
export type { NonceResult, ShareUsed } from '../store/nonces/nonces.ts';
export type { NoncesLost } from '../store/nonces/time.ts';
export type {
  Creation,
  Deletion,
  Receipt,
  ReceiptCount,
  Replacement,
  Store,
  StoreChange,
  StoredItem,
  StoredPage,
  StoredReceipt,
  StoredRecord,
  StoredValue,
  StoreResult,
} from '../store/store.ts';
export type { CheckedNonces, CheckedStore, ContractCheck, ContractOptions } from './check.ts';
export { nonceContract } from './nonces.ts';

/**
 * The rules of the interface `Store`, for any test runner. Each check opens a store of its own, and closes it. Checks of
 * nonces and receipts pass if the store has none.
 *
 * @example
 * // `test` is that of node:test, Vitest or Jest.
 * for (const { name, run } of storeContract) test(name, () => run(async () => createMyStore()));
 */
export const storeContract: readonly ContractCheck<CheckedStore>[] = [
  ...itemChecks,
  ...idChecks,
  ...listChecks,
  ...expectationChecks,
  ...historyChecks,
  ...storedNonceChecks,
  ...receiptChecks,
];
