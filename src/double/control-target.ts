import { Problem } from '../http/problem.ts';
import type { Double } from './double.ts';
import type { Events } from './events.ts';
import type { SteeringFace } from './steering.ts';

/** What a control interface has in its hands. */
export interface ControlTarget extends Omit<SteeringFace, 'fetch' | 'as'> {
  /** What only goes where everything is in memory; undefined where it is kept. */
  readonly memory: MemoryControl | undefined;
  readonly place: ControlledPlace;
  readonly events: Pick<Events, 'on'>;
  /** How what is kept is; left out, nothing can go wrong with it. */
  readonly health?: () => ControlledHealth | undefined;
}

/** What a double does with its state as a whole, and with what it serves. */
export interface MemoryControl
  extends Pick<Double, 'seed' | 'snapshot' | 'restore' | 'reset' | 'allowMatrix' | 'resource'> {
  /** Declares a collection by what may be anything. Throws DeclarationError or RangeError. */
  collection(path: string, declaration: unknown): void;
}

/** Where the service listens that is steered. */
export interface ControlledPlace {
  readonly url: string | undefined;
  readonly secureUrl: string | undefined;
  /** What clients have to trust for `secureUrl`, in PEM, where that is known. */
  readonly certificate: string | undefined;
}

/** How a store is. */
export interface ControlledHealth {
  readonly state: 'well' | 'full' | 'failed';
  readonly reason: string | undefined;
}

/** What goes in memory alone. Throws the Problem `memory-only`. */
export function inMemory({ memory }: ControlTarget): MemoryControl {
  if (memory !== undefined) return memory;
  throw new Problem('memory-only', 'This server keeps what it holds; start it with --memory to have this.');
}
