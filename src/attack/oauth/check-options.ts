import { anyMembers, membersOf, read } from '../../shape/shape.ts';
import { checkWaivers } from '../weaknesses.ts';
import type { ConnectionOptions } from './sender.ts';

/** The names of the options of connections. The type checks that the list is complete. */
const connectionNames: Readonly<Record<keyof ConnectionOptions, true>> = {
  ca: true,
  agent: true,
  timeout: true,
  waive: true,
};

/**
 * Throws RangeError on an unknown option, and unless these options are objects and `approve` is a function. Throws TypeError if an
 * endpoint is not a URL.
 * @param name the function that has the options
 * @param known the options of the function, apart from those of the connections
 * @param objects the options that are objects, with the names of their endpoints
 */
export function checkOAuthOptions(
  options: unknown,
  name: string,
  known: Readonly<Record<string, true>>,
  objects: Readonly<Record<string, readonly string[]>>,
): void {
  const members = read(anyMembers, options, { optionsOf: name });
  read(membersOf([...Object.keys(known), ...Object.keys(connectionNames)]), options, { optionsOf: name });
  checkWaivers(members['waive'], name);
  for (const [option, endpoints] of Object.entries(objects)) {
    const where = `${name}.${option}`;
    const object = read(anyMembers, members[option], [where]);
    for (const endpoint of endpoints)
      if (!URL.canParse(String(object[endpoint]))) throw new TypeError(`${where}.${endpoint} must be a URL`);
  }
  if (typeof members['approve'] !== 'function') throw new RangeError(`${name}.approve must be a function`);
}
