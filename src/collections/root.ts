import { documentVariants, writeDocument } from '../formats/server-documents.ts';
import { action, allow, type Resource } from '../pipeline/resource.ts';
import type { Route } from '../pipeline/router.ts';

/** `/`: what is here, and what this principal may do with it. A path with parameters is shown as its template. */
export function rootResource(routes: readonly Route[]): Resource {
  return {
    GET: action('anyone', async (call) => {
      const resources = routes.map(({ template, resource }) => ({
        href: template,
        methods: allow(resource, call.principal),
      }));
      return writeDocument(
        'index',
        { resources: [...resources, { href: '/problems', methods: allowed }] },
        call.variant,
      );
    }),
    produces: documentVariants,
  };
}

const allowed = ['HEAD', 'GET', 'OPTIONS'];
