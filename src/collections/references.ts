// Fields that refer to items: their rules, the ids that requests name, and what the deletion of an item does to others.
import { formatCount } from '../counted.ts';
import { didYouMean } from '../did-you-mean.ts';
import { Problem } from '../http/problem.ts';
import { decodeText } from '../http/syntax/percent.ts';
import { type Call, permitsItem } from '../pipeline/resource.ts';
import { itemKey, selectRules } from '../store/state/references.ts';
import type {
  Deletion,
  ReferenceRules,
  ReferenceTarget,
  Referrer,
  Replacement,
  Store,
  StoredItem,
  StoredRecord,
} from '../store/store.ts';
import type { Collection } from './declaration.ts';
import { DeclarationError } from './fields/error.ts';
import { readMember } from './fields/record.ts';
import type { ReferenceTo } from './fields/simple-type.ts';
import { ValidationErrors } from './formats/validation-errors.ts';
import { formatHref } from './lists/page-links.ts';
import { describeMissing, listReferences, parseReference } from './reference-fields.ts';
import { stampChange } from './server-values.ts';

/** A field that refers to items of a collection. */
interface Reference {
  readonly from: Collection;
  readonly field: string;
  readonly to: Collection;
  readonly onDelete: ReferenceTo['onDelete'];
}

/** The references between the collections of a service. */
export interface References {
  /** The references in the form of the store. */
  readonly rules: ReferenceRules;
  readonly all: readonly Reference[];
}

/** The most items that the deletion of one changes or deletes, and the greatest length of the changed ones as JSON, in characters. */
const [maxItems, maxLength] = [1000, 4 * 1024 * 1024];

/**
 * Compiles the references between collections. Returns undefined if there are none.
 * @throws {DeclarationError} for a reference to a collection that is not declared, or whose path has parameters
 */
export function compileReferences(collections: readonly Collection[]): References | undefined {
  const all = collections.flatMap((from) =>
    listReferences(from.shape).map((reference) => {
      const to = collections.find(({ path }) => path === reference.to);
      if (to !== undefined && !to.path.includes('{')) return { ...reference, from, to };
      const known = collections.map(({ path }) => path).filter((path) => !path.includes('{'));
      const fault =
        to === undefined
          ? `"${reference.to}" is not the path of a collection${didYouMean(reference.to, known)}`
          : 'a reference is to a collection without parameters in its path';
      throw new DeclarationError('value', `collections.${from.path}.fields.${reference.field}.to`, fault);
    }),
  );
  if (all.length === 0) return undefined;
  return { all, rules: all.map(({ from, field, to }) => ({ from: from.path, field, to: to.path })) };
}

/** The references of a collection and to it. */
export class CollectionReferences {
  /** The rules that the items of the collection follow; undefined if they refer to nothing. */
  readonly rules: ReferenceRules | undefined;
  readonly #all: References;
  readonly #own: readonly Reference[];
  readonly #isReferred: boolean;
  readonly #store: Store;

  constructor(references: References, collection: Collection, store: Store) {
    this.#all = references;
    this.#own = references.all.filter(({ from }) => from === collection);
    this.#isReferred = references.all.some(({ to }) => to === collection);
    this.#store = store;
    this.rules = this.#own.length > 0 ? references.rules : undefined;
  }

  /**
   * Returns what is stored of an item: with ids in place of addresses.
   * @param before the item before the change; undefined if it is created
   * @throws {Problem} `invalid-content` for what is no id or address of an item, or of one that does not exist for the principal
   */
  async resolve(value: StoredRecord, before: StoredRecord | undefined, call: Call): Promise<StoredRecord> {
    if (this.#own.length === 0) return value;
    const resolved: { [name: string]: StoredRecord[string] } = { ...value };
    for (const { field, to } of this.#own) {
      const sent = readMember(value, field);
      if (typeof sent !== 'string') continue;
      const id = parseReference(sent, to.path, call.incoming);
      if (id === undefined || (id !== before?.[field] && (await this.#isHidden(to, id, call))))
        throw missingItem({ field, collection: to.path, id: sent });
      resolved[field] = id;
    }
    return resolved;
  }

  /**
   * Returns the members of a deletion that concern references.
   * @throws {Problem} `conflict` if an item that refers to it prevents the deletion, or if more items would change than one step can
   */
  async planDeletion(
    collection: string,
    item: StoredItem,
    call: Call,
  ): Promise<Pick<Deletion, 'references' | 'also'>> {
    if (!this.#isReferred) return {};
    const plan = new DeletionPlan(this.#all, this.#store);
    await plan.collect({ collection, item });
    return { references: this.#all.rules, also: plan.finish(call) };
  }

  async #isHidden({ hide, access, path }: Collection, id: string, call: Call): Promise<boolean> {
    if (!hide) return false;
    const item = await this.#store.read(path, id);
    return item === undefined || !permitsItem(access.GET, call.principal, {}, item.value);
  }
}

/** Returns the problem of an item that would refer to a missing one. */
export function missingItem({ field, collection, id }: ReferenceTarget): Problem {
  const errors = new ValidationErrors();
  errors.add(field, { rule: 'reference', detail: describeMissing(collection, id) }, undefined);
  const problem = errors.problem();
  if (problem === undefined) throw new Error('an error has a problem');
  return problem;
}

/** An item that prevents the deletion of another one. */
interface Restricting extends Referrer {
  readonly reference: Reference;
}

/** The items that are deleted and changed with an item. */
class DeletionPlan {
  readonly #references: References;
  readonly #store: Store;
  /** The deleted items by their keys, the first one with those that follow it. */
  readonly #deleted = new Map<string, Referrer>();
  /** The items whose fields are removed, with these, by their keys. */
  readonly #cleared = new Map<string, Referrer & { readonly from: Collection; readonly fields: string[] }>();
  /** The items that prevent the deletion, unless they are deleted. */
  readonly #restricting: Restricting[] = [];
  #isTooLarge = false;

  constructor(references: References, store: Store) {
    this.#references = references;
    this.#store = store;
  }

  /** Collects an item, and all that are deleted with it, each once. */
  async collect(first: Referrer): Promise<void> {
    this.#deleted.set(keyOf(first), first);
    // A map also iterates over what is added meanwhile.
    for (const target of this.#deleted.values()) {
      const { collection, item } = target;
      const found = await this.#store.referrers?.(this.#references.rules, collection, item.id, maxItems + 1);
      for (const referrer of found ?? []) this.#add(referrer, target);
      if (this.#deleted.size + this.#cleared.size <= maxItems + 1) continue;
      this.#isTooLarge = true;
      return;
    }
  }

  #add(referrer: Referrer, { collection, item }: Referrer): void {
    const key = keyOf(referrer);
    for (const reference of this.#references.all) {
      const { from, field, to, onDelete } = reference;
      const refers = to.path === collection && readMember(referrer.item.value, field) === item.id;
      if (!refers || !isFrom(reference, referrer)) continue;
      if (onDelete === 'restrict') this.#restricting.push({ ...referrer, reference });
      else if (onDelete === 'cascade') this.#deleted.set(key, this.#deleted.get(key) ?? referrer);
      else {
        const cleared = this.#cleared.get(key) ?? { ...referrer, from, fields: [] };
        this.#cleared.set(key, { ...cleared, fields: [...cleared.fields, field] });
      }
    }
  }

  /** Returns the further changes. Throws a Problem if an item prevents the deletion, or if there are too many. */
  finish(call: Call): Deletion['also'] {
    const restricting = this.#restricting.find((each) => !this.#deleted.has(keyOf(each)));
    if (restricting !== undefined) throw restrictedBy(restricting, call);
    const { now: at } = call;
    const [, ...deleted] = this.#deleted.values();
    const cleared = [...this.#cleared.values()].filter((each) => !this.#deleted.has(keyOf(each)));
    const replacements = cleared.map(({ collection, item, from, fields }): Replacement => {
      const kept = Object.entries(item.value).filter(([name]) => !fields.includes(name));
      const value = stampChange(from.shape, Object.fromEntries(kept), call);
      const { unique } = from;
      return { kind: 'put', collection, id: item.id, expected: item.revision, value, at, unique };
    });
    const length = replacements.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0);
    if (this.#isTooLarge || length > maxLength)
      throw new Problem(
        'conflict',
        `With this item, more than ${formatCount(maxItems, 'item')} would be deleted or changed, or more than ${maxLength} characters. Nothing was changed. Delete those that refer to it first.`,
      );
    const deletions = deleted.map((referrer): Deletion => {
      const { collection, item } = referrer;
      const from = this.#references.all.find((reference) => isFrom(reference, referrer))?.from;
      return {
        kind: 'delete',
        collection,
        id: item.id,
        expected: item.revision,
        at,
        unique: from?.unique,
      };
    });
    return [...deletions, ...replacements];
  }
}

function keyOf({ collection, item }: Referrer): string {
  return itemKey({ collection, id: item.id });
}

/** Returns whether an item belongs to the collection of a reference. */
function isFrom({ from, field, to }: Reference, { collection }: Referrer): boolean {
  return selectRules([{ from: from.path, field, to: to.path }], collection).length > 0;
}

/** Returns the problem of an item that another one refers to. */
function restrictedBy(
  { collection, item, reference: { from, field } }: Restricting,
  { principal }: Call,
): Problem {
  const names = from.path.split('/');
  const parameters = Object.fromEntries(
    collection.split('/').map((segment, at) => [names[at]?.slice(1, -1) ?? '', decodeText(segment) ?? '']),
  );
  const isShown = permitsItem(from.access.GET, principal, parameters, item.value);
  const href = isShown ? { href: formatHref(collection, item.id) } : {};
  const detail = `The field ${field} of an item of ${from.path} refers to this item. Nothing was changed.`;
  return new Problem('conflict', detail, { members: { field, ...href } });
}
