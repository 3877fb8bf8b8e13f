import type { Collection } from '../collections/declaration.ts';
import { didYouMean } from '../did-you-mean.ts';
import { actionFor, listFurtherMethods, namedMethods, scopesInAccess } from '../pipeline/resource.ts';
import type { Scope } from '../principal.ts';
import type { ServedRoutes } from './routes.ts';

/**
 * Checks the scopes that access rules name. A misspelt one would permit nobody.
 * @throws RangeError with the nearest scope
 */
export function checkNamedScopes(
  existing: readonly Scope[],
  collections: readonly Collection[],
  resources: ServedRoutes['resources'],
): void {
  const check = (named: readonly Scope[], what: string): void => {
    const unknown = named.find((scope) => !existing.includes(scope));
    if (unknown === undefined) return;
    const hint = didYouMean(unknown, existing) || '; the scopes are those of oauth2.scopes';
    throw new RangeError(`${what}: there is no scope ${JSON.stringify(unknown)}${hint}`);
  };
  for (const { path, access } of collections)
    for (const rule of Object.values(access)) check(scopesInAccess(rule), `collections.${path}.access`);
  for (const [template, resource] of Object.entries(resources))
    for (const method of [...namedMethods, ...listFurtherMethods(resource)])
      check(
        scopesInAccess(actionFor(resource, method)?.access ?? 'nobody'),
        `the access rule of ${method} at ${template}`,
      );
}
