import { Problem } from '../../http/problem.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { DoubleApi } from '../api.ts';
import type { Core, MemoryState } from '../compose.ts';

/** What a control interface controls. */
export interface ControlTarget extends Omit<DoubleApi, 'fetch'> {
  readonly core: Core;
  readonly addresses: ControlledAddresses;
  /** Returns the state of the store. Undefined if the store cannot fail. */
  readonly health?: () => MaybePromise<ControlledHealth | undefined>;
  /** The metrics of the server. Undefined for a double. */
  readonly metrics?: ControlledMetrics;
}

/** The metrics of a server: their media type, and a function that returns them. */
interface ControlledMetrics {
  readonly type: string;
  text(): string;
}

/** The addresses on which the controlled service listens. */
export interface ControlledAddresses {
  readonly url: string | undefined;
  readonly secureUrl: string | undefined;
  /** The certificate in PEM that clients must trust for `secureUrl`, if known. */
  readonly certificate: string | undefined;
}

/** The health of a store. */
export interface ControlledHealth {
  readonly state: 'well' | 'full' | 'failed' | 'unreachable';
  readonly reason: string | undefined;
}

/** Returns the state as a whole. Throws a Problem `memory-only` if some of it is not in memory. */
export function requireMemory({ core: { memory } }: Pick<ControlTarget, 'core'>): MemoryState {
  if (memory !== undefined) return memory;
  throw new Problem('memory-only', 'This server has a data directory. Start it with --memory.');
}
