import { Problem } from '../http/problem.ts';
import { fillTemplate } from '../http/syntax/percent.ts';
import { type Call, permits, retryAction } from '../pipeline/resource.ts';
import type { NotApplied, UniqueConflict } from '../store/store.ts';
import type { Collection } from './declaration.ts';
import { formatHref } from './lists/page-links.ts';
import { missingItem } from './references.ts';

/**
 * Returns how an action continues whose change was not made: it is repeated, because the item has changed meanwhile.
 * @throws {Problem} `conflict` if another item has its unique values, `invalid-content` if it would refer to a missing item
 */
export function retryOrThrow(
  { conflict, missing }: NotApplied,
  { access, path }: Collection,
  { principal, parameters }: Pick<Call, 'principal' | 'parameters'>,
): typeof retryAction {
  if (missing !== undefined) throw missingItem(missing);
  if (conflict === undefined) return retryAction;
  const { fields, id } = conflict;
  const href = permits(access.GET, principal, parameters)
    ? { href: formatHref(fillTemplate(path, parameters), id) }
    : {};
  throw new Problem('conflict', `Another item ${formatConflict(conflict)}. Nothing was changed.`, {
    members: { fields, ...href },
  });
}

/** Returns what another item has in common with one that conflicts with it: `has the same sku`. */
export function formatConflict({ fields }: UniqueConflict): string {
  return `has the same ${fields.join(' and ')}`;
}
