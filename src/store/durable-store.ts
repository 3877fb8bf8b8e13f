import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import type { Duration } from '../duration.ts';
import { seconds } from '../shape/duration.ts';
import { createFault } from '../shape/fault.ts';
import {
  callback,
  leaf,
  number,
  object,
  optional,
  read,
  refine,
  type ShapesOf,
  word,
} from '../shape/shape.ts';
import type { StoreHealth } from './durable.ts';
import { emitWarning } from './errors.ts';
import { prepareDirectory } from './files/directory.ts';
import type { NonceStore } from './nonces/nonces.ts';
import type { Store } from './store.ts';
import { type OpenedStore, StoreDirectory } from './store-directory.ts';

/** The options of `openDurableStore`. All are optional. */
export interface DurableStoreOptions {
  /**
   * When a change is acknowledged: when it is on the disk (`fsync`), or when the operating system has it (`os`), so that
   * it survives a crash of the process, but not a power failure. Default: `fsync`.
   */
  readonly durability?: 'fsync' | 'os' | undefined;
  /**
   * The `window` of the service, or a longer one: nonces are kept for it. Seconds, or text such as `10m`. Range: 1 s to a year.
   * Default: 600.
   */
  readonly window?: Duration | undefined;
  /** The highest number of stored nonces. Default: 10 million. */
  readonly maxNonces?: number | undefined;
  /** The highest number of stored nonces of one user. Default: a tenth of `maxNonces`. */
  readonly maxNoncesPerUser?: number | undefined;
  /** The clock of the service. Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
  /**
   * Called with one line for each repair after a crash, each loss of nonces, and when changes cannot be stored.
   * Default: `process.emitWarning`.
   */
  readonly onWarning?: ((line: string) => void) | undefined;
}

/** A store in a data directory. Each change survives the end of the process. */
export interface DurableStore extends Store, AsyncDisposable {
  /** Whether changes can be stored, and if not, why. */
  readonly health: StoreHealth;
  /** The nonces of signed requests. A service uses them unless it has the option `nonces`. */
  readonly nonces: NonceStore;
  /** Waits for pending changes, closes all files, and releases the lock of the directory. Can be called again. */
  close(): Promise<void>;
}

/** In seconds. */
const year = 31_536_000;
const maxCount = 2_147_483_647;

// A caller in JavaScript can pass any value, and an invalid one must not weaken durability or a check.
const optionsShape = refine(
  object({
    durability: optional(word(['fsync', 'os'])),
    window: optional(seconds({ min: 1, max: year, whole: false })),
    maxNonces: optional(number({ min: 1, max: maxCount })),
    maxNoncesPerUser: optional(number({ min: 1, max: maxCount })),
    clock: optional(leaf({ not: {} }, 'a clock', isClock)),
    random: optional(callback<NonNullable<DurableStoreOptions['random']>>()),
    onWarning: optional(callback<NonNullable<DurableStoreOptions['onWarning']>>()),
  } satisfies ShapesOf<DurableStoreOptions>),
  ({ maxNonces = maxCount, maxNoncesPerUser = 1 }, path) =>
    maxNoncesPerUser <= maxNonces
      ? []
      : [createFault([...path, 'maxNoncesPerUser'], `must be at most maxNonces, which is ${maxNonces}`)],
);

function isClock(value: unknown): value is Clock {
  return typeof value === 'object' && value !== null && 'now' in value && 'steady' in value;
}

/** Opens the store in a directory: see `openDurableStore`. */
export async function openInDirectory(
  directory: string,
  options: DurableStoreOptions,
): Promise<DurableStore> {
  if (typeof directory !== 'string' || directory === '')
    throw new RangeError('the directory of a durable store must be a path');
  const given = read(optionsShape, options, { optionsOf: 'a durable store' });
  const { durability = 'fsync', window = 600, maxNonces = 10_000_000, maxNoncesPerUser } = given;
  const { clock = systemClock, random = randomBytes, onWarning = emitWarning } = given;
  await prepareDirectory(directory);
  const opening = await StoreDirectory.lock({
    directory,
    durability,
    maxNonces,
    maxNoncesPerUser,
    clock,
    random,
    onWarning,
    window: window * 1000,
  });
  try {
    return createDurableStore(await opening.open(await opening.recover()), opening);
  } catch (error) {
    await opening.close();
    throw error;
  }
}

function createDurableStore({ store, nonces }: OpenedStore, opened: StoreDirectory): DurableStore {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= opened.close();
    return closing;
  };
  return {
    storeId: store.storeId,
    get health() {
      return store.health;
    },
    nonces,
    read: (collection, id) => store.read(collection, id),
    list: (collection, after, limit) => store.list(collection, after, limit),
    apply: (change) => store.apply(change),
    checksUnique: store.checksUnique,
    referrers: (...target) => store.referrers(...target),
    watch: (collection, listener) => store.watch(collection, listener),
    receipt: (key, now) => store.receipt(key, now),
    receiptsOf: (user, now) => store.receiptsOf(user, now),
    close,
    [Symbol.asyncDispose]: close,
  };
}
