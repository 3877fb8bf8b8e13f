// What the resources of a collection have in common: the parts that they depend on, and how they store an item.

import { Problem } from '../http/problem.ts';
import { fillTemplate } from '../http/syntax/percent.ts';
import {
  type Access,
  type Call,
  type DocumentFormat,
  listOwnerFields,
  permitsAllItems,
  permitsItem,
} from '../pipeline/resource.ts';
import type { Creation, Store, StoredItem, StoredRecord } from '../store/store.ts';
import type { Collection } from './declaration.ts';
import type { DocumentLimits } from './formats/list-item.ts';
import type { Repetition } from './idempotency.ts';
import type { SearchedStore } from './lists/search.ts';
import { listReferences } from './reference-fields.ts';
import type { CollectionReferences } from './references.ts';
import { addServerValues } from './server-values.ts';

/** The options of a service that the resources of collections depend on. */
export interface Serving {
  /** The format of responses to clients that accept both. Default: XML. */
  readonly defaultFormat?: DocumentFormat | undefined;
  /**
   * If given, unknown and repeated query parameters of lists are rejected. Returns whether a parameter belongs to the credentials of a scheme.
   */
  readonly isCredential?: ((parameter: string) => boolean) | undefined;
  /** The searches of all collections. */
  readonly searched: SearchedStore;
}

/** A collection that a service serves. */
export interface Served extends Serving {
  readonly collection: Collection;
  readonly store: Store;
  readonly documentLimits: DocumentLimits;
  readonly repetition: Repetition;
  /** Its references; undefined if no collection of the service has any. */
  readonly links: CollectionReferences | undefined;
}

/** The maximum length of the path of a collection in bytes: databases index no longer texts. */
const maxPathLength = 2000;

/**
 * Checks the path of a collection that a request adds an item to.
 * @throws {Problem} `invalid-id` if its parameters are so long that not every store can store it
 */
export function requireStorablePath(path: string): void {
  // It is ASCII: other characters are percent-encoded.
  if (path.length > maxPathLength)
    throw new Problem('invalid-id', `The path of the collection has more than ${maxPathLength} bytes.`);
}

/** Throws RangeError if a collection has unique fields or references, and the store does not check them. */
export function requireStoreFor({ path, unique, shape }: Collection, store: Store): void {
  if (unique !== undefined && store.checksUnique !== true)
    throw new RangeError(`collections.${path}.unique requires a store with \`checksUnique\``);
  const [first] = listReferences(shape);
  if (first !== undefined && store.referrers === undefined)
    throw new RangeError(
      `collections.${path}.fields.${first.field}: a reference requires a store with \`referrers\``,
    );
}

/** Returns the members that all changes of a collection have. */
export function changeMembers(
  { collection: { path, unique }, links }: Served,
  { parameters, now }: Pick<Call, 'parameters' | 'now'>,
): Pick<Creation, 'collection' | 'at' | 'unique' | 'references'> {
  return { collection: fillTemplate(path, parameters), at: now, unique, references: links?.rules };
}

/**
 * Returns what is stored of the fields that a client sent: with the values of the server, and with ids in place of addresses.
 * @param access the rule of the method
 * @param before the item before the change; undefined if it is created
 * @throws {Problem} if the principal may not store it, or if it refers to a missing item
 */
export async function prepareValue(
  { collection, links }: Served,
  call: Call,
  access: Access,
  sent: StoredRecord,
  before: StoredRecord | undefined,
): Promise<StoredRecord> {
  const completed = addServerValues(collection.shape, sent, call, before);
  const value = links === undefined ? completed : await links.resolve(completed, before, call);
  requireOwn(access, call, value);
  return value;
}

// The access rules that depend on the user whom a field of an item names.

type ItemCall = Pick<Call<StoredItem>, 'method' | 'principal' | 'parameters' | 'state'>;

/**
 * Returns the member of an action that checks the rule of the method for the item that was found; none if the rules do not depend on
 * the item.
 * @param ruleOf returns the rule of the call
 */
export function checksItem(
  rules: readonly Access[],
  ruleOf: (call: Pick<Call, 'method' | 'state'>) => Access,
): { readonly permitsState?: (call: ItemCall) => boolean } {
  const [first, ...others] = rules;
  const depends =
    others.some((rule) => rule !== first) || rules.some((rule) => listOwnerFields(rule).length > 0);
  if (!depends) return {};
  return {
    permitsState(call) {
      const { principal, parameters, state } = call;
      const rule = ruleOf(call);
      // The fields of a new item are checked when they are known.
      if (state === undefined)
        return (
          permitsAllItems(rule, principal, parameters) ||
          (principal !== undefined && listOwnerFields(rule).length > 0)
        );
      return permitsItem(rule, principal, parameters, state.value.value);
    },
  };
}

/**
 * Throws a Problem (403) if the rule does not permit the principal for the item that would be stored.
 * @param access the rule of the method
 */
function requireOwn(
  access: Access,
  { principal, parameters }: Pick<Call, 'principal' | 'parameters'>,
  value: StoredRecord,
): void {
  const fields = listOwnerFields(access);
  if (fields.length === 0 || permitsItem(access, principal, parameters, value)) return;
  throw new Problem(
    'forbidden',
    `This principal may only store items in which ${fields.join(' or ')} is its own name.`,
  );
}

/** Returns the fields by which the list of a principal is limited to its own items; none if it may read all. */
export function findOwnFields(access: Access, { principal, parameters }: Call): readonly string[] {
  const fields = listOwnerFields(access);
  return fields.length === 0 || permitsAllItems(access, principal, parameters) ? [] : fields;
}
