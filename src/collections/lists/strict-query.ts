// The check of a query before it is read, apart from what reads it: a service that starts must not load that.
import { findClosestMatch } from '../../did-you-mean.ts';
import { Problem } from '../../http/problem.ts';
import { toPrintable } from '../../http/syntax/characters.ts';
import type { Call } from '../../pipeline/resource.ts';

/** Rejects unknown and repeated query parameters of a list. */
type QueryCheck = (call: Pick<Call, 'method' | 'query'>) => void;

/**
 * Returns a function that throws a Problem (400) for the first parameter of a query that is unknown or occurs twice.
 * @param known the parameters of the list. Other methods than GET and HEAD have none, so that they ignore all.
 * @param isCredential returns whether a parameter belongs to the credentials of a scheme
 */
export function createQueryCheck(
  known: readonly string[],
  isCredential: (parameter: string) => boolean,
): QueryCheck {
  return ({ method, query }) => {
    if (method !== 'GET' && method !== 'HEAD') return;
    const seen = new Set<string>();
    for (const name of query.keys()) {
      if (isCredential(name)) continue;
      if (!known.includes(name)) throw unknownParameter(name, known);
      if (seen.has(name)) throw repeatedParameter(name);
      seen.add(name);
    }
  };
}

function unknownParameter(name: string, known: readonly string[]): Problem {
  const nearest = findClosestMatch(name, known);
  const parameter = toPrintable(name);
  const detail = `This list has no query parameter ${parameter === '' ? 'without a name' : parameter}.`;
  const hint = nearest === undefined ? `It has ${known.join(', ')}.` : `Did you mean ${nearest}?`;
  return new Problem('unknown-query-parameter', `${detail} ${hint}`, {
    members: { parameter, ...(nearest === undefined ? {} : { nearest }) },
  });
}

function repeatedParameter(parameter: string): Problem {
  return new Problem('repeated-query-parameter', `The query parameter ${parameter} occurs more than once.`, {
    members: { parameter },
  });
}
