import { collectionResource } from '../collections/collection.ts';
import { type Collection, defaultCollections, defineCollection } from '../collections/declaration.ts';
import type { Idempotency } from '../collections/idempotency.ts';
import { itemResource, itemTemplate } from '../collections/item.ts';
import { explanationResource, problemsResource, rootResource } from '../collections/own-resources.ts';
import { CollectionReferences, compileReferences } from '../collections/references.ts';
import { requireStoreFor, type Serving } from '../collections/served.ts';
import type { Resource } from '../pipeline/resource.ts';
import type { Route, RouteLayer } from '../pipeline/router.ts';
import { isList } from '../shape/shape.ts';
import type { Store } from '../store/store.ts';
import type { Limits, ServiceOptions } from './options.ts';

/** The collections and the resources in code that a service serves. */
export type ServedRoutes = {
  readonly [Name in 'collections' | 'resources']: NonNullable<ServiceOptions[Name]>;
};

/** Returns the declared collections, or the default ones. Throws DeclarationError. */
export function readCollections({
  collections = defaultCollections(),
}: ServiceOptions): readonly Collection[] {
  if (isList(collections)) return collections;
  return Object.entries(collections).map(([path, declaration]) => defineCollection(path, declaration));
}

/** Returns all routes: of the collections, of `resources`, and the server's own unless one of those has the same path. */
export function createRoutes(
  collections: readonly Collection[],
  store: Store,
  limits: Limits,
  resources: Readonly<Record<string, Resource>>,
  idempotency: Idempotency,
  serving: Serving,
  fallbacks: readonly RouteLayer[],
): Route[] {
  const documentLimits = {
    maxDepth: limits.xmlDepth,
    maxAttributes: limits.xmlAttributes,
    maxLength: limits.body,
  };
  const references = compileReferences(collections);
  const routes: Route[] = collections.flatMap((collection) => {
    const repetition = idempotency.repetition(collection);
    requireStoreFor(collection, store);
    const links = references && new CollectionReferences(references, collection, store);
    const served = { ...serving, collection, store, documentLimits, repetition, links };
    return [
      { template: collection.path, resource: collectionResource(served) },
      { template: itemTemplate(collection), resource: itemResource(served) },
    ];
  });
  routes.push(...Object.entries(resources).map(([template, resource]) => ({ template, resource })));
  const further = fallbacks.flatMap((fallback) => fallback.routes);
  const listed = [...routes, ...further];
  const own: Route[] = [
    { template: '/', resource: rootResource(listed, serving.defaultFormat) },
    { template: '/problems', resource: problemsResource(serving.defaultFormat) },
    { template: '/problems/{name}', resource: explanationResource(serving.defaultFormat) },
  ];
  const taken = new Set(routes.map(({ template }) => template));
  for (const { template } of further) taken.add(template);
  return [...own.filter(({ template }) => !taken.has(template)), ...routes];
}
