import type { Collection } from '../../collections/declaration.ts';
import { findClosestMatch } from '../../did-you-mean.ts';
import { accessRules, ownerParameter } from '../../pipeline/access-rule.ts';
import { CommandError } from '../errors.ts';

/**
 * Compares the user names in the access rules of collections with the known users. Returns a warning for each unknown name,
 * since the user can be added later.
 *
 * @throws CommandError for each unknown name that is similar to a keyword, or to a user whom the same rule does not list
 */
export function checkAccessNames(collections: readonly Collection[], users: Iterable<string>): string[] {
  const known = [...users];
  const faults = new Set<string>();
  const warnings = new Set<string>();
  for (const { path, access } of collections)
    for (const rule of Object.values(access)) {
      if (typeof rule === 'string') continue;
      // A member beside its neighbour in a series, such as user1 and user2, is not a misspelling of it.
      const candidates = [...accessRules, ...known.filter((name) => !rule.includes(name))];
      for (const name of rule) {
        if (ownerParameter(name) !== undefined || known.includes(name)) continue;
        const unknown = `collections.${path}.access: there is no user "${name}"`;
        const meant = findClosestMatch(name, candidates);
        if (meant === undefined) warnings.add(`${unknown} yet`);
        else faults.add(`${unknown}; did you mean "${meant}"? If not, add the user first`);
      }
    }
  if (faults.size > 0) throw new CommandError([...faults], 2);
  return [...warnings];
}
