// Mistakes in a query: in the order, the form and the number of its parameters.
import { splitTarget } from '../../http/target.ts';
import { sortQuery } from '../declared/message.ts';
import { listQueryObjects } from './content-parameters.ts';
import { escapedQueryMistakes, escapeMistakes } from './escapes.ts';
import { numberNotations } from './json-writers.ts';
import { embedMistakes, type Mistake, permutations } from './mistake.ts';
import { addUnsent, unsent } from './parameter-steps.ts';

/** How programs write the values of a list in a query. */
const listForms: readonly (readonly [
  did: string,
  write: (name: string, values: readonly string[]) => string,
])[] = [
  ['with "[]" after its name', (name, values) => values.map((value) => `${name}[]=${value}`).join('&')],
  ['with "[]" after its name', (name, values) => values.map((value) => `${name}%5B%5D=${value}`).join('&')],
  [
    'without the brackets after its name',
    (name, values) => values.map((value) => `${name}=${value}`).join('&'),
  ],
  [
    'with an index after its name',
    (name, values) => values.map((value, at) => `${name}[${at}]=${value}`).join('&'),
  ],
  [
    'with an index after its name',
    (name, values) => values.map((value, at) => `${name}%5B${at}%5D=${value}`).join('&'),
  ],
  ['as one value with commas', (name, values) => `${name}=${values.join(',')}`],
  ['as one value with commas', (name, values) => `${name}=${values.join('%2C')}`],
];

const brackets = /(?:\[\d*\]|%5B\d*%5D)$/i;

/**
 * Returns queries whose lists are written in another form: those parameters that occur several times or have brackets, and then all, as a
 * list may have one value.
 */
function rewriteLists(query: string, write: (name: string, values: readonly string[]) => string): string[] {
  const values = new Map<string, string[]>();
  const lists = new Set<string>();
  for (const parameter of query.split('&')) {
    const [, written = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? [];
    const name = written.replace(brackets, '');
    const own = values.get(name);
    if (own !== undefined || name !== written) lists.add(name);
    if (own === undefined) values.set(name, [value]);
    else own.push(value);
  }
  const rewrite = (isList: (name: string) => boolean): string =>
    Array.from(values, ([name, own]) => (isList(name) ? write(name, own) : `${name}=${own[0] ?? ''}`)).join(
      '&',
    );
  return [...(lists.size > 0 ? [rewrite((name) => lists.has(name))] : []), rewrite(() => true)];
}

/** The mistakes in the order and form of the parameters of a query. */
export const queryForms: readonly Mistake[] = [
  ['the parameters of the query were sorted before they were signed', (query) => sortQuery(query)],
  ['the query was signed in another order', (query) => otherOrders(query)],
  [
    'the parameters of the query were sorted without regard to letter case',
    (query) => query.split('&').sort(compareCaseless).join('&'),
  ],
  ['a parameter without a value was signed without its "="', (query) => query.replace(/=(?=&|$)/g, '')],
  [
    'a parameter without a value was signed with a "="',
    (query) => query.replace(/(^|&)([^=&]+)(?=&|$)/g, '$1$2='),
  ],
  ['names and values of the query were signed without "=" and "&"', (query) => query.replace(/[=&]/g, '')],
  [
    'a repeated parameter was reduced to one value before it was signed',
    (query) => [
      reduceRepeated(query.split('&')),
      reduceRepeated(query.split('&').reverse()).split('&').reverse().join('&'),
    ],
  ],
  ...listForms.map(
    ([did, write]): Mistake => [
      `a list in the query was signed ${did}; sign the query that is sent`,
      (query) => rewriteLists(query, write),
    ],
  ),
  ['the parameters of the query were signed as JSON', (query) => listQueryObjects(query)],
  ['numbers in the query were signed in another notation', (query) => rewriteNumbers(query)],
  ['the query was escaped for HTML before it was signed', (query) => query.replaceAll('&', '&amp;')],
  ['empty parameters were left out of the query that was signed', (query) => removeEmpty(query)],
  ['the parameter {parameter} was left out, or added after signing', (query) => removeEach(query)],
];

/** Returns a query with its numbers, or its fractions alone, in other notations. */
function rewriteNumbers(query: string): string[] {
  return numberNotations.flatMap((write) => {
    const numbers = /(?<==)-?\d{1,15}(?:\.\d{1,15})?(?=&|$)/g;
    const fractions = /(?<==)-?\d{1,15}\.\d{1,15}(?=&|$)/g;
    return [query.replace(fractions, write), query.replace(numbers, write)];
  });
}

/** The largest number of parameters of which each one is left out. */
const maxLeftOut = 16;

function removeEach(query: string): string[] {
  const parameters = query.split('&');
  if (parameters.length < 2) return [];
  return parameters.slice(0, maxLeftOut).map((_, at) => parameters.toSpliced(at, 1).join('&'));
}

/** Returns the parameters without those whose name an earlier one has. */
function reduceRepeated(parameters: readonly string[]): string {
  const names = new Set<string>();
  return parameters
    .filter((parameter) => names.size < names.add(parameter.replace(/=.*$/s, '')).size)
    .join('&');
}

function removeEmpty(query: string): string {
  return query
    .split('&')
    .filter((parameter) => !parameter.endsWith('=') && parameter.includes('='))
    .join('&');
}

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
  ['the "?" was signed with the query', (query) => [`?${query}`, `?${sortQuery(query)}`]],
  ['the path was signed with the query', (_, { target }) => target],
  ...queryForms,
  ...escapeMistakes,
  ...escapedQueryMistakes,
];

/** The mistakes in a query that are tried last, because they are many. */
export const furtherQueryMistakes: readonly Mistake[] = [[unsent, addUnsent]];

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

/** The largest number of parameters of which all orders are tried. */
const maxOrdered = 4;

function otherOrders(query: string): string[] {
  const parameters = query.split('&');
  if (parameters.length < 2) return [];
  if (parameters.length > maxOrdered) return [parameters.toReversed().join('&')];
  return permutations(parameters).map((order) => order.join('&'));
}

function compareCaseless(one: string, other: string): number {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1;
}
