import { grammar, membersOf, object, optional, read, type ShapesOf } from '../../shape/shape.ts';
import type { ApiKeyDeclaration } from '../scheme-declarations.ts';
import { describePlaces, fieldNameShape, fieldPlaceShape, parameterNameShape } from '../scheme-shapes.ts';
import { userNameFault } from '../user-name.ts';

/**
 * The place of a secret; `authorization` is the scheme before it in Authorization, as written. The field `Authorization` contains the
 * secret alone or after any word.
 */
export type SecretPlace =
  | { readonly field: string }
  | { readonly query: string }
  | { readonly cookie: string }
  | { readonly authorization: string };

/** Options of the scheme of an API key. */
export interface ApiKeyOptions {
  /**
   * The field that contains the name of a user, or the id of one of its keys; or the name of the only user. Default: the secret
   * itself identifies its user.
   */
  readonly user?: { readonly field: string } | string;
  /** The place of the secret of the user or the key. */
  readonly secret: SecretPlace;
}

/** Fields in which other schemes have their credentials. Some partners expect a key without a scheme in Authorization. */
const reserved = ['authentication', 'cookie', 'host'];

/** Schemes of Authorization that are built in, and need more than a key. */
const builtIn = ['aws4-hmac-sha256', 'basic', 'digest', 'hmac', 'oauth'];

/** The members that name the place of a secret. */
const placeKeys = ['field', 'query', 'cookie', 'authorization'] as const;

/** Describes the declaration of the scheme. */
export const apiKeyShape = object({
  user: optional(
    grammar(
      {
        description: 'field with the name of the user or the id of a key, or the name of the only user',
        anyOf: [{ type: 'string', minLength: 1 }, describePlaces({ field: fieldNameShape.schema })],
      },
      'a user',
      readUser,
    ),
  ),
  secret: grammar(
    {
      description: 'the place of the secret',
      ...describePlaces({
        field: fieldNameShape.schema,
        query: parameterNameShape.schema,
        cookie: fieldNameShape.schema,
        authorization: fieldNameShape.schema,
      }),
    },
    'an object',
    readSecretPlace,
  ),
} satisfies ShapesOf<ApiKeyDeclaration>);

/**
 * Reads the options from a configuration.
 *
 * @param where The path of the value, with which every message begins: `schemes.key`.
 * @throws RangeError if something is unknown or missing, or both fields are the same
 */
export function readApiKeyOptions(value: unknown, where: string): ApiKeyOptions {
  const { user, secret } = read(apiKeyShape, value, [where]);
  if (user === undefined) return { secret };
  const fields = [user, secret].map((place) =>
    typeof place === 'object' && 'field' in place ? place.field.toLowerCase() : '',
  );
  if (fields[0] !== '' && fields[0] === fields[1] && 'field' in secret)
    throw new RangeError(
      `${where}.secret.field: ${secret.field} is named twice; it is also the field of user`,
    );
  return { user, secret };
}

function readUser(value: unknown, where: string): { readonly field: string } | string {
  if (typeof value !== 'string') {
    const place = checkField(read(fieldPlaceShape, value, [where]), where);
    if (!isAuthorizationField(place)) return place;
    throw new RangeError(`${where}.field: Authorization cannot contain the name of a user`);
  }
  const fault = userNameFault(value);
  if (fault !== undefined) throw new RangeError(`${where}: ${fault}`);
  return value;
}

/** Returns whether a place is the whole value of the field Authorization. */
export function isAuthorizationField(place: SecretPlace): boolean {
  return 'field' in place && place.field.toLowerCase() === 'authorization';
}

function checkField<Place extends { readonly field: string }>(place: Place, where: string): Place {
  if (reserved.includes(place.field.toLowerCase()))
    throw new RangeError(`${where}.field: ${place.field} cannot contain an API key`);
  return place;
}

function readSecretPlace(value: unknown, where: string): SecretPlace {
  const members = read(membersOf(placeKeys), value, [where]);
  const [kind, another] = placeKeys.filter((key) => members[key] !== undefined);
  if (kind === undefined || another !== undefined)
    throw new RangeError(`${where} must have one of ${placeKeys.join(', ')}`);
  const name = members[kind];
  if (kind === 'field') return checkField({ field: read(fieldNameShape, name, [`${where}.field`]) }, where);
  if (kind === 'cookie') return { cookie: read(fieldNameShape, name, [`${where}.cookie`]) };
  if (kind === 'query') return { query: read(parameterNameShape, name, [`${where}.query`]) };
  const scheme = read(fieldNameShape, name, [`${where}.authorization`]);
  if (builtIn.includes(scheme.toLowerCase()))
    throw new RangeError(`${where}.authorization: the scheme ${scheme} is built in`);
  return { authorization: scheme };
}
