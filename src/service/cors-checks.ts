import type { Collection } from '../collections/declaration.ts';
import { readCors } from '../pipeline/cors-policy.ts';
import type { Resource } from '../pipeline/resource.ts';

/** Checks the value of an option `cors`, unless it is undefined. `what` names it in the message. Throws RangeError. */
export function checkCors(value: unknown, what: string): void {
  if (value !== undefined) readCors(value, (at, fault) => new RangeError(`${what}${at}: ${fault}`));
}

/** Returns whether a collection or a resource has a `cors` of its own. */
export function someUseCors(
  collections: readonly Collection[],
  resources: Readonly<Record<string, Resource>>,
): boolean {
  return [...collections, ...Object.values(resources)].some(({ cors }) => cors !== undefined);
}
