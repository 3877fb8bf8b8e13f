/**
 * A store on PostgreSQL, for several processes on several hosts: `countersign/postgres`.
 *
 * @module
 */

export type { Clock } from '../clock.ts';
export type { MaybePromise } from '../maybe-promise.ts';
export type { NonceClaim } from '../principal.ts';
export type { DocumentStore, StoredDocument } from '../store/documents.ts';
export { NonceRefusedError, StoreError } from '../store/errors.ts';
export type { NonceResult, ShareUsed } from '../store/nonces/nonces.ts';
export type { NoncesLost } from '../store/nonces/time.ts';
export type { NumberRange } from '../store/state/reserved-ids.ts';
export type { CollectionNumbers } from '../store/state/state.ts';
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
export type {
  Transferable,
  TransferPart,
  TransferredCollection,
  TransferredItem,
  TransferredReceipt,
  TransferredStore,
} from '../store/transfer.ts';
export type { PostgresClient, PostgresRow } from './client.ts';
export type { PostgresNonces } from './nonces.ts';
export { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts';
