import { readMembers } from '../../auth/option-values.ts';

/**
 * Throws RangeError unless these options are objects and `approve` is a function, and TypeError if an endpoint is not a URL.
 * @param name the function that has the options
 * @param objects the options that are objects, with the names of their endpoints
 */
export function checkOAuthOptions(
  options: unknown,
  name: string,
  objects: Readonly<Record<string, readonly string[]>>,
): void {
  const members = readMembers(options, name);
  for (const [option, endpoints] of Object.entries(objects)) {
    const where = `${name}.${option}`;
    const object = readMembers(members[option], where);
    for (const endpoint of endpoints)
      if (!URL.canParse(String(object[endpoint])))
        throw new TypeError(`${where}.${endpoint}: a URL is expected`);
  }
  if (typeof members['approve'] !== 'function')
    throw new RangeError(`${name}.approve: a function is expected`);
}
