/** Reads the query of a list. */

import { findClosestMatch } from '../../did-you-mean.ts';
import { parseTargetQuery } from '../../http/form.ts';
import { Problem } from '../../http/problem.ts';
import type { Call } from '../../pipeline/resource.ts';
import type { StoredItem, StoredRecord } from '../../store/store.ts';
import { readMember } from '../fields/record.ts';
import { isOfType, type Key, type SimpleTypeName, toStoredValue } from '../fields/simple-type.ts';
import { parseReference } from '../reference-fields.ts';
import { type IndexedField, type ItemOrder, indexField, shortenKey } from './order.ts';
import type { Comparison, FilterParameter, ListRules } from './rules.ts';

/** A comparison of a field with a value. */
export interface Condition {
  readonly field: IndexedField;
  readonly comparison: Comparison;
  /** The key of the value, as an index contains it. */
  readonly key: Key;
  /** Returns whether an item meets it. */
  holds(entry: StoredItem): boolean;
}

const everyItem: Search = { matches: () => true, conditions: [], order: undefined, query: '' };

/** The items that a query selects, and their order. */
export interface Search {
  /** Returns whether an item is selected. */
  matches(entry: StoredItem): boolean;
  /** The conditions that a selected item meets. */
  readonly conditions: readonly Condition[];
  /** Undefined for the order of creation. */
  readonly order: ItemOrder | undefined;
  /** The parameters of the search, for links to other pages: `title=Tea&sort=-price`. */
  readonly query: string;
}

/**
 * Returns the search that a query specifies; undefined if it selects and sorts nothing. Throws a Problem (400).
 * @param strict whether a value that no item can have is refused
 */
export function readSearch(
  rules: ListRules,
  call: Pick<Call, 'query' | 'incoming'>,
  strict: boolean,
): Search | undefined {
  const conditions: Condition[] = [];
  const parameters: string[] = [];
  let order: ItemOrder | undefined;
  for (const name of new Set(call.query.keys())) {
    // As elsewhere, the first of several parameters of the same name counts.
    const text = call.query.get(name) ?? '';
    const filter = rules.parameters.get(name);
    if (filter !== undefined) conditions.push(parseCondition(name, filter, text, call, strict));
    else if (name === 'sort' && rules.orders.size > 0) order = orderFor(rules, text);
    else continue;
    parameters.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`);
  }
  if (parameters.length === 0) return undefined;
  const matches = (entry: StoredItem): boolean => conditions.every(({ holds }) => holds(entry));
  return { matches, conditions, order, query: parameters.join('&') };
}

/**
 * Returns a search that selects only items in which one of the fields has the name of a user.
 * @param search what else the query selects; undefined for all items
 */
export function addOwnerCondition(
  fields: readonly string[],
  name: string,
  search: Search = everyItem,
): Search {
  const isOwn = (value: StoredRecord): boolean => fields.some((field) => readMember(value, field) === name);
  const matches = (entry: StoredItem): boolean => isOwn(entry.value) && search.matches(entry);
  const [field] = fields;
  // The items of a user are read by an index, as those that a filter selects.
  if (field === undefined || fields.length > 1) return { ...search, matches };
  const condition: Condition = {
    field: indexField(field, 'text', ({ value }) => readMember(value, field)),
    comparison: 'equals',
    key: shortenKey('text', name),
    holds: ({ value }) => isOwn(value),
  };
  return { ...search, matches, conditions: [...search.conditions, condition] };
}

function parseCondition(
  name: string,
  { field, type, oneOf, reference, comparison, order, indexed, valueIn }: FilterParameter,
  text: string,
  { incoming: request }: Pick<Call, 'incoming'>,
  strict: boolean,
): Condition {
  // U+FFFD also replaces octets that are not UTF-8.
  if (text.includes('\ufffd') && parseTargetQuery(request.target) === undefined)
    throw malformedQuery(name, 'encoded in UTF-8');
  const stored = reference === undefined ? text : parseReference(text, reference.to, request);
  const sought =
    stored !== undefined && isOfType(type, stored)
      ? order.computeKey(toStoredValue({ type }, stored))
      : undefined;
  if (sought === undefined) throw wrongType(name, field, type, text);
  if (strict && comparison === 'equals' && oneOf !== undefined)
    requireOneOf(name, field, order, sought, oneOf);
  return {
    field: indexed,
    comparison,
    key: shortenKey(type, sought),
    holds(entry) {
      const value = valueIn(entry);
      const key = value === undefined ? undefined : order.computeKey(value);
      return key !== undefined && compares(comparison, order.compare(key, sought));
    },
  };
}

/** Throws a Problem unless an item can have the value that is sought. */
function requireOneOf(
  name: string,
  field: string,
  { computeKey, compare }: FilterParameter['order'],
  sought: Key,
  oneOf: ReadonlySet<string>,
): void {
  const values = [...oneOf];
  const isPermitted = values.some((value) => {
    const key = computeKey(value);
    return key !== undefined && compare(key, sought) === 0;
  });
  if (!isPermitted) throw malformedQuery(name, `one of ${values.join(', ')}`, { members: { field } });
}

function compares(comparison: Comparison, difference: number): boolean {
  if (comparison === 'equals') return difference === 0;
  return comparison === 'min' ? difference >= 0 : difference <= 0;
}

function orderFor({ orders }: ListRules, text: string): ItemOrder {
  const order = orders.get(text);
  if (order !== undefined) return order;
  const nearest = findClosestMatch(text, [...orders.keys()]);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw malformedQuery('sort', `one of ${[...orders.keys()].join(', ')}`, { hint });
}

const forms: Readonly<Record<SimpleTypeName, string>> = {
  text: 'text that XML can represent',
  decimal: 'a decimal such as 9.50',
  integer: 'an integer such as 42',
  boolean: 'true or false',
  date: 'a date in the form YYYY-MM-DD',
  dateTime: 'a date and time with an offset, such as 2013-04-20T12:59:24Z',
  currency: 'an ISO 4217 currency code in upper case',
  json: 'JSON',
  reference: 'the id or address of an item',
};

function wrongType(name: string, field: string, type: SimpleTypeName, text: string): Problem {
  const form = `${forms[type]}, because the field ${field} has the type ${type}`;
  const isPlus = text.includes(' ') && isOfType(type, text.replaceAll(' ', '+'));
  const hint = isPlus ? ' In a query, + means a space; send %2B.' : '';
  return malformedQuery(name, form, { hint, members: { field, fieldType: type } });
}

/** Returns the problem of a query parameter with an invalid value. `form` describes the valid ones. */
export function malformedQuery(
  parameter: string,
  form: string,
  { hint = '', members = {} }: { readonly hint?: string; readonly members?: Problem['members'] } = {},
): Problem {
  return new Problem('malformed-query', `The query parameter ${parameter} must be ${form}.${hint}`, {
    members: { parameter, ...members },
  });
}
