import { StoreError } from '../store/errors.ts';
import { GroupCommit } from '../store/log/group-commit.ts';
import { isMadeAlone } from '../store/state/references.ts';
import type { StoreChange, StoreResult } from '../store/store.ts';
import { clearTimeout, nextTurn, setTimeout } from '../timers.ts';
import { decodeResults, type EncodedChange, encodeBatch, encodeChange } from './change-encoding.ts';
import { textIn } from './client.ts';
import type { PostgresParts } from './database.ts';
import { deadlineFromNow, patience, timeUntil } from './deadline.ts';

/** The maximum number of changes of a batch, and the length of their parameters in characters after which it is full. */
const [maxChanges, maxLength] = [512, 4 * 1024 * 1024];

/** A change that waits for its batch, with its callbacks. */
interface QueuedChange {
  readonly encoded: EncodedChange;
  /** The time by which it must have been made. */
  readonly deadline: number;
  resolve(applied: StoreResult): void;
  reject(error: unknown): void;
}

/**
 * Makes changes in batches, one at a time (group commit): a batch is one call of a function, which is one transaction.
 * The changes that arrive meanwhile form the next one. A batch has a random id. If the connection is lost, the same batch
 * is sent again; if it was committed before, the function returns the stored result.
 */
export class ChangeQueue {
  readonly #parts: PostgresParts;
  /** The changes of one turn of the event loop share the first batch. */
  readonly #batches = new GroupCommit<QueuedChange>(() => this.#make(this.#takeBatch()), nextTurn);
  /** Rejects the changes that waited too long. */
  #expiry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: PostgresParts) {
    this.#parts = parts;
  }

  /** Makes a change: see Store.apply. */
  apply(change: StoreChange): Promise<StoreResult> {
    if (this.#closed) return Promise.reject(new StoreError('failed', 'the store is closed'));
    return new Promise((resolve, reject) => {
      const encoded = encodeChange(change);
      this.#batches.add({ encoded, deadline: deadlineFromNow(), resolve, reject });
      this.#expiry ??= setTimeout(() => this.#expire(), patience);
    });
  }

  /** Makes the pending changes. Further ones are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#batches.idle;
    clearTimeout(this.#expiry);
  }

  /** Moves changes from the queue to a batch. Of several with the same receipt, all but the first stay, and so does what is made alone. */
  #takeBatch(): readonly QueuedChange[] {
    const batch: QueuedChange[] = [];
    const left: QueuedChange[] = [];
    const receipts = new Set<string>();
    let length = 0;
    for (const queued of this.#batches.waiting) {
      const { members, receipt } = queued.encoded;
      const [first] = batch;
      const isApart =
        first !== undefined && (isMadeAlone(first.encoded.change) || isMadeAlone(queued.encoded.change));
      const repeats = receipt !== undefined && receipts.has(receipt);
      if (batch.length >= maxChanges || length >= maxLength || repeats || isApart) {
        left.push(queued);
        continue;
      }
      if (receipt !== undefined) receipts.add(receipt);
      batch.push(queued);
      length += members.length;
    }
    this.#batches.waiting = left;
    return batch;
  }

  async #make(batch: readonly QueuedChange[]): Promise<void> {
    try {
      const results = await this.#send(batch);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] ?? { applied: false });
    } catch (error) {
      // The server made no change of the batch. The cause may be one of them.
      const isRefused = error instanceof StoreError && error.code === 'failed' && !error.reported;
      if (isRefused && batch.length > 1) for (const queued of batch) await this.#make([queued]);
      else for (const { reject } of batch) reject(createFailure(error));
    }
  }

  async #send(batch: readonly QueuedChange[]): Promise<readonly StoreResult[]> {
    // Only a change that is made alone has others, so results have the positions of the batch.
    const changes = batch.flatMap(({ encoded }) => [encoded, ...encoded.also]);
    const groups = encodeBatch(changes);
    const { database, schema, random } = this.#parts;
    const id = Buffer.from(random(16));
    const deadline = Math.min(...batch.map((each) => each.deadline));
    const [row] = await database.query(
      `SELECT ${schema}.apply_changes($1, $2, $3, $4) AS results`,
      (_, wait) => [id.toString('hex'), String(id.readBigInt64BE()), groups, wait],
      deadline,
    );
    return decodeResults(changes, textIn(row, 'results'));
  }

  #expire(): void {
    const { waiting } = this.#batches;
    const expired = waiting.filter(({ deadline }) => timeUntil(deadline) <= 0);
    const left = waiting.filter((queued) => !expired.includes(queued));
    this.#batches.waiting = left;
    for (const { reject } of expired) {
      reject(new StoreError('failed', 'PostgreSQL does not answer', { reported: true }));
    }
    const [next] = left;
    this.#expiry =
      next === undefined
        ? undefined
        : setTimeout(() => this.#expire(), Math.max(1, timeUntil(next.deadline)));
  }
}

/**
 * Creates an error for one change, so that changes do not share an object. If the server was lost, it may have made the
 * change.
 */
function createFailure(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const { code, message, reported } = error;
  return new StoreError(code, message, { reported, uncertain: reported && code === 'failed' });
}
