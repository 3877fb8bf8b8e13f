import type { SteeringFace } from '../api.ts';
import type { MemoryHouse } from '../compose.ts';
import type { MemoryControl } from './target.ts';

/** Makes the control of a double in memory: its state as a whole, and what it serves. */
export function createMemoryControl(
  house: MemoryHouse,
  face: Pick<SteeringFace, 'fetch' | 'as'>,
): MemoryControl {
  const { items, state, served } = house;
  return {
    seed: (seed) => items.seed(seed),
    snapshot: () => state.snapshot(),
    restore: (snapshot) => state.restore(snapshot),
    reset: () => state.reset(),
    resource: (template, resource) => served.resource(template, resource),
    collection: (path, declaration) => served.collection(path, declaration),
    async allowMatrix(wanted) {
      const { allowMatrix } = await import('../permission-matrix.ts');
      return allowMatrix(house, face, wanted);
    },
  };
}
