import type { StoredItem, StoredRecord, UniqueConflict, UniqueRules } from '../store.ts';

/** The values of an item that no other one may have. */
interface UniqueKey {
  readonly fields: readonly string[];
  /** The names and the values of the fields, as JSON. */
  readonly key: string;
}

/** Returns a key for each rule that applies to an item: for those of whose fields it has all. */
export function listUniqueKeys(rules: UniqueRules, value: StoredRecord): UniqueKey[] {
  return rules.flatMap((fields) => {
    const values = fields.map((name) => (Object.hasOwn(value, name) ? value[name] : undefined));
    return values.includes(undefined) ? [] : [{ fields, key: JSON.stringify([fields, values]) }];
  });
}

/** The items of a collection by the values that no two of them may share. */
export class UniqueKeys {
  readonly #rules: UniqueRules;
  /** The id of the item with each key, or of the first of several. */
  readonly #holders = new Map<string, string>();
  /** The ids of further items with a key: they were stored when the rule was not declared. */
  readonly #further = new Map<string, readonly string[]>();

  constructor(rules: UniqueRules, items: Iterable<StoredItem> = []) {
    this.#rules = rules;
    for (const item of items) this.add(item);
  }

  /** Returns whether these are the rules of the keys. */
  follows(rules: UniqueRules): boolean {
    return rules === this.#rules || JSON.stringify(rules) === JSON.stringify(this.#rules);
  }

  /**
   * Returns the first rule that an item with these fields would break, with another item that has the same values.
   * @param id the id of the item; undefined if it has none yet
   */
  findConflict(value: StoredRecord, id?: string): UniqueConflict | undefined {
    for (const { fields, key } of listUniqueKeys(this.#rules, value)) {
      const other = this.#holdersOf(key).find((holder) => holder !== id);
      if (other !== undefined) return { fields, id: other };
    }
    return undefined;
  }

  /** Adds the keys of an item. */
  add({ id, value }: Pick<StoredItem, 'id' | 'value'>): void {
    for (const { key } of listUniqueKeys(this.#rules, value)) {
      if (this.#holders.has(key)) this.#further.set(key, [...(this.#further.get(key) ?? []), id]);
      else this.#holders.set(key, id);
    }
  }

  /** Removes the keys of an item that was added. */
  remove({ id, value }: Pick<StoredItem, 'id' | 'value'>): void {
    for (const { key } of listUniqueKeys(this.#rules, value)) {
      const [holder, ...further] = this.#holdersOf(key).filter((each) => each !== id);
      if (holder === undefined) this.#holders.delete(key);
      else this.#holders.set(key, holder);
      if (further.length === 0) this.#further.delete(key);
      else this.#further.set(key, further);
    }
  }

  #holdersOf(key: string): readonly string[] {
    const holder = this.#holders.get(key);
    return holder === undefined ? [] : [holder, ...(this.#further.get(key) ?? [])];
  }
}
