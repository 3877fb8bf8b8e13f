import type { Store } from '../store.ts';
import type { ContractCheck } from './check.ts';
import { expectationChecks } from './expectations.ts';
import { idChecks } from './ids.ts';
import { itemChecks } from './items.ts';
import { listChecks } from './lists.ts';
import { historyChecks } from './model.ts';
import { receiptChecks } from './receipts.ts';
import { referenceChecks } from './references.ts';
import { uniqueChecks } from './unique.ts';

export type { ContractCheck, ContractOptions } from './check.ts';
export { nonceContract } from './nonces.ts';

/**
 * The rules of the interface `Store`, for any test runner. Each check opens a store of its own, and closes it. Checks of
 * receipts, unique values and references pass if the store has none.
 *
 * @example
 * // `test` is that of node:test, Vitest or Jest.
 * for (const { name, run } of storeContract) test(name, () => run(async () => createMyStore()));
 */
export const storeContract: readonly ContractCheck<Store>[] = [
  ...itemChecks,
  ...idChecks,
  ...listChecks,
  ...expectationChecks,
  ...historyChecks,
  ...receiptChecks,
  ...uniqueChecks,
  ...referenceChecks,
];
