import { userNameFault } from '../../accounts/user-name.ts';
import { grammar, membersOf, object, optional, read, type Shape, type ShapesOf } from '../../shape/shape.ts';
import type { CredentialPlace } from '../auth-scheme.ts';
import type { ApiKeyDeclaration } from '../scheme-declarations.ts';
import { describePlaces, fieldNameShape, fieldPlaceShape, parameterNameShape } from '../scheme-shapes.ts';

/** The place of a secret. The field `Authorization` contains the secret alone or after any word. */
type SecretPlace = ApiKeyDeclaration['secret'];

/** Fields in which other schemes have their credentials. Some partners expect a key without a scheme in Authorization. */
const reserved = ['authentication', 'cookie', 'host'];

/** Schemes of Authorization that are built in, and need more than a key. */
const builtIn = ['aws4-hmac-sha256', 'basic', 'digest', 'hmac', 'oauth'];

/** The members that name the place of a secret. */
const placeKeys = ['field', 'query', 'cookie', 'authorization'] as const;

/** Describes the declaration of the scheme. */
export const apiKeyShape: Shape<ApiKeyDeclaration> = object({
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
export function readApiKeyOptions(value: unknown, where: string): ApiKeyDeclaration {
  const { user, secret } = read(apiKeyShape, value, [where]);
  const fields = [user, secret].map((place) =>
    typeof place === 'object' && 'field' in place ? place.field.toLowerCase() : '',
  );
  if (fields[0] !== '' && fields[0] === fields[1] && 'field' in secret)
    throw new RangeError(
      `${where}.secret.field: ${secret.field} is named twice; it is also the field of user`,
    );
  return { user, secret };
}

/** Returns where a secret is found. */
export function locateSecret(place: SecretPlace): Pick<CredentialPlace, 'in' | 'name'> {
  if ('field' in place) return { in: 'header', name: place.field };
  if ('query' in place) return { in: 'query', name: place.query };
  return 'cookie' in place
    ? { in: 'cookie', name: place.cookie }
    : { in: 'authorization', name: place.authorization };
}

function readUser(value: unknown, where: string): { readonly field: string } | string {
  if (typeof value !== 'string') {
    const place = checkField(read(fieldPlaceShape, value, [where]), where);
    if (place.field.toLowerCase() !== 'authorization') return place;
    throw new RangeError(`${where}.field: Authorization cannot contain the name of a user`);
  }
  const fault = userNameFault(value);
  if (fault !== undefined) throw new RangeError(`${where}: ${fault}`);
  return value;
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
