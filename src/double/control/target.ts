import type { Seed } from '../../collections/seed.ts';
import { Problem } from '../../http/problem.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { DoubleApi } from '../api.ts';
import type { Events } from '../events.ts';
import type { AllowMatrix, AllowMatrixOptions } from '../permission-matrix.ts';
import type { DoubleSnapshot } from '../state/state.ts';

/** What a control interface controls. */
export interface ControlTarget extends Omit<DoubleApi, 'fetch' | 'as'> {
  /** What works in memory alone; undefined for a server with a data directory. */
  readonly memory: MemoryControl | undefined;
  readonly place: ControlledPlace;
  readonly events: Pick<Events, 'on'>;
  /** The state of the store; left out where it cannot fail. */
  readonly health?: () => ControlledHealth | undefined;
}

/** What a double does with its state as a whole, and with what it serves. */
export interface MemoryControl {
  /**
   * Adds items to collections, all or none. Throws DeclarationError naming the item and the field that breaks a rule.
   * @example double.seed({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] });
   */
  seed(seed: Seed): void;
  /** All that it holds now: items, ids, revisions, nonces, tokens, users, what is served, chance, faults, the journal, and how the clock is set. */
  snapshot(): DoubleSnapshot;
  /**
   * Puts back what `snapshot` of this double gave, any number of times. What came after it never was: the same ids,
   * revisions and nonces are drawn again.
   */
  restore(snapshot: DoubleSnapshot): void;
  /** Puts everything back as it was when the double had started. */
  reset(): void;
  /**
   * Puts a resource of one's own under a path template, in the place of what stood there.
   * @example double.resource('/weather/{city}', { GET: action('anyone', async (call) => xml('<weather/>')) });
   */
  resource(template: string, resource: Resource): void;
  /** Declares a collection by what may be anything. Throws DeclarationError or RangeError. */
  collection(path: string, declaration: unknown): void;
  /**
   * For each of the principals and paths: what `Allow` says, and what becomes of each of the six methods when it is really
   * tried, on a snapshot that is restored; what else comes meanwhile is undone with it. What resources in code do outside of
   * the double is really done. Rejects with AllowMatrixError where the two differ, with RangeError on a user or a path that there is not.
   * @example console.log(String(await double.allowMatrix({ as: ['nobody', 'johndoe'] })));
   */
  allowMatrix(wanted: AllowMatrixOptions): Promise<AllowMatrix>;
}

/** Where the controlled service listens. */
export interface ControlledPlace {
  readonly url: string | undefined;
  readonly secureUrl: string | undefined;
  /** What clients have to trust for `secureUrl`, in PEM, where that is known. */
  readonly certificate: string | undefined;
}

/** The state of a store. */
export interface ControlledHealth {
  readonly state: 'well' | 'full' | 'failed';
  readonly reason: string | undefined;
}

/** What works in memory alone. Throws the Problem `memory-only` for a server with a data directory. */
export function inMemory({ memory }: ControlTarget): MemoryControl {
  if (memory !== undefined) return memory;
  throw new Problem('memory-only', 'This server keeps what it holds; start it with --memory to have this.');
}
