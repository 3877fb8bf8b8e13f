import { createFault } from '../shape/fault.ts';
import { flag, grammar, listOf, mapOf, number, object, optional, refine, text } from '../shape/shape.ts';
import { AccountFile } from './account-file.ts';
import type { KeyDeclaration } from './account-key.ts';
import { isPasswordHash } from './passwords.ts';
import { readQuotaText } from './quota-policy.ts';
import { parsedKeysShape } from './user-declaration.ts';
import { userRolesShape, userSchemesShape } from './user-rights.ts';

/** A secret with which a user signs. */
export interface StoredSecret {
  readonly secret: string;
  /** The end of its validity (ms since 1970-01-01T00:00:00Z). Undefined for the current secret. */
  readonly until?: number;
}

/** A stored user. */
export interface StoredUser {
  readonly secrets: readonly StoredSecret[];
  /** A hash that hashPassword returned. */
  readonly password?: string;
  readonly disabled?: boolean | undefined;
  /** The time when the user was added (ms since 1970-01-01T00:00:00Z). */
  readonly since?: number;
  /** Keys by id. Public keys are PEM text. */
  readonly keys?: Readonly<Record<string, KeyDeclaration>> | undefined;
  /** The quota of the user as text. Default: that of the service. */
  readonly quota?: string | undefined;
  /** The names of the schemes with which the user can authenticate. Default: all. */
  readonly schemes?: readonly string[] | undefined;
  /** The names of the roles of the user. Default: none. */
  readonly roles?: readonly string[] | undefined;
}

const time = optional(number({ whole: false }));

const userShape = object({
  secrets: listOf(object({ secret: text(undefined, { min: 1, isSecret: true }), until: time })),
  password: optional(
    refine(text(undefined, { isSecret: true }), (password, path) =>
      isPasswordHash(password) ? [] : [createFault(path, 'is not a scrypt hash')],
    ),
  ),
  disabled: optional(flag()),
  since: time,
  keys: optional(parsedKeysShape),
  quota: optional(grammar({}, 'a quota', readQuotaText)),
  schemes: optional(userSchemesShape),
  roles: optional(userRolesShape),
});

/**
 * The file of users. The hash of a password is not encrypted: generated passwords have 256 random bits, so it cannot be used to guess
 * them.
 */
export const userFile = new AccountFile<StoredUser>({
  name: 'users',
  one: 'user',
  sealedAs: 'secret',
  shape: mapOf(userShape),
  times: ['since', 'secrets.*.until', 'keys.*.until'],
  secrets: ['secrets.*.secret', 'keys.*.secret', 'keys.*.passphrase'],
});
