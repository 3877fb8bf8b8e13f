import { action, json, type Representation, type Resource } from '../../pipeline/resource.ts';
import type { ServedRoutes } from '../routes.ts';
import { type OpenApiDocument, openApiPath, type ServedApi } from './document.ts';

/** Creates the document. Its code is loaded on first use. */
export async function loadOpenApi(served: ServedApi, origins?: readonly string[]): Promise<OpenApiDocument> {
  const { createOpenApi } = await import('./create.ts');
  return createOpenApi(served, origins);
}

/** Returns the resource of the document, which anyone can read. The document is created again only if what is served has changed. */
export function openApiResource(current: () => ServedApi): Resource {
  let latest: { readonly served: ServedApi; readonly representation: Representation } | undefined;
  return {
    GET: action('anyone', async () => {
      const served = current();
      if (latest === undefined || !isSame(latest.served, served))
        latest = { served, representation: json(await loadOpenApi(served)) };
      return latest.representation;
    }),
  };
}

function isSame(one: ServedApi, other: ServedApi): boolean {
  return (
    one.collections === other.collections &&
    one.resources === other.resources &&
    one.oauth2 === other.oauth2 &&
    one.oauth1 === other.oauth1 &&
    one.quota === other.quota
  );
}

/**
 * Returns the resources in code with the resource of the document.
 * @throws RangeError if one of them has its path
 */
export function addOpenApi(
  resources: ServedRoutes['resources'],
  document: Resource | undefined,
): ServedRoutes['resources'] {
  if (document === undefined) return resources;
  if (Object.hasOwn(resources, openApiPath))
    throw new RangeError(`a resource has the path ${openApiPath}, which is that of the OpenAPI document`);
  return { ...resources, [openApiPath]: document };
}
