// The scheme of an API key: the secret of a user is sent in a field, and compared instead of computed.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Fields } from '../../http/fields.ts';
import { formatChallenge } from '../../http/headers/authorization.ts';
import { createKeyring, derivedOnce, type KeyKind } from '../keyring.ts';
import type { Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { Presented, SignatureScheme } from '../signature-scheme.ts';
import { userOf } from '../user-name.ts';
import { createVerification } from '../verify.ts';
import type { ApiKeyOptions } from './options.ts';

/** The longest secret, in bytes. */
const longestSecret = 1024;

/**
 * Creates the scheme of an API key with a secret, which are sent in two fields, over TLS only. The SHA-256 digests of both secrets
 * are compared, so the time shows neither where nor in what length they differ, nor whether the user exists.
 */
export function createApiKeyScheme(name: string, options: ApiKeyOptions, context: SchemeContext): Scheme {
  const challenge = formatChallenge(name, [['realm', context.realm]]);
  return {
    name,
    authorizationNames: [],
    // The field of the user alone is no credential: another scheme may use the same field.
    locations: [{ field: options.secret.field.toLowerCase() }],
    requestFields: [options.user.field.toLowerCase()],
    tlsOnly: true,
    authenticate: createVerification(createSignatureScheme(name, options, context), context),
    claimedUser: (_rest, { fields }) => userOf(options.user, fields),
    challenge: ({ secure }) => (secure ? challenge : undefined),
  };
}

const kinds: readonly KeyKind[] = ['secret'];

function createSignatureScheme(
  name: string,
  options: ApiKeyOptions,
  { accounts }: SchemeContext,
): SignatureScheme {
  const find = createKeyring(accounts, name, {
    ofUser: () => false,
    byId: ({ algorithm }) => algorithm === 'hmac-sha256',
  });
  const digestOf = derivedOnce(sha256);
  return {
    name,
    check: 'secret',
    wrong: 'The user or the secret is wrong.',
    read(request) {
      const { fields } = request;
      const user = userOf(options.user, fields);
      if (user === undefined) return { detail: faultOf(fields, options.user.field) };
      const secret = secretIn(fields, options.secret.field.toLowerCase());
      if (secret === undefined) return { detail: faultOf(fields, options.secret.field) };
      const digest = sha256(Buffer.from(secret, 'latin1')).toString('base64');
      return { request, user, signatures: [digest], time: undefined, nonce: undefined };
    },
    find: ({ user }) => find(user),
    kinds: () => kinds,
    messages: () => [[]],
    signs: (key, _message, { signatures: [digest = ''] }: Presented) =>
      key.kind === 'secret' && timingSafeEqual(digestOf(key.secret), Buffer.from(digest, 'base64')),
  };
}

/** Returns the secret as sent; undefined if it is absent, sent twice, or has no possible length. */
function secretIn(fields: Fields, name: string): string | undefined {
  const [secret, another] = fields.lines(name);
  const isPossible = secret !== undefined && secret.length > 0 && secret.length <= longestSecret;
  return isPossible && another === undefined ? secret : undefined;
}

function faultOf(fields: Fields, name: string): string {
  const count = fields.lines(name.toLowerCase()).length;
  if (count === 0) return `The field ${name} is missing.`;
  return count > 1 ? `The field ${name} was sent twice.` : `The value of ${name} is malformed.`;
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
