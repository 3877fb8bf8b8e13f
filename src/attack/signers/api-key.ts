import { readFieldPlace } from '../../auth/option-values.ts';
import type { ApiKeyDeclaration } from '../../auth/scheme-declarations.ts';
import { checkSignerOptions } from './check-options.ts';
import { withScheme } from './schemes.ts';
import type { RequestSigner, SignerTraits } from './signer.ts';

/** The options of `apiKeySigner`. */
export interface ApiKeySignerOptions {
  /** The name of the user, or the id of one of its keys. */
  readonly user: string;
  readonly secret: string;
}

/** The scheme, for its own attempts. */
export interface ApiKeySigning {
  readonly kind: 'api-key';
  readonly userField: string;
  readonly secretField: string;
}

/**
 * Creates a signer for an API key with a secret, sent in two fields.
 * @example apiKeySigner({ user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } }, { user: 'ann', secret })
 */
export function apiKeySigner(declared: ApiKeyDeclaration, options: ApiKeySignerOptions): RequestSigner {
  const members = checkSignerOptions(declared, 'apiKeySigner', []);
  const { field: userField } = readFieldPlace(members['user'], 'apiKeySigner.user');
  const { field: secretField } = readFieldPlace(members['secret'], 'apiKeySigner.secret');
  checkSignerOptions(options, 'the credentials of apiKeySigner', ['user', 'secret']);
  const sign: RequestSigner = (_request, { user = options.user, secret = options.secret }) =>
    // A field value has no white space at its ends, so such a name cannot be sent.
    user === user.trim() ? { [userField]: user, [secretField]: secret } : undefined;
  const traits: SignerTraits = {
    place: { in: { field: secretField }, otherFields: [userField], form: /^()(.*)()$/ },
  };
  const scheme = { kind: 'api-key', userField, secretField } as const;
  return Object.assign(sign, { user: options.user, tlsOnly: true, traits: withScheme(traits, scheme) });
}
