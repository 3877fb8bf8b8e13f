import { documentVariants, writeDocument } from '../formats/server-documents.ts';
import { Problem } from '../http/problem.ts';
import { explanationOf, problemTypes } from '../http/problem-types.ts';
import { action, type Resource } from '../pipeline/resource.ts';

/** Returns the resource `/problems`, which lists all problem types. */
export function problemsResource(): Resource {
  return {
    GET: action('anyone', async (call) => writeDocument('index', { problems: problems() }, call.variant)),
    produces: documentVariants,
  };
}

function problems(): { readonly href: string; readonly status: number; readonly title: string }[] {
  return Object.entries(problemTypes).map(([name, { status, title }]) => ({
    href: `/problems/${name}`,
    status,
    title,
  }));
}

/** Returns the resource `/problems/NAME`, which explains a problem type. */
export function explanationResource(): Resource {
  return {
    GET: action('anyone', async ({ parameters, variant }) => {
      const name = parameters['name'] ?? '';
      const explained = explanationOf(name);
      if (explained === undefined) throw new Problem('not-found', 'No problem has this name.');
      const { status, title, explanation } = explained;
      return writeDocument(
        'problem-type',
        { type: `/problems/${name}`, title, status, explanation },
        variant,
      );
    }),
    produces: documentVariants,
  };
}
