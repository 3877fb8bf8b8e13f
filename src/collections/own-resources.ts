// The resources of the server itself: the index of its routes, and the explanations of problems.

import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { findProblemType, problemTypes } from '../http/problem-types.ts';
import { pathForClient } from '../pipeline/proxy.ts';
import { action, allow, type DocumentFormat, type Resource } from '../pipeline/resource.ts';
import type { Route } from '../pipeline/router.ts';
import { documentVariantsFor, writeDocument } from './formats/server-documents.ts';

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

/** Returns the resource `/problems`, which lists all problem types. */
export function problemsResource(defaultFormat?: DocumentFormat): Resource {
  return {
    GET: action('anyone', async ({ incoming: request, variant }) =>
      writeDocument('index', { problems: problems(request) }, variant),
    ),
    produces: documentVariantsFor(defaultFormat),
  };
}

function problems(
  request: IncomingRequest,
): { readonly href: string; readonly status: number; readonly title: string }[] {
  return Object.entries(problemTypes).map(([name, { status, title }]) => ({
    href: pathForClient(request, `/problems/${name}`),
    status,
    title,
  }));
}

/** Returns the resource `/problems/NAME`, which explains a problem type. */
export function explanationResource(defaultFormat?: DocumentFormat): Resource {
  return {
    GET: action('anyone', async ({ incoming: request, parameters, variant }) => {
      const name = parameters['name'] ?? '';
      const explained = findProblemType(name);
      if (explained === undefined) throw new Problem('not-found', 'No problem has this name.');
      const { status, title, explanation } = explained;
      return writeDocument(
        'problem-type',
        { type: pathForClient(request, `/problems/${name}`), title, status, explanation },
        variant,
      );
    }),
    produces: documentVariantsFor(defaultFormat),
  };
}
