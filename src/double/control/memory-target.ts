import type { DoubleApi } from '../api.ts';
import type { ComposedDouble } from '../compose.ts';
import type { MemoryControl } from './target.ts';

/** Makes the control of a double in memory: its state as a whole, and what it serves. */
export function createMemoryControl(
  context: ComposedDouble,
  face: Pick<DoubleApi, 'fetch' | 'as'>,
): MemoryControl {
  const { items, state, served } = context;
  return {
    seed: (seed) => items.seed(seed),
    snapshot: () => state.snapshot(),
    restore: (snapshot) => state.restore(snapshot),
    reset: () => state.reset(),
    resource: (template, resource) => served.resource(template, resource),
    collection: (path, declaration) => served.collection(path, declaration),
    async allowMatrix(wanted) {
      const { allowMatrix } = await import('../permission-matrix.ts');
      return allowMatrix(context, face, wanted);
    },
  };
}
