import { isDeepStrictEqual } from 'node:util';
import type { ConfiguredScheme } from '../../auth/configured-schemes.ts';
import { fieldIn, parameterIn, type RolePlace } from '../../signature/declared/places.ts';

/** A field or query parameter with a part of credentials. */
interface CredentialPlace {
  /** The part, such as `timestamp`; '' for the signature itself. */
  readonly role: string;
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  readonly description: string;
}

/** Returns the places of the credentials of a configured scheme. A request needs all of them. */
export function listConfiguredPlaces(scheme: ConfiguredScheme): readonly CredentialPlace[] {
  switch (scheme.kind) {
    case 'api-key':
      return keyPlaces(scheme.options);
    case 'aws4': {
      const { region, service } = scheme.options;
      const about = `AWS Signature Version 4 (\`AWS4-HMAC-SHA256 Credential=…\`) for the region ${region} and the service ${service}, or a presigned URL`;
      return [header('', 'Authorization', about)];
    }
    case 'message-signatures': {
      const { components, tag } = scheme.options;
      const tagged = tag === undefined ? '' : `, with the tag ${JSON.stringify(tag)}`;
      const about = `HTTP Message Signatures (RFC 9421): the signature covers at least ${components.join(', ')}${tagged}`;
      return [
        header('', 'Signature', about),
        header('input', 'Signature-Input', 'The signed components and the parameters of the signature'),
      ];
    }
    case 'declared':
      return listDeclaredPlaces(scheme.options);
    case 'defined':
      return listDefinedPlaces(scheme.options);
  }
}

type ApiKeyOptions = Extract<ConfiguredScheme, { readonly kind: 'api-key' }>['options'];

function keyPlaces({ user, secret }: ApiKeyOptions): readonly CredentialPlace[] {
  const isNamed = typeof user === 'object';
  const role = isNamed ? 'secret' : '';
  const about = `The ${isNamed ? 'secret' : 'key'}, over TLS only`;
  return [
    ...(isNamed
      ? [header('user', user.field, 'The name of the user or the id of a key, over TLS only')]
      : []),
    'field' in secret
      ? header(role, secret.field, about)
      : 'query' in secret
        ? { role, in: 'query', name: secret.query, description: about }
        : 'cookie' in secret
          ? { role, in: 'cookie', name: secret.cookie, description: about }
          : header(role, 'Authorization', `\`${secret.authorization} KEY\`, over TLS only`),
  ];
}

type DeclaredOptions = Extract<ConfiguredScheme, { readonly kind: 'declared' }>['options'];

function listDeclaredPlaces(options: DeclaredOptions): readonly CredentialPlace[] {
  const { place, otherFields, format, user, timestamp, nonce, id, passphrase } = options;
  const about = `\`${format.text}\`, where the signature is ${describeSignature(options)}`;
  return [
    ...describePlace(
      '',
      place,
      otherFields.length === 0 ? about : `${about}; or in ${otherFields.join(', ')}`,
    ),
    ...describePlace('user', typeof user === 'string' ? undefined : user, 'The user or the id of a key'),
    ...describePlace('timestamp', timestamp?.place, `The signed time (${timestamp?.unit})`),
    ...describePlace('nonce', nonce, 'A text that is used only once'),
    ...describePlace('id', id, 'The signed id of the message'),
    ...describePlace('passphrase', passphrase, 'The passphrase of the key'),
  ];
}

function describeSignature({ algorithm, hash, encoding }: DeclaredOptions): string {
  if (algorithm === 'hmac') return `an HMAC-${hash.toUpperCase()} in ${encoding}`;
  return `${algorithm === 'digest' ? `a ${hash.toUpperCase()} digest` : `one of ${algorithm}`} in ${encoding}`;
}

/** Returns the place of a part. OpenAPI has no security schemes for content. */
function describePlace(role: string, place: RolePlace | undefined, description: string): CredentialPlace[] {
  const field = fieldIn(place);
  if (field !== undefined) return [header(role, field, description)];
  const name = parameterIn(place);
  return name === undefined ? [] : [{ role, in: 'query', name, description }];
}

type DefinedOptions = Extract<ConfiguredScheme, { readonly kind: 'defined' }>['options'];

function listDefinedPlaces({
  headers,
  query,
  place,
  authorization,
}: DefinedOptions): readonly CredentialPlace[] {
  const about =
    authorization === undefined ? 'The signature' : `The scheme \`${authorization}\` with its signature`;
  const further = 'A part of the credentials';
  const isOfSignature = (at: object): boolean => isDeepStrictEqual(at, place);
  return [
    ...headers.map((name) =>
      isOfSignature({ field: name }) ? header('', name, about) : header(name.toLowerCase(), name, further),
    ),
    ...query.map((name): CredentialPlace => {
      const isSigned = isOfSignature({ query: name });
      return { role: isSigned ? '' : name, in: 'query', name, description: isSigned ? about : further };
    }),
  ];
}

function header(role: string, name: string, description: string): CredentialPlace {
  return { role, in: 'header', name, description };
}
