import { documentVariantsFor, writeDocument } from '../formats/server-documents.ts';
import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { findProblemType, problemTypes } from '../http/problem-types.ts';
import { pathForClient } from '../pipeline/proxy.ts';
import { action, type DocumentFormat, type Resource } from '../pipeline/resource.ts';

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
