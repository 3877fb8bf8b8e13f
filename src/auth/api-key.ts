// The scheme of an API key: the secret of a user is sent, and compared instead of computed.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpHeaders } from '../http/fields.ts';
import { decodeFormText, findQueryValues } from '../http/form.ts';
import { formatChallenge } from '../http/headers/authorization.ts';
import { cookiesIn } from '../http/headers/cookie.ts';
import type { IncomingRequest } from '../http/message.ts';
import { bytesOf, toOctets } from '../http/syntax/octets.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { describeForm } from '../signature/signature-form.ts';
import type { ApiKeyOptions, SecretPlace } from './api-key-options.ts';
import { createKeyring, deriveOnce, type KeyHolder, type KeyKind } from './keyring.ts';
import type { CredentialLocation, Scheme } from './scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import type { Presented, SignatureScheme } from './signature-scheme.ts';
import { readUser } from './user-name.ts';
import { createVerification } from './verify.ts';

/** The longest secret, in bytes. */
const longestSecret = 1024;

/**
 * Creates the scheme of an API key, which is sent over TLS only, with a user or alone. The SHA-256 digests of both secrets are
 * compared, so the time shows neither where nor in what length they differ, nor whether the user exists.
 */
export function createApiKeyScheme(name: string, options: ApiKeyOptions, context: SchemeContext): Scheme {
  const { user, secret } = options;
  const isInAuthorization = 'authorization' in secret;
  const challenge = formatChallenge(isInAuthorization ? secret.authorization : name, [
    ['realm', context.realm],
  ]);
  return {
    name,
    ...(isInAuthorization
      ? { authorizationNames: [secret.authorization.toLowerCase()] }
      : // The field of the user alone is no credential: another scheme may use the same field.
        { authorizationNames: [], locations: [toLocation(secret)] }),
    requestHeaders: typeof user === 'object' ? [user.field.toLowerCase()] : [],
    tlsOnly: true,
    authenticate: createVerification(createSignatureScheme(name, options, context), context),
    claimedUser: (_rest, { headers: fields }) => (user === undefined ? undefined : readUser(user, fields)),
    challenge: ({ secure }) => (secure ? challenge : undefined),
  };
}

function toLocation(place: Exclude<SecretPlace, { authorization: string }>): CredentialLocation {
  return 'field' in place ? { field: place.field.toLowerCase() } : place;
}

const kinds: readonly KeyKind[] = ['secret'];

/** The credentials of a request. */
interface ApiKeyPresented extends Presented {
  /** The secret as sent; each character is one octet. */
  readonly sent: string;
}

function createSignatureScheme(
  name: string,
  options: ApiKeyOptions,
  { accounts }: SchemeContext,
): SignatureScheme<ApiKeyPresented> {
  const find = createKeyring(accounts, name, {
    ofUser: () => false,
    byId: ({ algorithm }) => algorithm === 'hmac-sha256',
  });
  const findOwner = (digest: string): MaybePromise<KeyHolder | undefined> => {
    const owner = accounts.findSecret?.(digest);
    const findNamed = (name: string | undefined) => (name === undefined ? undefined : find(name));
    return owner === undefined || typeof owner === 'string' ? findNamed(owner) : owner.then(findNamed);
  };
  const computeDigest = deriveOnce(hashBytes);
  const { user: place } = options;
  return {
    name,
    check: 'secret',
    wrong: place === undefined ? 'The key is wrong.' : 'The user or the secret is wrong.',
    read(request, rest) {
      const { headers: fields } = request;
      const user = place === undefined ? '' : readUser(place, fields);
      if (user === undefined)
        return { detail: describeFieldFault(fields, typeof place === 'object' ? place.field : '') };
      const sent = secretsIn(request, rest, options.secret);
      const [secret, another] = sent;
      const isPossible = secret !== undefined && secret.length > 0 && secret.length <= longestSecret;
      if (!isPossible || another !== undefined)
        return {
          detail: describeFault(sent.length, describeSecret(options.secret)),
          hint: secret === undefined || another !== undefined ? undefined : describeForm(secret),
        };
      const digest = hashBytes(bytesOf(secret)).toString('base64');
      return { request, user, signatures: [digest], time: undefined, nonce: undefined, sent: secret };
    },
    find: ({ user, signatures: [digest = ''] }) => (place === undefined ? findOwner(digest) : find(user)),
    kinds: () => kinds,
    messages: () => [[]],
    sentKey: ({ sent }) => sent,
    signs: (key, _message, { signatures: [digest = ''] }: Presented) =>
      key.kind === 'secret' && timingSafeEqual(computeDigest(key.secret), Buffer.from(digest, 'base64')),
  };
}

/** Returns the values at the place of the secret, as sent. */
function secretsIn(
  { headers: fields, target }: IncomingRequest,
  rest: string,
  place: SecretPlace,
): readonly string[] {
  if ('authorization' in place) return [rest];
  if ('field' in place) return fields.getAll(place.field.toLowerCase());
  if ('cookie' in place) return cookiesIn(fields, place.cookie);
  return findQueryValues(target, place.query).map((value) => toOctets(decodeFormText(value) ?? ''));
}

function describeSecret(place: SecretPlace): string {
  if ('authorization' in place) return 'Authorization';
  if ('field' in place) return place.field;
  return 'cookie' in place ? `the cookie ${place.cookie}` : `the query parameter ${place.query}`;
}

function describeFieldFault(fields: HttpHeaders, name: string): string {
  return describeFault(fields.getAll(name.toLowerCase()).length, name);
}

function describeFault(count: number, name: string): string {
  const isField = !name.includes(' ');
  const subject = isField ? `The field ${name}` : name.charAt(0).toUpperCase() + name.slice(1);
  if (count === 0) return `${subject} is missing.`;
  return count > 1 ? `${subject} was sent twice.` : `The value of ${name} is malformed.`;
}

function hashBytes(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
