import type { ComposedDouble } from '../compose.ts';
import type { MemoryControl } from './target.ts';

/** Creates the control of a double's whole state and of its routes. */
export function createMemoryControl(context: ComposedDouble): MemoryControl {
  const { items, state, routes, stubs } = context;
  return {
    seed: (seed) => items.seed(seed),
    snapshot: () => state.snapshot(),
    restore: (snapshot) => state.restore(snapshot),
    reset: () => state.reset(),
    resource: (template, resource) => routes.resource(template, resource),
    stub: (match, response, options) => stubs.add({ ...options, match, response }),
    collection: (path, declaration) => routes.collection(path, declaration),
  };
}
