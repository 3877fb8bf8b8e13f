import { userNameFault } from '../accounts/user-name.ts';
import { isRoleName } from '../accounts/user-rights.ts';
import { didYouMean, findClosestMatch } from '../did-you-mean.ts';
import { isScope, type Scope } from '../principal.ts';

/** The access rules without a parameter. */
export const accessRules = ['anyone', 'authenticated', 'nobody'] as const;

const ownerPrefix = 'owner:';
const scopePrefix = 'scope:';
const rolePrefix = 'role:';
/** Begins the compiled form of the rules `owner` and `owner:FIELD`. No declaration can contain it: no user has a colon in the name. */
const itemOwnerPrefix = 'owner of item:';

/** Returns the path parameter of the rule `owner:PARAM`; undefined for any other text. */
export function ownerParameter(rule: string): string | undefined {
  return rule.startsWith(ownerPrefix) ? rule.slice(ownerPrefix.length) : undefined;
}

/** Returns the scope of the rule `scope:NAME`, which permits tokens that have it; undefined for any other text. */
export function scopeInRule(rule: string): Scope | undefined {
  return rule.startsWith(scopePrefix) ? rule.slice(scopePrefix.length) : undefined;
}

/** Returns the role of the rule `role:NAME`, which permits the users who have it; undefined for any other text. */
export function roleInRule(rule: string): string | undefined {
  return rule.startsWith(rolePrefix) ? rule.slice(rolePrefix.length) : undefined;
}

/** Returns why no user can have the role of a rule; undefined if one can. */
export function roleRuleFault(role: string): string | undefined {
  return isRoleName(role) ? undefined : `"${role}" is not the name of a role`;
}

/** Returns the rule that permits the user whom a field of the item names. */
export function formatItemOwner(field: string): string {
  return `${itemOwnerPrefix}${field}`;
}

/** Returns the field of a rule that permits the user whom a field of the item names; undefined for any other text. */
export function itemOwnerField(rule: string): string | undefined {
  return rule.startsWith(itemOwnerPrefix) ? rule.slice(itemOwnerPrefix.length) : undefined;
}

/** Returns a rule as it is declared. */
export function formatRule(rule: string): string {
  const field = itemOwnerField(rule);
  return field === undefined ? rule : `${ownerPrefix}${field}`;
}

/** Returns why a scope of a rule cannot be that of a token; undefined if it can (RFC 6749 §3.3). */
export function scopeRuleFault(scope: Scope): string | undefined {
  return isScope(scope)
    ? undefined
    : `"${scope}" is not a scope of printable ASCII characters without spaces`;
}

/**
 * Returns why a member of a list of access rules can permit nobody. Returns undefined for a possible user name, for `scope:NAME` and
 * `role:NAME`, and for `owner:PARAM` if the path has the parameter.
 */
export function accessMemberFault(member: string, parameters: readonly string[]): string | undefined {
  if (accessRules.some((rule) => rule === member))
    return `"${member}" cannot be in a list; use it instead of the list`;
  const scope = scopeInRule(member);
  if (scope !== undefined) return scopeRuleFault(scope);
  const role = roleInRule(member);
  if (role !== undefined) return roleRuleFault(role);
  const parameter = ownerParameter(member);
  if (parameter !== undefined)
    return parameters.includes(parameter)
      ? undefined
      : `the path has no parameter "${parameter}"${didYouMean(parameter, parameters)}`;
  const fault = userNameFault(member);
  if (fault === undefined) return undefined;
  const meant = findClosestMatch(member, [
    ...parameters.map((name) => ownerPrefix + name),
    ...[rolePrefix, scopePrefix].map((prefix) => prefix + member.slice(member.indexOf(':') + 1)),
  ]);
  return `"${member}" is not known: ${fault}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}
