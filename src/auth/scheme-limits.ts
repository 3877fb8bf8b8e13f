import type { Principal } from '../principal.ts';
import { grammar, type Shape } from '../shape/shape.ts';

/** The names are schemes in challenges (RFC 9110 §11.1), so they are tokens. */
export const schemeNameForm = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;

/** Reads the schemes of a user: a list of names of schemes. Throws RangeError on anything else. */
export function readUserSchemes(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw new RangeError(`${where} must be a list of names of schemes`);
  const names: readonly unknown[] = value;
  return names.map((name) => {
    if (typeof name === 'string' && schemeNameForm.test(name)) return name;
    throw new RangeError(`${where}: ${JSON.stringify(name)} is not the name of a scheme`);
  });
}

/** Describes the schemes of a user. */
export const userSchemesShape: Shape<readonly string[]> = grammar(
  {
    description: 'names of the schemes with which the user can authenticate; default: all',
    type: 'array',
    items: { type: 'string', pattern: schemeNameForm.source },
  },
  'a list of names of schemes',
  readUserSchemes,
);

/** A user, and the schemes to which it is limited. */
interface LimitedUser {
  /** The names of the schemes with which the user can authenticate. Default: all. */
  readonly schemes?: readonly string[] | undefined;
}

/** The schemes to which users are limited, by the name of the user. */
export class SchemeLimits {
  #schemes: ReadonlyMap<string, readonly string[]> = new Map();

  /** Replaces the limits of all users. */
  replaceUsers(users: ReadonlyMap<string, LimitedUser>): void {
    this.#schemes = new Map(
      [...users].flatMap(([name, { schemes }]) => (schemes === undefined ? [] : [[name, [...schemes]]])),
    );
  }

  /** Returns the schemes to which the user is limited, if it authenticated with another one; otherwise undefined. */
  violated({ name, scheme, lent }: Principal): readonly string[] | undefined {
    // A client that acts on its own behalf has the name of a client.
    if (this.#schemes.size === 0 || lent?.users !== undefined) return undefined;
    const schemes = this.#schemes.get(name);
    return schemes === undefined || schemes.includes(scheme) ? undefined : schemes;
  }
}
