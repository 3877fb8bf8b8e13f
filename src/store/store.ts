import type { MaybePromise } from '../maybe-promise.ts';

/** What is kept of an item: plain JSON, made and read by a representation. */
export type Value = string | number | boolean | readonly Value[] | RecordValue;

/** The fields of an item by their declared names. */
export interface RecordValue {
  readonly [name: string]: Value;
}

/** One item of a collection, as it is now. */
export interface Entry {
  readonly id: string;
  /** Its place in the order of creation within its collection, counting from 1. */
  readonly sequence: number;
  /** Which change made it so: counts up over the whole store and is never used twice, across restarts too. */
  readonly revision: number;
  /** When that was: milliseconds since 1970-01-01T00:00:00Z. */
  readonly modified: number;
  readonly value: RecordValue;
}

/** A part of a collection in creation order, and the state of the whole. */
export interface Page {
  readonly entries: readonly Entry[];
  /** Whether entries follow after the last of these. */
  readonly more: boolean;
  /** The revision of the collection's last change, deletions included; 0 when there never was one. */
  readonly revision: number;
  /** When that was (ms); 0 when there never was one. */
  readonly modified: number;
}

/** The nonce of a request. */
export interface StoredNonce {
  readonly user: string;
  readonly nonce: string;
  /** The time (ms) up to which a request that carries it could be accepted. */
  readonly until: number;
}

/** What every change has. */
interface Changing {
  readonly collection: string;
  /** When (ms since 1970-01-01T00:00:00Z). */
  readonly at: number;
  /** That of its request: kept in one with the change, so that neither outlives the other. */
  readonly nonce?: StoredNonce | undefined;
}

/** Adds an item under an id that the store picks. */
export interface Creation extends Changing {
  readonly kind: 'create';
  readonly value: RecordValue;
}

/** Puts a value under an id that the client chose, if the id is in the state expected. */
export interface Replacement extends Changing {
  readonly kind: 'put';
  readonly id: string;
  /** The revision that must be there, or that nothing must be, or that something must be, whatever it is. */
  readonly expected: number | 'absent' | 'present';
  readonly value: RecordValue;
}

/** Takes an item away, if it is in the state expected. */
export interface Deletion extends Changing {
  readonly kind: 'delete';
  readonly id: string;
  readonly expected: number;
}

/** One change to the store. */
export type Change = Creation | Replacement | Deletion;

/** What a change did: the entry as it is now (for a deletion: as it was), or that the expectation does not hold. */
export type Applied = { readonly applied: true; readonly entry: Entry } | { readonly applied: false };

/**
 * Where items live. A collection is named by its path and exists as soon as it is named. Ids that the store
 * picks count up from 1 per collection, are never used again, and step over every id a client ever chose there.
 * Asynchronous, so that an engine on another machine can stand behind it.
 */
export interface Store {
  /** A few characters that tell this store's history from any other's; part of every entity tag. */
  readonly storeId: string;
  /** The item, or undefined. */
  read(collection: string, id: string): MaybePromise<Entry | undefined>;
  /**
   * Returns up to `limit` items whose sequence is greater than `after`. Where reading items costs, it may return fewer:
   * those with which `bytes` of what is kept were read, at least one. `more` says so.
   */
  list(collection: string, after: number, limit: number, bytes?: number): MaybePromise<Page>;
  /**
   * Makes the change in one step against the state expected (compare-and-set). When it resolves with
   * `applied: true` the change is as safe as this store makes things; no read shows it earlier. Whoever changes an item
   * whatever it is need not wait for the others who do.
   * Throws StoreError when the change could not be kept; then it was not made.
   */
  apply(change: Change): Promise<Applied>;
  /** Finishes what is under way and lets go of everything. No call may follow. */
  close(): Promise<void>;
}

/** Why a store could not keep a change: there is no room (`full`), or the medium failed (`failed`). */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'full' | 'failed';
  /** Whether the store itself has told of what is behind this, so that it need not be told for each change. */
  readonly reported: boolean;

  constructor(code: 'full' | 'failed', message: string, cause?: unknown, told = false) {
    super(message, { cause });
    this.code = code;
    this.reported = told;
  }
}
