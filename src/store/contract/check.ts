import { randomInt } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { membersOf, read } from '../../shape/shape.ts';
import type { Store } from '../store.ts';
import { createRandom, type Random } from './random.ts';

/** The options of a check. All are optional. */
export interface ContractOptions<Engine> {
  /**
   * Opens the data of an engine again after the check has closed it, as after a restart. Without it, a check continues
   * with the same engine.
   */
  reopen?(closed: Engine): Promise<Engine>;
  /**
   * Opens the data of an open engine a second time, as another process would. With it, simultaneous changes and claims
   * go through both.
   */
  peer?(open: Engine): Promise<Engine>;
  /** The seed of random numbers, for repeating a failed check: its message contains the seed. Default: a random one. */
  readonly seed?: number | undefined;
  /**
   * Returns the time (ms since 1970-01-01T00:00:00Z) of nonces and receipts, which expire later than that. Default: the
   * time of the system.
   */
  now?(): number;
}

/** One rule of a contract. */
export interface ContractCheck<Engine> {
  /** States the rule, for example `a single item is read as it was created`. */
  readonly name: string;
  /**
   * Runs the check. Rejects with an AssertionError if the engine violates the rule.
   *
   * @param open opens a new and empty engine
   */
  run(open: () => Promise<Engine>, options?: ContractOptions<Engine>): Promise<void>;
}

/** The engines of one run of a check. */
export interface Session<Engine> {
  /** The engine, and with the option `peer` a second one with the same data. */
  readonly engines: readonly [Engine, ...Engine[]];
  /** Closes the engine and opens its data again, if the options allow that. Returns the engine to continue with. */
  restart(): Promise<Engine>;
  readonly random: Random;
  /** The time (ms) of nonces and receipts. */
  readonly now: number;
}

/** Creates a check. `close` closes an engine. */
export function check<Engine>(
  name: string,
  close: (engine: Engine) => Promise<void>,
  body: (engine: Engine, session: Session<Engine>) => Promise<void>,
): ContractCheck<Engine> {
  return {
    name,
    async run(open, options = {}) {
      read(membersOf(['reopen', 'peer', 'seed', 'now']), options, { optionsOf: 'a check' });
      const opened = new OpenedEngines(await open(), close, options);
      try {
        await opened.openPeer();
        await body(opened.engines[0], opened);
      } catch (error) {
        // The first failure is the one to report.
        await opened.close().catch(() => {});
        throw error;
      }
      await opened.close();
    },
  };
}

class OpenedEngines<Engine> implements Session<Engine> {
  engines: readonly [Engine, ...Engine[]];
  readonly random: Random;
  readonly now: number;
  readonly #close: (engine: Engine) => Promise<void>;
  readonly #options: ContractOptions<Engine>;

  constructor(engine: Engine, close: (engine: Engine) => Promise<void>, options: ContractOptions<Engine>) {
    this.engines = [engine];
    this.random = createRandom(options.seed ?? randomInt(2 ** 32));
    this.now = options.now?.() ?? systemClock.now();
    this.#close = close;
    this.#options = options;
  }

  async openPeer(): Promise<void> {
    const [engine] = this.engines;
    const peer = await this.#options.peer?.(engine);
    if (peer !== undefined) this.engines = [engine, peer];
  }

  async restart(): Promise<Engine> {
    const [engine] = this.engines;
    if (this.#options.reopen === undefined) return engine;
    await this.close();
    const reopened = await this.#options.reopen(engine);
    this.engines = [reopened];
    await this.openPeer();
    return reopened;
  }

  async close(): Promise<void> {
    for (const engine of this.engines.toReversed()) await this.#close(engine);
  }
}

/** Creates a check of a store. */
export function storeCheck(
  name: string,
  body: (store: Store, session: Session<Store>) => Promise<void>,
): ContractCheck<Store> {
  return check(name, (store) => store.close(), body);
}

/**
 * Returns a function that creates checks of what a store need not have. They pass if the store does not have it.
 * @param what the beginning of their names: `a receipt, if the store has any,`
 */
export function checksOf<Offering extends Store>(what: string, offers: (store: Store) => store is Offering) {
  return (
    name: string,
    body: (store: Offering, session: Session<Store>) => Promise<void>,
  ): ContractCheck<Store> =>
    storeCheck(`${what} ${name}`, async (store, session) => {
      if (offers(store)) await body(store, session);
    });
}

/** Calls `make` for the numbers from 0, in turn on each engine, and resolves when all have resolved. */
export function callSimultaneously<Engine, Made>(
  { engines }: Pick<Session<Engine>, 'engines'>,
  count: number,
  make: (engine: Engine, n: number) => MaybePromise<Made>,
): Promise<Made[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => make(engines[n % engines.length] ?? engines[0], n)),
  );
}
