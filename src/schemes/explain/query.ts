// Mistakes in a query: in the order, the form and the number of its parameters.
import { findQuery, splitTarget } from '../../http/target.ts';
import { sortQuery } from '../declared/message.ts';
import { escapedQueryMistakes, escapeMistakes, inLowerCase } from './escapes.ts';
import { embedMistakes, type Facts, type Mistake } from './mistake.ts';
import { furtherQueryForms, queryEncodings, queryForms } from './parameters.ts';
import { addUnsent, unsent } from './unsent.ts';

/** Returns a query with the parameters that were sent and are not signed, without their values: at their end, and sorted. */
function addOmitted(query: string, { request, target }: Facts): string[] {
  const signed = new Set(splitTarget(target).query.split('&'));
  const omitted = splitTarget(request.target)
    .query.split('&')
    .filter((parameter) => !signed.has(parameter))
    .map((parameter) => parameter.replace(/=.*$/s, '='));
  if (omitted.length === 0 || omitted.length > maxOmitted) return [];
  const longer = [...(query === '' ? [] : [query]), ...omitted].join('&');
  return [longer, sortQuery(longer)];
}

/** The number of parameters that a scheme leaves out of what it signs: the signature, and what belongs to it. */
const maxOmitted = 4;

/** The mistakes in a query without its question mark. */
export const queryMistakes: readonly Mistake[] = [
  ['the query was left out', () => ''],
  [
    'the parameters of the query were signed in another order',
    (query, { target }) => [
      ...[splitTarget(target).query].filter((sent) => sortQuery(sent) === sortQuery(query)),
      sortQuery(query),
    ],
  ],
  ['the query was signed as it was sent', (_, { target }) => splitTarget(target).query],
  [
    'the parameter of the signature was signed too, without its value',
    (query, facts) => addOmitted(query, facts),
  ],
  ['the "?" was signed with the query', (query) => [`?${query}`, `?${sortQuery(query)}`]],
  ['the path was signed with the query', (_, { target }) => target],
  ...queryForms,
  ...escapeMistakes,
  ...escapedQueryMistakes,
  ...queryEncodings,
  inLowerCase,
];

/** The mistakes in a query that are tried last, because they are many. */
export const furtherQueryMistakes: readonly Mistake[] = [
  ...furtherQueryForms,
  ...furtherQueryForms.map(([hint, values]): Mistake => [hint, (_, { target }) => values(findQuery(target))]),
  [unsent, addUnsent],
];

/** The mistakes in a query with its question mark, which stands alone if there is no query. */
export const searchMistakes: readonly Mistake[] = [
  ['the query was signed without its question mark', (search) => search.slice(1)],
  ['the query was left out', () => ''],
  ['the path was signed with the query', (_, { target }) => target],
  ...embedMistakes(queryMistakes, (search) => ['?', search.slice(1), '']),
  [
    'the query was signed without its question mark, and the parameters in another order',
    (search) => sortQuery(search.slice(1)),
  ],
];
