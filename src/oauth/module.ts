import type { Scheme } from '../auth/scheme.ts';
import type { Resource } from '../pipeline/resource.ts';
import type { Route } from '../pipeline/router.ts';

/** What a mechanism of OAuth adds to a service: the schemes of its tokens, and the routes to its endpoints. */
export interface OAuthModule {
  readonly schemes: readonly Scheme[];
  readonly routes: readonly Route[];
}

/**
 * Defers `make` until its value is first asked for, and makes it once: most servers have nobody registered for OAuth. Where
 * `isNeeded` at once, it is made at once, so that the random bytes it draws come before any that requests draw.
 */
export function lazily<T>(isNeeded: () => boolean, make: () => T): () => T {
  let made = isNeeded() ? make() : undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Routes to endpoints by their paths. All are made when the first of them is asked for; `open` says whether they are served. */
export function routesTo<Path extends string>(
  endpoints: () => Readonly<Record<Path, Resource>>,
  paths: readonly Path[],
  open: () => boolean,
): readonly Route[] {
  return paths.map((template) => ({
    template,
    get resource() {
      return endpoints()[template];
    },
    open,
  }));
}
