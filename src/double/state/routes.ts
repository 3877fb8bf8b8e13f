import { type Collection, readCollection } from '../../collections/declaration.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { ServiceOptions } from '../../service/options.ts';
import { checkResource } from '../../service/resource-checks.ts';
import { readCollections } from '../../service/routes.ts';

/** The routes of a double at one time. */
interface ServedRoutes {
  readonly collections: readonly Collection[];
  readonly resources: Readonly<Record<string, Resource>>;
}

/** The routes of a double, which can change while it runs. */
export type DoubleRoutes = ReturnType<typeof createDoubleRoutes>;

/** Creates the routes of a double. Throws DeclarationError if a declaration is invalid. */
export function createDoubleRoutes(options: Pick<ServiceOptions, 'collections' | 'resources'>) {
  const initial: ServedRoutes = { collections: readCollections(options), resources: options.resources ?? {} };
  let state = initial;
  let notify: (state: ServedRoutes) => void = () => {};

  const change = (next: ServedRoutes): void => {
    notify(next);
    state = next;
  };
  const removePath = (path: string): ServedRoutes => ({
    collections: state.collections.filter((each) => each.path !== path),
    resources: Object.fromEntries(Object.entries(state.resources).filter(([template]) => template !== path)),
  });
  return {
    get state(): ServedRoutes {
      return state;
    },
    /** Adds or replaces a collection. Throws DeclarationError or RangeError if it is invalid. */
    collection(path: string, declaration: unknown): void {
      const { collections: others, resources } = removePath(path);
      change({ collections: [...others, readCollection(path, declaration)], resources });
    },
    /** Adds or replaces a resource. Throws RangeError if the template is invalid. */
    resource(template: string, resource: Resource): void {
      checkResource(template, resource);
      const { collections, resources: others } = removePath(template);
      change({ collections, resources: { ...others, [template]: resource } });
    },
    /** Sets the function that is called before each change with the new routes. If it throws, nothing is changed. */
    onChange(listener: (state: ServedRoutes) => void): void {
      notify = listener;
    },
    snapshot: () => state,
    restore: change,
    reset: () => change(initial),
  };
}
