// Finds the items to which an item refers, and those that refer to an item.
import type { ReferenceRules, ReferenceTarget, StoreChange, StoredItem, StoredRecord } from '../store.ts';

/** The place of an item. */
interface Place {
  readonly collection: string;
  readonly id: string;
}

/** Returns a regular expression, of ECMAScript and of PostgreSQL, for the paths of a template: `^/users/[^/]+/orders$`. */
export function formatTemplateExpression(template: string): string {
  return `^${template.replaceAll(/[.$()*+]/g, '\\$&').replaceAll(/\{[^{}]*\}/g, '[^/]+')}$`;
}

/** Returns the rules for the fields of a collection. */
export function selectRules(rules: ReferenceRules, path: string): ReferenceRules {
  return rules.filter(({ from }) => from === path || new RegExp(formatTemplateExpression(from)).test(path));
}

/**
 * Returns whether a change is never in one batch with others: a deletion of an item to which others may refer, which is checked
 * against what is stored.
 */
export function isMadeAlone({ kind, references }: StoreChange): boolean {
  return kind === 'delete' && references !== undefined;
}

/** Returns a key of an item in all collections. */
export function itemKey({ collection, id }: Place): string {
  return `${collection}\n${id}`;
}

/** The items of a store by the items to which they refer. */
export class ReferenceIndex {
  readonly #rules: ReferenceRules;
  /** The rules of each collection. */
  readonly #byPath = new Map<string, ReferenceRules>();
  /** The places of referring items, by the keys of both. */
  readonly #referrers = new Map<string, Map<string, Place>>();

  constructor(
    rules: ReferenceRules,
    collections: Iterable<{ readonly path: string; readonly entries: Iterable<StoredItem> }> = [],
  ) {
    this.#rules = rules;
    for (const { path, entries } of collections)
      if (this.#rulesOf(path).length > 0) for (const item of entries) this.add(path, item);
  }

  /** Returns whether these are the rules of the index. */
  follows(rules: ReferenceRules): boolean {
    return rules === this.#rules || JSON.stringify(rules) === JSON.stringify(this.#rules);
  }

  /** Returns the items to which the fields of an item refer. */
  targetsOf(path: string, value: StoredRecord): readonly ReferenceTarget[] {
    return this.#rulesOf(path).flatMap(({ field, to }) => {
      const id = Object.hasOwn(value, field) ? value[field] : undefined;
      return typeof id === 'string' ? [{ field, collection: to, id }] : [];
    });
  }

  /** Returns the places of the items that refer to an item. */
  referrersOf(target: Place): Iterable<Place> {
    return this.#referrers.get(itemKey(target))?.values() ?? [];
  }

  /** Adds the references of an item. */
  add(collection: string, { id, value }: Pick<StoredItem, 'id' | 'value'>): void {
    for (const target of this.targetsOf(collection, value)) {
      const key = itemKey(target);
      const referrers = this.#referrers.get(key) ?? new Map<string, Place>();
      const place = { collection, id };
      this.#referrers.set(key, referrers.set(itemKey(place), place));
    }
  }

  /** Removes the references of an item that was added. */
  remove(collection: string, { id, value }: Pick<StoredItem, 'id' | 'value'>): void {
    for (const target of this.targetsOf(collection, value)) {
      const referrers = this.#referrers.get(itemKey(target));
      referrers?.delete(itemKey({ collection, id }));
      if (referrers?.size === 0) this.#referrers.delete(itemKey(target));
    }
  }

  #rulesOf(path: string): ReferenceRules {
    const found = this.#byPath.get(path) ?? selectRules(this.#rules, path);
    this.#byPath.set(path, found);
    return found;
  }
}
