import type { MemoryControl } from './control-target.ts';
import type { MemoryHouse } from './house.ts';
import type { SteeringFace } from './steering.ts';

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
      const { allowMatrix } = await import('./allow-matrix.ts');
      return allowMatrix(house, face, wanted);
    },
  };
}
