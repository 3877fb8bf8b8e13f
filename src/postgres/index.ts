/**
 * A store on PostgreSQL, for several processes on several hosts: `countersign/postgres`.
 *
 * @module
 */

export type { Clock } from '../clock.ts';
export type { MaybePromise } from '../maybe-promise.ts';
export type { Documents, StoredDocument } from '../store/documents.ts';
export type { NoncesLost } from '../store/nonces/lost.ts';
export type { Claimed, ShareUsed } from '../store/nonces/nonces.ts';
export type { NumberRange } from '../store/state/reserved-ids.ts';
export type { CollectionNumbers } from '../store/state/state.ts';
export {
  type Applied,
  type Change,
  type Creation,
  type Deletion,
  type Entry,
  NonceRefusedError,
  type Page,
  type Receipt,
  type ReceiptCount,
  type ReceiptedChange,
  type RecordValue,
  type Replacement,
  type Store,
  type StoredNonce,
  StoreError,
  type Value,
} from '../store/store.ts';
export type {
  Transferable,
  TransferredCollection,
  TransferredItem,
  TransferredPart,
  TransferredReceipt,
  TransferredStore,
} from '../store/transfer.ts';
export type { PostgresClient, PostgresRow } from './client.ts';
export { PostgresStoreError, type PostgresStoreErrorCode } from './error.ts';
export type { PostgresNonces } from './nonces.ts';
export { createPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts';
