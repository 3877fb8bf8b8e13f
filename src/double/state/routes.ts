import { type Collection, readCollection } from '../../collections/declaration.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { ServiceOptions } from '../../service/options.ts';
import { collectionsOf } from '../../service/routes.ts';
import type { Snapshottable } from './snapshot.ts';

/** What a double serves, as it is now. */
export interface ServedRoutes {
  readonly collections: readonly Collection[];
  readonly resources: Readonly<Record<string, Resource>>;
}

/** What a double serves, which can change while it runs. */
export interface DoubleRoutes extends Snapshottable<ServedRoutes> {
  readonly state: ServedRoutes;
  /** Declares a collection, in the place of what stood under its path. Throws DeclarationError or RangeError. */
  collection(path: string, declaration: unknown): void;
  /** Puts a resource under a template, in the place of what stood there. Throws RangeError on a template that is none. */
  resource(template: string, resource: Resource): void;
  /** Has `told` given all that is served whenever that changes; it may throw, and nothing is changed then. */
  follow(told: (state: ServedRoutes) => void): void;
}

/** Makes what a double serves. Throws DeclarationError on a declaration that cannot be. */
export function createDoubleRoutes(options: Pick<ServiceOptions, 'collections' | 'resources'>): DoubleRoutes {
  const begun: ServedRoutes = { collections: collectionsOf(options), resources: options.resources ?? {} };
  let state = begun;
  let told: (state: ServedRoutes) => void = () => {};

  const change = (next: ServedRoutes): void => {
    told(next);
    state = next;
  };
  const without = (path: string): ServedRoutes => ({
    collections: state.collections.filter((each) => each.path !== path),
    resources: Object.fromEntries(Object.entries(state.resources).filter(([template]) => template !== path)),
  });
  return {
    get state() {
      return state;
    },
    collection(path, declaration) {
      const { collections: others, resources: kept } = without(path);
      change({ collections: [...others, readCollection(path, declaration)], resources: kept });
    },
    resource(template, resource) {
      const { collections: kept, resources: others } = without(template);
      change({ collections: kept, resources: { ...others, [template]: resource } });
    },
    follow(listener) {
      told = listener;
    },
    snapshot: () => state,
    restore: change,
    reset: () => change(begun),
  };
}
