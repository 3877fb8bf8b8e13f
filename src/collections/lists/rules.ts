/** Compiles the members `filter` and `sort` of the declaration of a collection. */

import { didYouMean } from '../../did-you-mean.ts';
import type { StoredItem, StoredValue } from '../../store/store.ts';
import { DeclarationError } from '../fields/error.ts';
import { isRecord, readMember } from '../fields/record.ts';
import type { Field, Shape } from '../fields/schema.ts';
import {
  type ReferenceTo,
  type Simple,
  type SimpleTypeName,
  selectOrder,
  type TypeOrder,
} from '../fields/simple-type.ts';
import { fieldOrder, type IndexedField, type ItemOrder, indexField, modifiedOrder } from './order.ts';

/** The comparison of a query parameter with a field. */
export type Comparison = 'equals' | 'min' | 'max';

/** A query parameter that selects items by a field or an attribute of one. */
export interface FilterParameter {
  /** The name of the field or attribute: `price`, `price/@currency`. */
  readonly field: string;
  readonly type: SimpleTypeName;
  /** The permitted values. Undefined for any. */
  readonly oneOf: ReadonlySet<string> | undefined;
  /** What the values refer to, if they are references. */
  readonly reference: ReferenceTo | undefined;
  readonly comparison: Comparison;
  readonly order: TypeOrder;
  readonly indexed: IndexedField;
  /** Returns the stored value of an item; undefined if it has none. */
  valueIn(entry: StoredItem): StoredValue | undefined;
}

/** The query parameters by which clients may select and sort the items of a collection. */
export interface ListRules {
  /** The parameters that select items, by name: `price`, `price.min`. */
  readonly parameters: ReadonlyMap<string, FilterParameter>;
  /** The orders by the value of the parameter `sort`: `price`, `-price`. */
  readonly orders: ReadonlyMap<string, ItemOrder>;
}

/** The query parameters that every list has, or may have. */
const reserved: readonly string[] = ['limit', 'after', 'sort'];

/** The types that have a range. */
const ranged: ReadonlySet<SimpleTypeName> = new Set(['decimal', 'integer', 'date', 'dateTime']);

/** The name by which clients sort by the time of the last change, unless a field has this name. */
const modifiedName = 'modified';

/** The parts of a collection that define its list. */
interface Listed {
  readonly path: string;
  readonly shape: Shape;
  readonly filter: readonly string[];
  readonly sort: readonly string[];
}

/**
 * Compiles `filter` and `sort`. Returns undefined if neither names a field.
 * @throws {DeclarationError} for an invalid declaration
 */
export function compileListRules({ path, shape, filter, sort }: Listed): ListRules | undefined {
  if (filter.length === 0 && sort.length === 0) return undefined;
  return {
    parameters: readFilters(filter, shape, `collections.${path}.filter`),
    orders: readOrders(sort, shape, `collections.${path}.sort`),
  };
}

function readFilters(
  names: readonly string[],
  shape: Shape,
  path: string,
): ReadonlyMap<string, FilterParameter> {
  const parameters = new Map<string, FilterParameter>();
  for (const [index, name] of names.entries()) {
    const at = `${path}[${index}]`;
    const field = requireField(name, shape, [], at);
    for (const [parameter, filter] of parametersOfField(field, at)) {
      if (reserved.includes(parameter))
        throw new DeclarationError(
          'clash',
          at,
          `the query parameter ${parameter} has another meaning in lists`,
        );
      if (parameters.has(parameter))
        throw new DeclarationError('clash', at, `the query parameter ${parameter} would have two meanings`);
      parameters.set(parameter, filter);
    }
  }
  return parameters;
}

/** Returns the field of a name, which has a single value. */
function requireField(name: string, { schema }: Shape, more: readonly string[], at: string): Field {
  const field = schema.byName.get(name);
  if (field === undefined) {
    const known = [...schema.fields.filter(isSimple).map((each) => each.name), ...more];
    throw new DeclarationError('value', at, `"${name}" is not a field${didYouMean(name, known)}`);
  }
  if (isSimple(field)) return field;
  const has = field.content.kind === 'list' ? 'a list of values' : 'fields of its own';
  throw new DeclarationError('value', at, `${name} has ${has}, so it cannot be compared with one value`);
}

function isSimple({ content }: Field): boolean {
  return content.kind === 'simple';
}

/** Yields the parameters of a field and of its attributes. */
function* parametersOfField(field: Field, at: string): Generator<readonly [string, FilterParameter]> {
  const simple = requireSimple(field, at);
  yield* parametersOfValue(field.name, field.name, simple, ({ value }) => readValue(field, value));
  for (const { name, content } of field.attributes) {
    yield* parametersOfValue(`${field.name}.${name}`, `${field.name}/@${name}`, content, ({ value }) =>
      memberOfRecord(readMember(value, field.name), name),
    );
  }
}

function* parametersOfValue(
  name: string,
  field: string,
  { type, oneOf, reference }: Simple,
  valueIn: FilterParameter['valueIn'],
): Generator<readonly [string, FilterParameter]> {
  const indexed = indexField(field, type, valueIn);
  const of = { field, type, oneOf, reference, order: selectOrder(type), indexed, valueIn };
  yield [name, { ...of, comparison: 'equals' }];
  if (!ranged.has(type)) return;
  yield [`${name}.min`, { ...of, comparison: 'min' }];
  yield [`${name}.max`, { ...of, comparison: 'max' }];
}

function requireSimple({ content, set }: Field, at: string): Simple {
  if (set === 'id')
    throw new DeclarationError('value', at, 'is the id of the item, by which lists are not searched');
  if (content.kind === 'simple' && content.type !== 'json') return content;
  throw new DeclarationError('value', at, 'is not a field with a single value');
}

/** Returns the value of a field without its attributes. */
function readValue({ name, attributes }: Field, item: StoredItem['value']): StoredValue | undefined {
  const stored = readMember(item, name);
  return attributes.length === 0 ? stored : memberOfRecord(stored, 'value');
}

// An item that was stored under another declaration may have a value of another form.
function memberOfRecord(stored: StoredValue | undefined, name: string): StoredValue | undefined {
  return stored !== undefined && isRecord(stored) ? readMember(stored, name) : undefined;
}

function readOrders(names: readonly string[], shape: Shape, path: string): ReadonlyMap<string, ItemOrder> {
  const orders = new Map<string, ItemOrder>();
  for (const [index, declared] of names.entries()) {
    const at = `${path}[${index}]`;
    const descendingOnly = declared.startsWith('-');
    const name = descendingOnly ? declared.slice(1) : declared;
    if (orders.has(`-${name}`)) throw new DeclarationError('value', at, `${name} is listed twice`);
    const order = orderOfItems(name, shape, at);
    if (!descendingOnly) orders.set(name, order(false));
    orders.set(`-${name}`, order(true));
  }
  return orders;
}

/** Returns a function that returns the order by a field, ascending or descending. */
function orderOfItems(name: string, shape: Shape, at: string): (descending: boolean) => ItemOrder {
  if (name === modifiedName && !shape.schema.byName.has(name))
    return (descending) => modifiedOrder(name, descending);
  const field = requireField(name, shape, [modifiedName], at);
  const { type } = requireSimple(field, at);
  const indexed = indexField(name, type, ({ value }) => readValue(field, value));
  return (descending) => fieldOrder(type, indexed, descending);
}
