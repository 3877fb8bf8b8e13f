import { isDeepStrictEqual } from 'node:util';
import type { ConfiguredScheme } from '../../auth/configured-schemes.ts';

/** A field or query parameter with a part of credentials. */
export interface CredentialPlace {
  /** The part, such as `timestamp`; '' for the signature itself. */
  readonly role: string;
  readonly in: 'header' | 'query';
  readonly name: string;
  readonly description: string;
}

/** Returns the places of the credentials of a configured scheme. A request needs all of them. */
export function configuredPlaces(scheme: ConfiguredScheme): readonly CredentialPlace[] {
  switch (scheme.kind) {
    case 'api-key':
      return [
        header('user', scheme.options.user.field, 'The name of the user or the id of a key, over TLS only'),
        header('secret', scheme.options.secret.field, 'The secret, over TLS only'),
      ];
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
      return declaredPlaces(scheme.options);
    case 'defined':
      return definedPlaces(scheme.options);
  }
}

type DeclaredOptions = Extract<ConfiguredScheme, { readonly kind: 'declared' }>['options'];

function declaredPlaces(options: DeclaredOptions): readonly CredentialPlace[] {
  const { place, format, hash, encoding, user, timestamp, nonce, id } = options;
  const about = `\`${format.text}\`, where the signature is an HMAC-${hash.toUpperCase()} in ${encoding}`;
  return [
    'field' in place
      ? header('', place.field, about)
      : ({ role: '', in: 'query', name: place.query, description: about } as const),
    ...(typeof user === 'string' ? [] : [header('user', user.field, 'The user or the id of a key')]),
    ...(timestamp?.field === undefined
      ? []
      : [header('timestamp', timestamp.field, `The signed time (${timestamp.unit})`)]),
    ...(nonce === undefined ? [] : [header('nonce', nonce.field, 'A text that is used only once')]),
    ...(id === undefined ? [] : [header('id', id.field, 'The signed id of the message')]),
  ];
}

type DefinedOptions = Extract<ConfiguredScheme, { readonly kind: 'defined' }>['options'];

function definedPlaces({ headers, query, place, authorization }: DefinedOptions): readonly CredentialPlace[] {
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
