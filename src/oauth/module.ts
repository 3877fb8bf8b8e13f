import type { Resource } from '../pipeline/resource.ts';
import type { Route } from '../pipeline/router.ts';
import type { Verifier } from '../schemes/verifier.ts';

/** The authentication schemes and the routes that one version of OAuth adds to a service. */
export interface OAuthModule {
  readonly schemes: readonly Verifier[];
  readonly routes: readonly Route[];
}

/**
 * Returns a function that calls `create` once, on first use: most servers have no registered client. If `isNeeded` returns true
 * now, `create` is called now, so that it draws its random bytes before any request does.
 */
export function lazily<T>(isNeeded: () => boolean, create: () => T): () => T {
  let created = isNeeded() ? create() : undefined;
  return () => {
    created ??= create();
    return created;
  };
}

/** Returns routes to endpoints by their paths. All are created when the first is used; `open` returns whether they are served. */
export function routesTo(
  endpoints: () => ReadonlyMap<string, Resource>,
  paths: readonly string[],
  open: () => boolean,
): readonly Route[] {
  return paths.map((template) => ({
    template,
    get resource() {
      return endpoints().get(template) ?? {};
    },
    open,
  }));
}
