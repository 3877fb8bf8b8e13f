import { readApiKeyOptions, type SecretPlace } from '../../auth/api-key/options.ts';
import type { ApiKeyDeclaration } from '../../auth/scheme-declarations.ts';
import { checkSignerOptions } from './check-options.ts';
import { withScheme } from './schemes.ts';
import type { CredentialPlace, RequestSigner, SignerTraits } from './signer.ts';

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
 * Creates a signer for an API key, sent with a user or alone.
 * @example apiKeySigner({ user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } }, { user: 'ann', secret })
 */
export function apiKeySigner(declared: ApiKeyDeclaration, options: ApiKeySignerOptions): RequestSigner {
  const { user: named, secret: place } = readApiKeyOptions(declared, 'apiKeySigner');
  checkSignerOptions(options, 'the credentials of apiKeySigner', ['user', 'secret']);
  const userField = typeof named === 'object' ? named.field : undefined;
  const sign: RequestSigner = (_request, { user = options.user, secret = options.secret }) => {
    // A field value has no white space at its ends, so such a name cannot be sent.
    if (user !== user.trim()) return undefined;
    const fields = userField === undefined ? {} : { [userField]: user };
    if ('query' in place) return { fields, query: `${place.query}=${encodeURIComponent(secret)}` };
    return { ...fields, ...secretField(place, secret) };
  };
  const traits: SignerTraits = {
    place: { ...proofPlace(place), otherFields: userField === undefined ? [] : [userField] },
  };
  const isNamed = userField !== undefined && 'field' in place;
  const whole = isNamed
    ? withScheme(traits, { kind: 'api-key', userField, secretField: place.field })
    : traits;
  return Object.assign(sign, {
    ...(userField === undefined ? {} : { user: options.user }),
    tlsOnly: true,
    traits: whole,
  });
}

function secretField(
  place: Exclude<SecretPlace, { readonly query: string }>,
  secret: string,
): Record<string, string> {
  if ('field' in place) return { [place.field]: secret };
  if ('cookie' in place) return { Cookie: `${place.cookie}=${secret}` };
  return { Authorization: `${place.authorization} ${secret}` };
}

/** Returns where the secret stands in a request. */
function proofPlace(place: SecretPlace): Pick<CredentialPlace, 'in' | 'form'> {
  if ('query' in place) return { in: place, form: /^()(.*)()$/ };
  if ('field' in place) return { in: place, form: /^()(.*)()$/ };
  if ('cookie' in place) return { in: { field: 'Cookie' }, form: /^([^=]+=)(.*)()$/ };
  return { in: { field: 'Authorization' }, form: /^(\S+ )(.*)()$/ };
}
