import { parseBasicCredentials } from '../http/headers/basic-credentials.ts';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import { maxNameLength } from '../http/syntax/octets.ts';
import { createFault, findFault, type ShapeFault, type ShapePath } from '../shape/fault.ts';
import {
  anything,
  either,
  flag,
  listOf,
  mapOf,
  number,
  object,
  optional,
  type ReadBy,
  refine,
  type Shape,
  text,
  variants,
} from '../shape/shape.ts';
import type { KeyDeclaration } from './account-key.ts';
import { keyShape, maxKeyIdLength, parseAccountKey } from './parse-account-key.ts';
import { type QuotaDeclaration, quotaShape } from './quota-policy.ts';
import { userNameFault } from './user-name.ts';
import { userRolesShape, userSchemesShape } from './user-rights.ts';

/** A password: as a scrypt hash from a data directory, or in plain text from a configuration. */
export type KnownPassword =
  | {
      /** The scrypt hash. */
      readonly hash: string;
    }
  | {
      /** The password in plain text. */
      readonly plain: string;
    };

/** A user as declared in a configuration or a data directory. */
export interface AccountRecord {
  /** The secrets, of which several are valid during a rotation. */
  readonly secrets: readonly {
    /** The shared secret. */
    readonly secret: string;
    /** The time (ms since 1970-01-01T00:00:00Z) until which it is valid. Default: it does not expire. */
    readonly until?: number | undefined;
  }[];
  /** The password for Basic and the consent page. Default: none. */
  readonly password?: KnownPassword | undefined;
  /** Whether the user cannot authenticate. Default: false. */
  readonly disabled?: boolean | undefined;
  /** Registration time (ms). Tokens that were issued earlier to a user of this name are not valid. */
  readonly since?: number | undefined;
  /** Keys by id, for schemes that find a key by its id. Default: none. */
  readonly keys?: Readonly<Record<string, KeyDeclaration>> | undefined;
  /** How many requests the user may send. Default: the quota of the service. */
  readonly quota?: QuotaDeclaration | undefined;
  /** The names of the schemes with which the user can authenticate. Default: all. */
  readonly schemes?: readonly string[] | undefined;
  /** The names of its roles, for access rules such as `role:manager`. Default: none. */
  readonly roles?: readonly string[] | undefined;
  /** Claims by name, of which tokens carry those in `oauth2.claims`: `{ "email": "ann@example.com" }`. Default: none. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** A user: either one secret and optionally a password, or all secrets, of which several are valid during a rotation. */
export type UserDeclaration =
  | AccountRecord
  | (Omit<AccountRecord, 'secrets' | 'password' | 'since'> & {
      /** May be omitted if the user has keys. */
      readonly secret?: string | undefined;
      /** The password for Basic and the consent page. Default: none. */
      readonly password?: string | undefined;
    });

/** Returns a user in the form that a data directory has. */
export function toAccountRecord(user: UserDeclaration): AccountRecord {
  if ('secrets' in user) return user;
  const { secret, password, ...others } = user;
  return {
    ...others,
    secrets: secret === undefined ? [] : [{ secret }],
    password: password === undefined ? undefined : { plain: password },
  };
}

/**
 * Returns why no client can log in with a password, or undefined. Basic (RFC 7617) refuses control characters and more than 30
 * consecutive combining marks, and UTF-8 has no lone surrogates.
 */
export function passwordFault(password: string): string | undefined {
  if (hasLoneSurrogate(password)) return 'it has a lone surrogate, which UTF-8 cannot encode';
  const credentials = parseBasicCredentials(Buffer.from(`user:${password}`).toString('base64'));
  return typeof credentials === 'string' ? credentials : undefined;
}

const filled = { min: 1, isSecret: true };
const secretShape = text('the secret that signs requests', filled);
const passwordShape = refine(text('the password of HTTP Basic', filled), (password, path) => {
  // RFC 7617 §2 forbids control characters in credentials, so such a password could never match.
  if (hasControlCharacter(password))
    return [createFault(path, 'contains a control character, which no client can send')];
  const fault = passwordFault(password);
  return fault === undefined ? [] : [createFault(path, `cannot be used with Basic: ${fault}`)];
});

const keysShape = mapOf(keyShape, 'keys of signature schemes, by id', {
  names: {
    minLength: 1,
    maxLength: maxKeyIdLength,
    pattern: '^[^\\s"\\\\,\\u0000-\\u001f\\u007f-\\u009f]*$',
  },
  expected: 'an object such as { "key-1": { "algorithm": "ed25519", "publicKey": "…" } }',
});

/** The keys of a user in a file, which are parsed when it is read, so that all faults are reported. */
export const parsedKeysShape = refine(keysShape, (keys, path) =>
  Object.entries(keys).flatMap(([name, key]) =>
    findFault([...path, name], (what) => parseAccountKey(name, key, what)),
  ),
);

const example = { expected: 'an object such as { "secret": "…" }' };

const claimsShape = mapOf(anything, 'claims, of which tokens carry those in oauth2.claims');

const rights = {
  quota: optional(quotaShape),
  schemes: optional(userSchemesShape),
  roles: optional(userRolesShape),
  claims: optional(claimsShape),
};

const members = { secret: optional(secretShape), password: optional(passwordShape), ...rights };

/** A user in a configuration file: with a secret or a key. */
export type ConfiguredUser = ReadBy<typeof configuredShape>;

const configuredShape = object({ ...members, keys: optional(parsedKeysShape) }, undefined, example);

/** Describes a user in a configuration file. */
const configuredUserShape: Shape<ConfiguredUser> = refine(configuredShape, checkSecret, {
  anyOf: [{ required: ['secret'] }, { required: ['keys'], properties: { keys: { minProperties: 1 } } }],
});

/** Describes a user in code that has one secret, or none yet. */
const simpleShape: Shape<UserDeclaration> = object(
  { ...members, disabled: optional(flag()), keys: optional(keysShape) },
  undefined,
  example,
);

const knownPasswordShape: Shape<KnownPassword> = either(
  object({ hash: text() }),
  object({ plain: text(undefined, filled) }),
);

const until = optional(number({ whole: false }));

/** Describes a user as a data directory has it. Without any secret, it can log in with a password only. */
const recordShape: Shape<UserDeclaration> = object(
  {
    secrets: listOf(object({ secret: secretShape, until }), undefined, { expected: 'a list' }),
    password: optional(knownPasswordShape),
    disabled: optional(flag()),
    since: optional(number({ whole: false })),
    keys: optional(keysShape),
    ...rights,
  },
  undefined,
  example,
);

/** Describes a user in code, who gets a secret if it has none. */
export const generatedUserShape: Shape<UserDeclaration> = variants([simpleShape, recordShape], (value) =>
  typeof value === 'object' && value !== null && 'secrets' in value ? recordShape : simpleShape,
);

/** Describes a user in code. */
export const userShape: Shape<UserDeclaration> = refine(generatedUserShape, (user, path) =>
  'secrets' in user ? [] : checkSecret(user, path),
);

/** A user has a secret or a key. */
function checkSecret(
  { secret, keys = {} }: { readonly secret?: string | undefined; readonly keys?: object | undefined },
  path: ShapePath,
): readonly ShapeFault[] {
  if (secret !== undefined || Object.keys(keys).length > 0) return [];
  return [{ path: [...path, 'secret'], kind: 'missing', expected: secretShape.expected }];
}

/** Describes the users of a configuration file. */
export const configuredUsersShape = mapOf(configuredUserShape, 'users by name', {
  // The readers limit names in bytes of UTF-8, of which a name has at least as many as characters.
  names: {
    description: '1 to 128 bytes, no colon and no control characters',
    minLength: 1,
    maxLength: maxNameLength,
    pattern: '^[^:\\u0000-\\u001f\\u007f-\\u009f]*$',
  },
  checkName(name, path) {
    const fault = userNameFault(name);
    return fault === undefined ? [] : [{ path, kind: 'rule', says: (what) => `${what}: ${fault}` }];
  },
});
