import { documentVariantsFor, writeDocument } from '../formats/server-documents.ts';
import { pathForClient } from '../pipeline/proxy.ts';
import { action, allow, type DocumentFormat, type Resource } from '../pipeline/resource.ts';
import type { Route } from '../pipeline/router.ts';

/** Returns the resource `/`, which lists the path templates and the methods that the principal may use. */
export function rootResource(routes: readonly Route[], defaultFormat?: DocumentFormat): Resource {
  return {
    GET: action('anyone', async (call) => {
      const resources = routes.map(({ template, resource }) => ({
        href: pathForClient(call.incoming, template),
        methods: allow(resource, call.principal),
      }));
      return writeDocument(
        'index',
        { resources: [...resources, { href: pathForClient(call.incoming, '/problems'), methods: allowed }] },
        call.variant,
      );
    }),
    produces: documentVariantsFor(defaultFormat),
  };
}

const allowed = ['HEAD', 'GET', 'OPTIONS'];
