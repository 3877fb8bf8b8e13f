import { formatCount } from '../counted.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from '../oauth/records.ts';
import { UniqueKeys } from '../store/state/unique-keys.ts';
import type { StoredItem } from '../store/store.ts';
import type { Collection } from './declaration.ts';
import { readMember } from './fields/record.ts';
import { simpleTypes, type Violation } from './fields/simple-type.ts';
import { selectFormat } from './formats/index.ts';
import { JsonContent } from './formats/json/content.ts';
import { toJsonNode } from './formats/json/value.ts';
import { StoredValueError } from './formats/list-item.ts';
import { type ValidationError, ValidationErrors } from './formats/validation-errors.ts';
import { listReferences } from './reference-fields.ts';
import { collectionFinder } from './seed.ts';

/** Thrown for stored items that the changed declaration of their collection cannot represent. */
class StoredDataError extends Error {
  override readonly name = 'StoredDataError';
  readonly code = 'misfit';
}

/** The number of items, and of fields, that a summary names. */
const maxExamples = 3;

/** The differences between stored items and the declarations of their collections. */
export interface Mismatches {
  /** The number of items that violate a rule. */
  readonly items: number;
  /** The number of items, among these, that have a value of another type than its field. */
  readonly misfits: number;
  /** The number of items, among the misfits, that cannot be written in any format and are therefore not shown. */
  readonly hidden: number;
  /** The numbers, the paths of some items, and their fields, as one sentence without a full stop; no stored values. */
  readonly summary: string;
}

/** Compares stored items with the declarations of their collections. */
export class StoredDataCheck {
  readonly #collectionAt: (path: string) => Collection | undefined;
  readonly #unique = new UniqueCheck();
  readonly #references: ReferenceCheck;
  #last: { readonly path: string; readonly collection: Collection | undefined } | undefined;
  #items = 0;
  #misfits = 0;
  #hidden = 0;
  /** Descriptions of items with a value of another type, and of others that violate a rule. */
  readonly #examples: { readonly misfits: string[]; readonly others: string[] } = { misfits: [], others: [] };
  /** The number of items that have an undeclared field, by the path of the field and the template of the collection. */
  readonly #undeclared = new Map<string, { field: string; collection: string; items: number }>();

  constructor(collections: readonly Collection[]) {
    this.#collectionAt = collectionFinder(collections);
    this.#references = new ReferenceCheck(collections);
  }

  /**
   * Checks an item. Ignores items of undeclared collections.
   *
   * @throws StoredDataError for an invalid token or grant of OAuth
   */
  add(path: string, entry: StoredItem): void {
    if (path === tokensCollection || path === grantsCollection) {
      const fault = findOAuthFault(path, entry);
      if (fault !== undefined) throw new StoredDataError(fault);
      return;
    }
    if (this.#last?.path !== path) this.#last = { path, collection: this.#collectionAt(path) };
    const { collection } = this.#last;
    if (collection === undefined) return;
    const unwritable = findUnwritableField(collection, entry);
    const errors = [...listViolations(collection, entry), ...this.#unique.add(collection, path, entry)];
    const ofType = errors.find(({ rule }) => typeRules.has(rule));
    const violation = ofType ?? errors.find(({ rule }) => !isUndeclared(rule));
    this.#countUndeclared(collection, errors);
    if (unwritable === undefined && violation === undefined) {
      this.#references.add(collection, path, entry);
      return;
    }
    this.#references.addTarget(path, entry);
    const isMisfit = unwritable !== undefined || ofType !== undefined;
    this.#items += 1;
    if (isMisfit) this.#misfits += 1;
    if (unwritable !== undefined) this.#hidden += 1;
    const examples = isMisfit ? this.#examples.misfits : this.#examples.others;
    if (examples.length === maxExamples) return;
    const [field, reason] =
      violation === undefined
        ? [unwritable ?? '', 'does not match its declaration']
        : [violation.field, formatReason(violation)];
    examples.push(
      `${field} of ${path}/${entry.id} ${reason}${unwritable === undefined ? '' : ' (not shown)'}`,
    );
  }

  /** Returns the differences that were found; undefined if there are none. */
  result(): Mismatches | undefined {
    for (const { path, id, field, rule } of this.#references.end()) {
      this.#items += 1;
      const { others } = this.#examples;
      if (others.length < maxExamples) others.push(`${field} of ${path}/${id} ${formatReason(rule)}`);
    }
    if (this.#items === 0 && this.#undeclared.size === 0) return undefined;
    const summary = [this.#itemSummary(), this.#fieldSummary()].filter((part) => part !== '').join('; ');
    return { items: this.#items, misfits: this.#misfits, hidden: this.#hidden, summary };
  }

  #countUndeclared({ path }: Collection, errors: readonly ValidationError[]): void {
    const fields = errors
      .filter(({ rule }) => isUndeclared(rule))
      .map(({ field }) => field.replace(/\[[0-9]+\]/g, ''));
    for (const field of new Set(fields)) {
      const key = `${path} ${field}`;
      const found = this.#undeclared.get(key) ?? { field, collection: path, items: 0 };
      found.items += 1;
      this.#undeclared.set(key, found);
    }
  }

  #itemSummary(): string {
    if (this.#items === 0) return '';
    const examples = [...this.#examples.misfits, ...this.#examples.others].slice(0, maxExamples);
    const more = this.#items - examples.length;
    if (more > 0) examples.push(`and ${more} more`);
    const verb = this.#items === 1 ? 'breaks' : 'break';
    return `${formatCount(this.#items, 'item')} ${verb} today's rules: ${examples.join('; ')}`;
  }

  #fieldSummary(): string {
    const fields = Array.from(
      this.#undeclared.values(),
      ({ field, collection, items }) =>
        `field ${field} is no longer shown (in ${formatCount(items, 'item')} of ${collection})`,
    );
    const more = fields.length - maxExamples;
    const named = fields.slice(0, maxExamples);
    if (more > 0) named.push(`and ${formatCount(more, 'other field')}`);
    return named.join('; ');
  }
}

/** Whether a server starts if there are items with values of another type than their fields. */
type OnMismatch = 'refuse' | 'warn';

/**
 * Returns the warning for the differences that were found.
 *
 * @throws StoredDataError if a value has another type than its field, and `onMismatch` is `refuse`
 */
export function formatWarning({ misfits, hidden, summary }: Mismatches, onMismatch: OnMismatch): string {
  if (misfits === 0 || onMismatch === 'warn') return summary;
  const cannot = `${formatCount(misfits, 'item')} cannot be shown${hidden === misfits ? '' : ' as declared'}`;
  throw new StoredDataError(`${summary}. ${cannot}: ${advice(misfits)}, or start with --on-mismatch warn`);
}

/**
 * Returns the warning for collections with items that are not declared.
 *
 * @param stored the number of items by path
 */
export function formatUndeclaredWarning(
  stored: ReadonlyMap<string, number>,
  collections: readonly Collection[],
): string | undefined {
  const collectionAt = collectionFinder(collections);
  const undeclared = [...stored].filter(
    ([path, items]) =>
      items > 0 && path !== tokensCollection && path !== grantsCollection && collectionAt(path) === undefined,
  );
  if (undeclared.length === 0) return undefined;
  const named = undeclared
    .slice(0, maxExamples)
    .map(([path, items]) => `${path} (${formatCount(items, 'item')})`);
  const more = undeclared.length - maxExamples;
  if (more > 0) named.push(`and ${formatCount(more, 'other collection')}`);
  const items = undeclared.reduce((sum, [, count]) => sum + count, 0);
  return `not declared, so that requests get 404: ${named.join(', ')}; ${advice(items)}`;
}

function advice(items: number): string {
  const them = items === 1 ? 'the item' : 'the items';
  return `restore the declaration, or edit or remove ${them} with "countersign export" and "countersign import"`;
}

/** Creates a check of items one by one. */
export function createConformityCheck(collections: readonly Collection[]): ConformityCheck {
  const collectionAt = collectionFinder(collections);
  const unique = new UniqueCheck();
  const references = new ReferenceCheck(collections);
  let last: { readonly path: string; readonly collection: Collection | undefined } | undefined;
  const add = (path: string, entry: StoredItem): string | undefined => {
    if (path === tokensCollection || path === grantsCollection) return findOAuthFault(path, entry);
    if (last?.path !== path) last = { path, collection: collectionAt(path) };
    const { collection } = last;
    if (collection === undefined) return undefined;
    const [violation] = [...listViolations(collection, entry), ...unique.add(collection, path, entry)];
    references.add(collection, path, entry);
    if (violation === undefined) return undefined;
    const { field } = violation;
    return formatMismatch(path, entry.id, field, violation);
  };
  const end = (): string | undefined => {
    const [broken] = references.end();
    return broken && formatMismatch(broken.path, broken.id, broken.field, broken.rule);
  };
  return { add, end };
}

/** Finds items that violate the declaration of their collection, or are no token or grant of OAuth. */
interface ConformityCheck {
  /** Adds an item. Returns what is wrong with it, without its values; undefined if nothing is, or if its collection is undeclared. */
  add(path: string, entry: StoredItem): string | undefined;
  /** Returns the first item that refers to none that was added; undefined if there is none. */
  end(): string | undefined;
}

function formatMismatch(path: string, id: string, field: string, violation: Violation): string {
  return `${path}/${id} does not match its declaration: ${field} ${formatReason(violation)}`;
}

/** A field that refers to no item. */
interface BrokenReference {
  readonly path: string;
  readonly id: string;
  readonly field: string;
  readonly rule: Violation;
}

/** Finds items that refer to none of the items that are added. */
class ReferenceCheck {
  /** The ids of the items to which others may refer, by path. */
  readonly #ids: ReadonlyMap<string, Set<string>>;
  #references: { path: string; id: string; field: string; to: string; target: string }[] = [];

  constructor(collections: readonly Collection[]) {
    const targets = collections.flatMap(({ shape }) => listReferences(shape).map(({ to }) => to));
    this.#ids = new Map(targets.map((path) => [path, new Set()]));
  }

  /** Adds an item, to which others may refer. */
  addTarget(path: string, { id }: StoredItem): void {
    this.#ids.get(path)?.add(id);
  }

  /** Adds an item with its references. */
  add({ shape }: Collection, path: string, entry: StoredItem): void {
    this.addTarget(path, entry);
    if (this.#ids.size === 0) return;
    for (const { field, to } of listReferences(shape)) {
      const target = readMember(entry.value, field);
      if (typeof target === 'string') this.#references.push({ path, id: entry.id, field, to, target });
    }
  }

  /** Returns the first broken reference of each item, once all are added. */
  end(): readonly BrokenReference[] {
    const broken = this.#references.filter(({ to, target }) => this.#ids.get(to)?.has(target) !== true);
    this.#references = [];
    const items = new Map(broken.toReversed().map((each) => [`${each.path}/${each.id}`, each]));
    return Array.from(items.values(), ({ path, id, field, to }) => ({
      path,
      id,
      field,
      rule: { rule: 'reference', detail: `refers to no item of ${to}` },
    })).toReversed();
  }
}

/** Finds items with the unique values of an earlier one. */
class UniqueCheck {
  /** The unique values by the path of the collection. */
  readonly #keys = new Map<string, UniqueKeys>();

  /** Adds an item. Returns the rule that it violates. */
  add({ unique }: Collection, path: string, entry: StoredItem): readonly ValidationError[] {
    if (unique === undefined) return [];
    const keys = this.#keys.get(path) ?? new UniqueKeys(unique);
    this.#keys.set(path, keys);
    const conflict = keys.findConflict(entry.value);
    keys.add(entry);
    if (conflict === undefined) return [];
    const { fields, id } = conflict;
    const detail = `${fields.length === 1 ? 'equals that' : 'equal those'} of ${path}/${id}`;
    return [{ field: fields.join(' and '), rule: 'unique', detail }];
  }
}

/** The names of rules that a value violates if it has another type than its field. */
const typeRules: ReadonlySet<string> = new Set([...simpleTypes, 'list', 'element', 'attributes', 'root']);

/** Returns the field because of which an item cannot be written; undefined if it can be. */
function findUnwritableField({ shape }: Collection, { value }: StoredItem): string | undefined {
  try {
    selectFormat(undefined).writeItem(shape, value);
    return undefined;
  } catch (error) {
    if (error instanceof StoredValueError) return error.field;
    throw error;
  }
}

/** Returns the rules that an item violates. */
function listViolations({ shape }: Collection, { value }: StoredItem): readonly ValidationError[] {
  const errors = new ValidationErrors();
  new JsonContent(errors, () => undefined, 'stored').item(shape, toJsonNode(value, ''), false);
  return errors.found;
}

function isUndeclared(rule: string): boolean {
  return rule === 'unknown-element' || rule === 'unknown-attribute';
}

/** Returns the rule that a value violates, without the value, which must not appear in a log. */
function formatReason({ rule, detail }: Violation): string {
  return rule === 'required' ? 'is missing' : detail.replace(/[,;] (?:is|has|contains) .*$/s, '');
}

/** Returns why an item of these two collections is no record of OAuth; undefined if it is one. */
function findOAuthFault(path: string, entry: StoredItem): string | undefined {
  const record = path === tokensCollection ? readToken(entry) : readGrant(entry);
  if (record !== undefined) return undefined;
  const what = path === tokensCollection ? 'token' : 'grant';
  return `${path}/${entry.id} is not an OAuth ${what}; remove it with "countersign export --with-tokens" and "countersign import"`;
}
