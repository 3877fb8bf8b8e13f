import { type Members, readMembers, readText } from '../../auth/option-values.ts';
import { closestMatch } from '../../did-you-mean.ts';

/**
 * Returns the members of an object that a signer requires. Throws RangeError unless it has these members, which are non-empty
 * strings. A misspelt one is named. Further members are allowed, since credentials and declarations have more than a signer uses.
 * @param where what the message begins with: `hmacSigner`
 */
export function checkSignerOptions(options: unknown, where: string, texts: readonly string[]): Members {
  const members = readMembers(options, where);
  for (const name of texts) {
    const others = Object.keys(members).filter((other) => !texts.includes(other));
    const misspelt = members[name] === undefined ? closestMatch(name, others) : undefined;
    if (misspelt !== undefined)
      throw new RangeError(`${where}.${misspelt}: unknown key; did you mean "${name}"?`);
    readText(members[name], `${where}.${name}`);
  }
  return members;
}
