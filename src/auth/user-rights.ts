import type { Principal } from '../principal.ts';
import { grammar, type Shape } from '../shape/shape.ts';

/** The names are schemes in challenges (RFC 9110 §11.1), so they are tokens. */
export const schemeNameForm = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;

/** Returns whether a text can be the name of a role: it has the form of that of a scheme. */
export function isRoleName(text: string): boolean {
  return schemeNameForm.test(text);
}

/** Reads the schemes of a user: a list of names of schemes. Throws RangeError on anything else. */
export function readUserSchemes(value: unknown, where: string): readonly string[] {
  return readNames(value, where, 'scheme');
}

/** Reads the roles of a user: a list of names of roles. Throws RangeError on anything else. */
export function readUserRoles(value: unknown, where: string): readonly string[] {
  return readNames(value, where, 'role');
}

function readNames(value: unknown, where: string, what: 'scheme' | 'role'): readonly string[] {
  if (!Array.isArray(value)) throw new RangeError(`${where} must be a list of names of ${what}s`);
  const names: readonly unknown[] = value;
  return names.map((name) => {
    if (typeof name === 'string' && schemeNameForm.test(name)) return name;
    throw new RangeError(`${where}: ${JSON.stringify(name)} is not the name of a ${what}`);
  });
}

/** Describes the schemes of a user. */
export const userSchemesShape = describeNames(
  'scheme',
  'names of the schemes with which the user can authenticate; default: all',
);

/** Describes the roles of a user. */
export const userRolesShape = describeNames(
  'role',
  'names of the roles of the user, which access rules name as role:NAME',
);

function describeNames(what: 'scheme' | 'role', description: string): Shape<readonly string[]> {
  return grammar(
    { description, type: 'array', items: { type: 'string', pattern: schemeNameForm.source } },
    `a list of names of ${what}s`,
    (value, where) => readNames(value, where, what),
  );
}

/** A user, with the schemes to which it is limited, and its roles. */
interface RightsOfUser {
  /** The names of the schemes with which the user can authenticate. Default: all. */
  readonly schemes?: readonly string[] | undefined;
  /** The names of its roles. Default: none. */
  readonly roles?: readonly string[] | undefined;
}

/** The schemes to which users are limited, and their roles, by the name of the user. */
export class UserRights {
  #schemes: ReadonlyMap<string, readonly string[]> = new Map();
  #roles: ReadonlyMap<string, readonly string[]> = new Map();

  /** Replaces the rights of all users. */
  replaceUsers(users: ReadonlyMap<string, RightsOfUser>): void {
    this.#schemes = collectLists(users, ({ schemes }) => schemes);
    this.#roles = collectLists(users, ({ roles }) => roles);
  }

  /** Returns a principal with the roles of its user, in addition to those of its token. */
  addRoles(principal: Principal): Principal {
    if (this.#roles.size === 0 || principal.lent?.users !== undefined) return principal;
    const roles = this.#roles.get(principal.name);
    return roles === undefined ? principal : { ...principal, roles: [...(principal.roles ?? []), ...roles] };
  }

  /** Returns the schemes to which the user is limited, if it authenticated with another one; otherwise undefined. */
  violated({ name, scheme, lent }: Principal): readonly string[] | undefined {
    // A client that acts on its own behalf has the name of a client.
    if (this.#schemes.size === 0 || lent?.users !== undefined) return undefined;
    const schemes = this.#schemes.get(name);
    return schemes === undefined || schemes.includes(scheme) ? undefined : schemes;
  }
}

/** Returns copies of a list of each user who has one, by name. */
function collectLists(
  users: ReadonlyMap<string, RightsOfUser>,
  listOf: (user: RightsOfUser) => readonly string[] | undefined,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...users].flatMap(([name, user]) => {
      const list = listOf(user);
      return list === undefined ? [] : [[name, [...list]]];
    }),
  );
}
