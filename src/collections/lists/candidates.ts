// Chooses how a search is answered from the indexes of its fields: by the order of the list, or by the condition that selects the
// fewest items. All places are taken in one turn of the event loop. The items are read afterwards, perhaps in several turns.
import { type FieldIndex, type KeyRange, unbounded, type Walk } from './field-index.ts';
import type { FieldIndexes } from './indexes.ts';
import type { IndexedField, ItemOrder, Position } from './order.ts';
import type { Condition, Search } from './query.ts';

/** The items to read for a page. */
export interface Candidates {
  readonly places: readonly Position[];
  /** Whether the places are in the order of the list. */
  readonly inOrder: boolean;
  /** Whether the other items of the collection are not on the page. If not, the page may need more than these. */
  readonly complete: boolean;
}

/** The conditions of one field. */
interface Selected {
  readonly index: FieldIndex;
  readonly range: KeyRange;
  /** The number of items in the range. */
  readonly count: number;
}

/** Returns the fields whose indexes a search uses. */
export function findIndexedFields({ order, conditions }: Search): readonly IndexedField[] {
  const fields = new Map(conditions.map(({ field }) => [field.name, field]));
  if (order !== undefined) fields.set(order.field.name, order.field);
  return [...fields.values()];
}

/**
 * Returns the items to read for the page of up to `limit` items after a place. Returns undefined if the indexes cannot be used.
 * @param indexes has the indexes of all fields of the search
 */
export function findCandidates(
  indexes: FieldIndexes,
  { order, conditions }: Search,
  after: Position | undefined,
  limit: number,
): Candidates | undefined {
  const selected = selectRanges(indexes, conditions);
  if (order !== undefined) return candidatesInOrder(indexes, order, selected, after, limit);
  const [fewest, ...others] = [...selected.values()].sort((one, other) => one.count - other.count);
  if (fewest === undefined) return undefined;
  const max = estimateReads(limit, fewest.index.size, others);
  const places = firstCreated(fewest, after?.sequence ?? 0, max);
  return { places, inOrder: true, complete: places.length < max };
}

function candidatesInOrder(
  indexes: FieldIndexes,
  order: ItemOrder,
  selected: ReadonlyMap<string, Selected>,
  after: Position | undefined,
  limit: number,
): Candidates | undefined {
  const { name } = order.field;
  const index = indexes.get(name);
  if (index === undefined) return undefined;
  const others = [...selected].filter(([field]) => field !== name).map(([, each]) => each);
  const max = estimateReads(limit, index.size, others);
  const fewest = others.find(({ count }) => others.every((other) => count <= other.count));
  if (fewest !== undefined && fewest.count <= max) {
    const places = takeFirst(fewest.index, { range: fewest.range, descending: false }, fewest.count);
    return { places, inOrder: false, complete: true };
  }
  if (!index.sorts) return undefined;
  const range = selected.get(name)?.range ?? unbounded;
  const places = takeFirst(index, { range, descending: order.descending, after }, max);
  return { places, inOrder: true, complete: places.length < max };
}

/** Returns the range of each field that has conditions. */
function selectRanges(
  indexes: FieldIndexes,
  conditions: readonly Condition[],
): ReadonlyMap<string, Selected> {
  const selected = new Map<string, Selected>();
  for (const { field, comparison, key } of conditions) {
    const index = indexes.get(field.name);
    if (index === undefined) continue;
    let { min, max } = selected.get(field.name)?.range ?? unbounded;
    if (comparison !== 'max' && (min === undefined || field.compare(key, min) > 0)) min = key;
    if (comparison !== 'min' && (max === undefined || field.compare(key, max) < 0)) max = key;
    const range = { min, max };
    selected.set(field.name, { index, range, count: index.count(range) });
  }
  return selected;
}

/** Returns how many items have to be read for a page and for the first item after it, if other conditions select some of them. */
function estimateReads(limit: number, size: number, others: readonly Selected[]): number {
  const share = others.reduce((product, { count }) => product * (count / Math.max(1, size)), 1);
  // Four times as many, because the conditions may depend on each other.
  return others.length === 0 ? limit + 1 : Math.ceil(Math.min(size, (4 * (limit + 1)) / share)) + 1;
}

/** Returns the first places in the order of creation after a sequence. */
function firstCreated({ index, range }: Selected, after: number, max: number): readonly Position[] {
  const { min, max: highest } = range;
  // Items with equal keys are in the order of creation already.
  if (min !== undefined && min === highest)
    return takeFirst(index, { range, descending: false, after: { key: min, sequence: after } }, max);
  let first: Position[] = [];
  let bound = Number.POSITIVE_INFINITY;
  index.walk({ range, descending: false }, (place) => {
    if (place.sequence <= after || place.sequence >= bound) return true;
    if (first.push(place) < 2 * max) return true;
    first = first.sort(compareSequences).slice(0, max);
    bound = first.at(-1)?.sequence ?? bound;
    return true;
  });
  return first.sort(compareSequences).slice(0, max);
}

function compareSequences(one: Position, other: Position): number {
  return one.sequence - other.sequence;
}

function takeFirst(index: FieldIndex, walk: Walk, max: number): readonly Position[] {
  const first: Position[] = [];
  index.walk(walk, (place) => first.push(place) < max);
  return first;
}
