import { closestMatch } from '../../did-you-mean.ts';
import { Problem } from '../../http/problem.ts';
import type { Call } from '../../pipeline/resource.ts';
import { printable } from '../../schema/characters.ts';

/** Rejects unknown and repeated query parameters. */
export type QueryCheck = (call: Pick<Call, 'method' | 'query'>) => void;

/**
 * Returns a function that throws a Problem (400) for the first parameter of a query that is unknown or occurs twice.
 * @param known the parameters that GET and HEAD know; other methods know none
 * @param isCredential returns whether a parameter belongs to the credentials of a scheme
 */
export function createQueryCheck(
  known: readonly string[],
  isCredential: (parameter: string) => boolean,
): QueryCheck {
  return ({ method, query }) => {
    const parameters = method === 'GET' || method === 'HEAD' ? known : [];
    const seen = new Set<string>();
    for (const name of query.keys()) {
      if (isCredential(name)) continue;
      if (!parameters.includes(name)) throw unknownParameter(name, parameters, method);
      if (seen.has(name)) throw repeatedParameter(name);
      seen.add(name);
    }
  };
}

function unknownParameter(name: string, known: readonly string[], method: string): Problem {
  const nearest = closestMatch(name, known);
  const parameter = printable(name);
  const detail = `${method} of this resource has no query parameter ${parameter === '' ? 'without a name' : parameter}.`;
  return new Problem('unknown-query-parameter', `${detail}${hintOf(nearest, known)}`, {
    members: { parameter, ...(nearest === undefined ? {} : { nearest }) },
  });
}

function hintOf(nearest: string | undefined, known: readonly string[]): string {
  if (nearest !== undefined) return ` Did you mean ${nearest}?`;
  return known.length === 0 ? ' It has none.' : ` It has ${known.join(', ')}.`;
}

function repeatedParameter(parameter: string): Problem {
  return new Problem('repeated-query-parameter', `The query parameter ${parameter} occurs more than once.`, {
    members: { parameter },
  });
}
