import { readMembers } from '../../auth/option-values.ts';

/**
 * Throws RangeError unless these options are objects and `approve` is a function, and TypeError if an endpoint is not a URL.
 * @param adversary the function that has the options
 * @param objects the options that are objects, with the names of their endpoints
 */
export function checkOAuthOptions(
  options: unknown,
  adversary: string,
  objects: Readonly<Record<string, readonly string[]>>,
): void {
  const members = readMembers(options, adversary);
  for (const [name, endpoints] of Object.entries(objects)) {
    const where = `${adversary}.${name}`;
    const object = readMembers(members[name], where);
    for (const endpoint of endpoints)
      if (!URL.canParse(String(object[endpoint])))
        throw new TypeError(`${where}.${endpoint}: a URL is expected`);
  }
  if (typeof members['approve'] !== 'function')
    throw new RangeError(`${adversary}.approve: a function is expected`);
}
