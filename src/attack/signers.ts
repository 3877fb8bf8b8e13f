// The signers of all schemes, as tests create them.
import type { SecretPlace } from '../auth/api-key-options.ts';
import type { DeclaredOptions } from '../auth/declared/options.ts';
import { readsContent } from '../auth/declared/plan.ts';
import type { SealedDefinition } from '../auth/defined/sealed.ts';
import { readMembers } from '../auth/option-values.ts';
import { type Credentials, credentialNames, readCredentials } from '../client/credentials.ts';
import { toMessageKey } from '../client/schemes/message-signatures.ts';
import type { ReadDeclaration } from '../client/schemes/read-declaration.ts';
import { createSign } from '../client/schemes/signer.ts';
import { fieldIn, parameterIn } from '../signature/declared/places.ts';
import { chooseId } from '../signature/signing.ts';
import {
  type CredentialPlace,
  createSchemeSigner,
  type Signer,
  type SignerTraits,
  type Signing,
} from './signer.ts';

/**
 * Creates a signer for `createAttempts`, of the same credentials with which `signRequest` of `countersign/client` signs. Most schemes
 * sign the host, so the URL of the good request must be that of the server under attack.
 *
 * A change of the user names another user, the id of another key, or for OAuth 1.0a another client; a change of the secret for OAuth 1.0a
 * is that of the token, or that of the client without one. AWS Signature Version 4 signs Host, Content-Type and all X-Amz fields.
 *
 * @throws RangeError if credentials are missing or invalid, or if the scheme has them in the content of requests
 * @example createSigner({ user: 'johndoe', secret: 's3cret' })
 * @example createSigner({ scheme: 'bearer', token })
 * @example createSigner({ scheme: { preset: 'stripe' }, secret: 'whsec_…' })
 */
export function createSigner(credentials: Credentials): Signer {
  const members = readMembers(credentials, 'credentials', credentialNames);
  const read = readCredentials(members, 'credentials');
  createSign(read.scheme, read.identity, read.choices); // throws if credentials are missing
  const { signing, ...properties } = prepare(read);
  return createSchemeSigner(signing, properties);
}

/** What is known of a signer. */
type Prepared = { readonly signing: Signing } & Pick<Signer, 'user' | 'tlsOnly' | 'traits'>;

function prepare(read: ReadDeclaration): Prepared {
  const { scheme, identity, choices } = read;
  switch (scheme.kind) {
    case 'hmac':
      return { signing: read, user: identity.user, tlsOnly: false };
    case 'basic':
      return { signing: read, user: identity.user, tlsOnly: true };
    case 'bearer':
      return { signing: read, tlsOnly: true };
    case 'oauth1':
      return { signing: read, user: identity.consumer?.key, tlsOnly: true };
    case 'api-key': {
      const userField = fieldIn(scheme.options.user);
      const place = {
        ...proofPlace(scheme.options.secret),
        otherFields: userField === undefined ? [] : [userField],
      };
      const user = userField === undefined ? undefined : chooseId(identity);
      return { signing: read, user, tlsOnly: true, traits: { place } };
    }
    case 'aws4': {
      const acceptedOnce = scheme.options.replay === 'refuse';
      const traits = presignTraits(choices.presign);
      return { signing: read, user: chooseId(identity), tlsOnly: false, traits: { ...traits, acceptedOnce } };
    }
    case 'message-signatures': {
      const key = toMessageKey(identity);
      const signing = { ...read, identity: { keyId: key.id }, choices: { ...choices, key } };
      const place = {
        in: { field: 'Signature' },
        otherFields: ['Signature-Input'],
        form: /^([^=]+=:)([^:]*)(:)$/,
        isPaddingOptional: true,
      };
      return { signing, user: key.id, tlsOnly: false, traits: { place, lifetime: choices.lifetime } };
    }
    case 'declared':
      return prepareDeclared(read, scheme.options);
    case 'defined':
      return {
        signing: read,
        user: chooseId(identity),
        tlsOnly: false,
        traits: definedTraits(scheme.options),
      };
  }
}

function presignTraits(presign: number | undefined): SignerTraits {
  return presign === undefined
    ? { place: { in: { field: 'Authorization' }, form: /^(.*Signature=)(.*)()$/s }, dateField: 'X-Amz-Date' }
    : { place: { in: { query: 'X-Amz-Signature' }, form: /^()(.*)()$/ }, lifetime: presign };
}

/** Dates are only tried in the declared unit and in the other ones. */
function prepareDeclared(read: ReadDeclaration, declaration: DeclaredOptions): Prepared {
  if (readsContent(declaration))
    throw new RangeError('createSigner signs no requests with credentials in their content');
  const { timestamp, replay, user: userPlace } = declaration;
  const isNamed = typeof userPlace === 'object';
  const { user: _, ...others } = read.identity;
  const identity = isNamed ? read.identity : others;
  // Equal requests have equal ids.
  const signing = { ...read, identity, choices: { ...read.choices, id: 'msg_1' } };
  const traits = {
    place: signaturePlace(declaration),
    dateField: fieldIn(timestamp?.place),
    acceptedOnce: replay === 'refuse',
  };
  return { signing, user: isNamed ? chooseId(identity) : undefined, tlsOnly: false, traits };
}

function definedTraits({ place, form, headers, dateField, replay }: SealedDefinition): SignerTraits {
  const otherFields = headers.filter((name) => !('field' in place) || name !== place.field);
  return { place: { in: place, otherFields, form }, dateField, acceptedOnce: replay === 'refuse' };
}

/** Returns where the secret stands in a request. */
function proofPlace(place: SecretPlace): Pick<CredentialPlace, 'in' | 'form'> {
  if ('query' in place || 'field' in place) return { in: place, form: /^()(.*)()$/ };
  if ('cookie' in place) return { in: { field: 'Cookie' }, form: /^([^=]+=)(.*)()$/ };
  return { in: { field: 'Authorization' }, form: /^(\S+ )(.*)()$/ };
}

/** Returns where the signature stands: after the last text of its format, before the next one. */
function signaturePlace({ place, format, user }: DeclaredOptions): CredentialPlace {
  const element = format.elements.find(({ names }) => names.includes('signature'));
  const at = element?.names.indexOf('signature') ?? 0;
  const [before = '', after = ''] = [element?.literals[at] ?? '', element?.literals[at + 1] ?? ''];
  const separator = format.separator === undefined ? undefined : escapeLiteral(format.separator);
  const preceding = at > 0 ? '.*' : separator === undefined ? '' : `(?:.*${separator}\\s*)?`;
  const following = separator === undefined ? '' : `(?:${separator}.*)?`;
  const form = new RegExp(
    `^(${preceding}${escapeLiteral(before)})([^,;\\s]*)(${escapeLiteral(after)}${following})$`,
  );
  const isList = format.separator?.trim() === ',';
  const userField = fieldIn(user);
  const otherFields = userField === undefined ? [] : [userField];
  return { in: 'field' in place ? place : { query: parameterIn(place) ?? '' }, otherFields, form, isList };
}

function escapeLiteral(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
