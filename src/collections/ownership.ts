/** The access rules that depend on the user whom a field of an item names. */

import { Problem } from '../http/problem.ts';
import {
  type Access,
  type Call,
  listOwnerFields,
  permitsAllItems,
  permitsItem,
} from '../pipeline/resource.ts';
import type { StoredItem, StoredRecord } from '../store/store.ts';

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
export function requireOwn(
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
