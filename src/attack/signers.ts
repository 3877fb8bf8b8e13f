// The signers of all schemes, as tests create them.

import { type Credentials, credentialNames, readCredentials } from '../client/credentials.ts';
import type { ReadDeclaration } from '../client/read-declaration.ts';
import { createSign } from '../schemes/auth-scheme.ts';
import { membersOf, read } from '../shape/shape.ts';
import { createSchemeSigner, type Signer, type Signing } from './signer.ts';

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
  const members = read(membersOf(credentialNames), credentials, ['credentials']);
  return createReadSigner(readCredentials(members, 'credentials'));
}

/** Creates a signer of a scheme that was read. Throws RangeError as `createSigner`. */
export function createReadSigner(read: ReadDeclaration): Signer {
  createSign(read.scheme, read.identity, read.choices); // throws if credentials are missing
  const signing = prepare(read);
  const { scheme, identity, choices } = signing;
  const { consumer, keyId, user } = identity;
  return createSchemeSigner(signing, {
    user: scheme.user === undefined ? (consumer?.key ?? keyId ?? user) : undefined,
    tlsOnly: scheme.tlsOnly === true,
    traits: scheme.traits?.(choices),
  });
}

function prepare({ scheme, identity, choices }: ReadDeclaration): Signing {
  if (scheme.readsContent === true)
    throw new RangeError('createSigner signs no requests with credentials in their content');
  const { user: _, ...others } = identity;
  // Equal requests have equal ids.
  const id = scheme.choices.includes('id') ? { id: 'msg_1' } : {};
  return { scheme, identity: scheme.user === undefined ? identity : others, choices: { ...choices, ...id } };
}
