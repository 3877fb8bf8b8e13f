import { userNameFault } from '../auth/user-name.ts';
import { didYouMean, findClosestMatch } from '../did-you-mean.ts';

/** The access rules without a parameter. */
export const accessRules = ['anyone', 'authenticated', 'nobody'] as const;

const ownerPrefix = 'owner:';

/** Returns the path parameter of the rule `owner:PARAM`; undefined for any other text. */
export function ownerParameter(rule: string): string | undefined {
  return rule.startsWith(ownerPrefix) ? rule.slice(ownerPrefix.length) : undefined;
}

/**
 * Returns why a member of a list of access rules can permit nobody. Returns undefined for a possible user name, and for
 * `owner:PARAM` if the path has the parameter.
 */
export function accessMemberFault(member: string, parameters: readonly string[]): string | undefined {
  if (accessRules.some((rule) => rule === member))
    return `"${member}" cannot be in a list; use it instead of the list`;
  const parameter = ownerParameter(member);
  if (parameter !== undefined)
    return parameters.includes(parameter) ? undefined : parameterFault(parameter, parameters);
  const fault = userNameFault(member);
  if (fault === undefined) return undefined;
  const meant = findClosestMatch(
    member,
    parameters.map((name) => ownerPrefix + name),
  );
  return `"${member}" is not known: ${fault}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

/** Returns the error for a rule with a parameter that the path does not have. */
export function parameterFault(parameter: string, parameters: readonly string[]): string {
  return `the path has no parameter "${parameter}"${didYouMean(parameter, parameters)}`;
}
