import { object, optional, read, type Shape, type ShapesOf } from '../../shape/shape.ts';
import type { CredentialPlace } from '../auth-scheme.ts';
import type { ApiKeyDeclaration } from '../scheme-declarations.ts';
import {
  builtInFault,
  fieldNameShape,
  parameterNameShape,
  permittedNameShape,
  placeShape,
  userShape,
} from '../scheme-shapes.ts';

/** The place of a secret. The field `Authorization` contains the secret alone or after any word. */
type SecretPlace = ApiKeyDeclaration['secret'];

/** Returns the fault of a field in which other schemes have their credentials. */
function reservedFault(field: string): string | undefined {
  return ['authentication', 'cookie', 'host'].includes(field.toLowerCase())
    ? `${field} cannot contain an API key`
    : undefined;
}

/** Describes the declaration of the scheme. */
export const apiKeyShape: Shape<ApiKeyDeclaration> = object({
  user: optional(
    userShape(
      placeShape({
        field: permittedNameShape((field) =>
          field.toLowerCase() === 'authorization'
            ? 'Authorization cannot contain the name of a user'
            : reservedFault(field),
        ),
      }),
      'field with the name of the user or the id of a key, or the name of the only user',
    ),
  ),
  secret: placeShape(
    {
      // Some partners expect a key without a scheme in Authorization.
      field: permittedNameShape(reservedFault),
      query: parameterNameShape,
      cookie: fieldNameShape,
      // Others than Bearer need more than a key.
      authorization: permittedNameShape((name) => builtInFault(name, ['bearer'])),
    },
    'the place of the secret',
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
