import { readFieldPlace, readMembers } from '../option-values.ts';

/** Options of the scheme of an API key with a secret. */
export interface ApiKeyOptions {
  /** The field that contains the name of a user, or the id of one of its keys. */
  readonly user: { readonly field: string };
  /** The field that contains the secret of the user or the key. */
  readonly secret: { readonly field: string };
}

/** Fields in which other schemes have their credentials. */
const reserved = ['authorization', 'authentication', 'cookie', 'host'];

/**
 * Reads the options from a configuration.
 *
 * @param where The path of the value, with which every message begins: `schemes.key`.
 * @throws RangeError if something is unknown or missing, or both fields are the same
 */
export function readApiKeyOptions(value: unknown, where: string): ApiKeyOptions {
  const members = readMembers(value, where, ['user', 'secret']);
  const user = readFieldPlace(members['user'], `${where}.user`);
  const secret = readFieldPlace(members['secret'], `${where}.secret`);
  for (const [role, { field }] of Object.entries({ user, secret })) {
    if (reserved.includes(field.toLowerCase()))
      throw new RangeError(`${where}.${role}.field: ${field} cannot contain an API key`);
  }
  if (user.field.toLowerCase() === secret.field.toLowerCase())
    throw new RangeError(
      `${where}.secret.field: ${secret.field} is named twice; it is also the field of user`,
    );
  return { user, secret };
}
