import { Problem } from '../http/problem.ts';
import { explanationOf, problemTypes } from '../http/problem-types.ts';
import { documentVariants, writeDocument } from '../representation/documents.ts';
import { action, type Resource } from '../resource.ts';

/** `/problems`: every problem type there is. */
export function problemsResource(): Resource {
  const problems = Object.entries(problemTypes).map(([name, { status, title }]) => ({
    href: `/problems/${name}`,
    status,
    title,
  }));
  return {
    GET: action('anyone', async (call) => writeDocument('index', { problems }, call.variant)),
    produces: documentVariants,
  };
}

/** `/problems/NAME`: what that problem means and what to do about it. */
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
