// Performs a request with an Idempotency-Key once, also on several servers with one store: its change has a receipt, and the
// store applies it only if no unexpired receipt has its key. `find` returns the change of a request that is repeated; step 14 is
// then skipped, and the action compares the content and replays the response. `checkHeaders` checks the key in step 11.
import { Problem } from '../http/problem.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { ActionResponse, Call, Resource, ResourceState, retryAction } from '../pipeline/resource.ts';
import type { Receipt, ReceiptCount, Store, StoredReceipt, StoredRecord } from '../store/store.ts';
import type { Collection } from './declaration.ts';
import {
  checkIdempotencyKey,
  computeFingerprint,
  formatOwner,
  type KeyedCall,
  parseIdempotencyKey,
  receiptKey,
} from './idempotency-key.ts';

/** The options of the recognition of repeated requests. */
export interface IdempotencyOptions {
  /** How long (ms) a request can be repeated. */
  readonly lifetime: number;
  /** The maximum number of stored keys of a user. */
  readonly maxPerUser: number;
}

/** The length of the items of the stored keys of a user, as JSON, from which no further key is stored: 32 MiB. */
const maxSizePerUser = 33_554_432;

/** An action that makes a change, with the receipt if the request may be repeated. */
type Perform<State, Content> = (
  call: Call<State, Content>,
  receipt?: Receipt,
) => Promise<ActionResponse | typeof retryAction>;

/** Returns the response to the request that made a change, for a request that repeats it. */
type Replay<State, Content> = (call: Call<State, Content>, change: StoredReceipt) => ActionResponse;

/** A `find` of a resource. */
type Find<State, Content> = NonNullable<Resource<State, Content>['find']>;

/** The parts of the resources of a collection that depend on whether requests may be repeated. */
export interface Repetition {
  /** Returns a `find` that also finds the change of a request that is repeated, with the state after that change. */
  find<State, Content>(
    find: Find<State, Content>,
    buildState: (
      change: StoredReceipt,
      found: ResourceState<State> | undefined,
    ) => ResourceState<State> | undefined,
  ): Find<State, Content>;
  /** Returns an action that makes a change once, and then replays the response. */
  once<State, Content>(
    perform: Perform<State, Content>,
    replay: Replay<State, Content>,
    valueIn: (content: Content) => StoredRecord,
  ): Perform<State, Content>;
  /** The members of each of these actions. */
  readonly checks: { readonly checkHeaders?: (call: KeyedCall) => void };
  /** The members of the description of the resource. */
  readonly description: Readonly<Record<string, string>>;
}

/** The repetition of requests to a collection with the mode `off`. */
const noRepetition: Repetition = {
  find: (find) => find,
  once: (perform) => perform,
  checks: {},
  description: {},
};

/**
 * Recognizes requests that repeat an earlier one, by their Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-06). The
 * store keeps a receipt together with each change, so a request is never performed twice, also by several processes.
 */
export class Idempotency {
  readonly #store: Store;
  readonly #options: IdempotencyOptions;
  /** The fingerprints of the requests that are being performed, by the keys of their receipts. */
  readonly #running = new Map<string, string>();
  readonly #admissions = new Map<string, Admissions>();

  constructor(store: Store, options: IdempotencyOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Returns the repetition of requests to a collection with this mode. Throws RangeError if the store keeps no receipts. */
  repetition({ idempotency: mode, path }: Pick<Collection, 'idempotency' | 'path'>): Repetition {
    if (mode === 'off') return noRepetition;
    if (this.#store.receipt === undefined)
      throw new RangeError(`collections.${path}.idempotency requires a store with \`receipt\``);
    return {
      find: (find, stateOf) => (call) =>
        andThen(find(call), (found) =>
          andThen(this.#findChange(call), (change) => {
            if (change === undefined) return found;
            const state = stateOf(change, found);
            return state === undefined ? found : { ...state, repeats: change };
          }),
        ),
      once: (perform, replay, valueIn) => (call) => {
        const { body: content } = call;
        const receipt = this.#buildReceipt(call, content === undefined ? undefined : valueIn(content));
        if (receipt === undefined) return perform(call);
        const repeated = call.state?.repeats;
        if (repeated === undefined) return this.#perform(receipt, call, perform);
        requireSame(repeated.receipt.fingerprint, receipt);
        return Promise.resolve(replay(call, repeated));
      },
      checks: { checkHeaders: (call) => checkIdempotencyKey(call, mode) },
      description: { idempotency: mode },
    };
  }

  async #perform<State, Content>(
    receipt: Receipt,
    call: Call<State, Content>,
    perform: Perform<State, Content>,
  ): Promise<ActionResponse | typeof retryAction> {
    const running = this.#running.get(receipt.key);
    if (running !== undefined) {
      requireSame(running, receipt);
      throw inProgress();
    }
    this.#running.set(receipt.key, receipt.fingerprint);
    const { user = '' } = receipt;
    const admissions = this.#admissions.get(user) ?? { requests: 0, begun: 0, ended: 0, waiting: [] };
    this.#admissions.set(user, admissions);
    admissions.requests += 1;
    try {
      await this.#admit(user, admissions, call.now);
      try {
        return await perform(call, receipt);
      } finally {
        end(admissions);
      }
    } finally {
      this.#running.delete(receipt.key);
      admissions.requests -= 1;
      if (admissions.requests === 0) this.#admissions.delete(user);
    }
  }

  /** Returns the change of the request that this one repeats. */
  #findChange(call: Call): MaybePromise<StoredReceipt | undefined> {
    const key = readKey(call);
    return key === undefined ? undefined : this.#store.receipt?.(key, call.now);
  }

  #buildReceipt(call: Call, content: StoredRecord | undefined): Receipt | undefined {
    const key = readKey(call);
    if (key === undefined || call.principal === undefined) return undefined;
    const until = Math.ceil(call.now + this.#options.lifetime);
    return { key, fingerprint: computeFingerprint(call, content), until, user: formatOwner(call.principal) };
  }

  /**
   * Admits a request of a user who has room for its receipt. If that depends on requests that are being performed, waits for them.
   * Throws a Problem (429).
   */
  async #admit(user: string, admissions: Admissions, now: number): Promise<void> {
    const { maxPerUser } = this.#options;
    for (;;) {
      const { ended } = admissions;
      const stored = await this.#store.receiptsOf?.(user, now);
      // Requests that were being performed while the receipts were counted may be among them or not.
      const uncounted = admissions.begun - ended;
      if (stored === undefined) break;
      const { count, size = 0, freeAt = now } = stored;
      if (count + uncounted < maxPerUser && size < maxSizePerUser) break;
      if (uncounted === 0) throw tooManyKeys(stored, maxPerUser, (freeAt - now) / 1000);
      if (admissions.begun > admissions.ended)
        await new Promise<void>((resolve) => admissions.waiting.push(resolve));
    }
    admissions.begun += 1;
  }
}

/** The requests of a user with keys. */
interface Admissions {
  /** The number of those that wait or are being performed. */
  requests: number;
  /** The number of those that were ever admitted, and of those whose change was made or rejected since. */
  begun: number;
  ended: number;
  /** Called when no admitted request is being performed. */
  readonly waiting: (() => void)[];
}

function end(admissions: Admissions): void {
  admissions.ended += 1;
  if (admissions.begun > admissions.ended) return;
  for (const proceed of admissions.waiting.splice(0)) proceed();
}

function tooManyKeys({ count }: ReceiptCount, maxPerUser: number, seconds: number): Problem {
  const detail =
    count >= maxPerUser
      ? `${maxPerUser} keys of this user are stored, which is the limit. Nothing was changed.`
      : `The items of ${count} stored keys of this user have reached the limit of their size. Nothing was changed.`;
  return new Problem('too-many-idempotency-keys', detail, {
    headers: [['Retry-After', String(Math.max(1, Math.ceil(seconds)))]],
  });
}

/** Returns the key of the receipt of a request; undefined if it cannot be repeated. */
function readKey({ incoming: request, method, path, principal }: Call): string | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const field = request.headers.get('idempotency-key');
  if (field === undefined || principal === undefined) return undefined;
  return receiptKey(principal, path, parseIdempotencyKey(field));
}

function requireSame(fingerprint: string, receipt: Receipt): void {
  if (fingerprint === receipt.fingerprint) return;
  throw new Problem(
    'idempotency-key-reused',
    'This Idempotency-Key was used with another request: the method, the content or a precondition differs. Nothing was changed.',
  );
}

function inProgress(): Problem {
  return new Problem(
    'idempotency-key-in-progress',
    'The first request with this Idempotency-Key is still being processed. Repeat this one later.',
    { headers: [['Retry-After', '1']] },
  );
}
