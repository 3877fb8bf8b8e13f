import type { Principal } from '../principal.ts';
import { grammar, type Shape } from '../shape/shape.ts';

/** The names are schemes in challenges (RFC 9110 §11.1), so they are tokens. */
export const schemeNameForm = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;

/** Returns whether a text can be the name of a role: it has the form of that of a scheme. */
export function isRoleName(text: string): boolean {
  return schemeNameForm.test(text);
}

/** Reads the schemes or the roles of a user: a list of their names. Throws RangeError on anything else. */
export function readUserNames(value: unknown, where: string, what: 'scheme' | 'role'): readonly string[] {
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
    (value, where) => readUserNames(value, where, what),
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
  #rights: ReadonlyMap<string, RightsOfUser> = new Map();

  /** Replaces the rights of all users. */
  replaceUsers(users: ReadonlyMap<string, RightsOfUser>): void {
    const limited = [...users].filter(([, { schemes, roles }]) => (schemes ?? roles) !== undefined);
    this.#rights = new Map(
      limited.map(([name, { schemes, roles }]) => [
        name,
        { schemes: schemes && [...schemes], roles: roles && [...roles] },
      ]),
    );
  }

  /** Returns a principal with the roles of its user, in addition to those of its token. */
  addRoles(principal: Principal): Principal {
    const { roles } = this.#rightsOf(principal);
    return roles === undefined ? principal : { ...principal, roles: [...(principal.roles ?? []), ...roles] };
  }

  /** Returns the schemes to which the user is limited, if it authenticated with another one; otherwise undefined. */
  violated(principal: Principal): readonly string[] | undefined {
    const { schemes } = this.#rightsOf(principal);
    return schemes?.includes(principal.scheme) === true ? undefined : schemes;
  }

  /** A client that acts on its own behalf has the name of a client, and no rights of a user. */
  #rightsOf({ name, lent }: Principal): RightsOfUser {
    return (lent?.users === undefined ? this.#rights.get(name) : undefined) ?? noRights;
  }
}

const noRights: RightsOfUser = {};
