// Verifies an API key. The SHA-256 digests of both secrets are compared, so the time shows neither where nor in what length they
// differ, nor whether the user exists.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpHeaders } from '../../http/fields.ts';
import { decodeFormText, findQueryValues } from '../../http/form.ts';
import { parseCredentials } from '../../http/headers/authorization.ts';
import { cookiesIn } from '../../http/headers/cookie.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { bytesOf, toOctets } from '../../http/syntax/octets.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { describeForm } from '../../signature/signature-form.ts';
import { createKeyring, deriveOnce, type KeyHolder, type KeyKind } from '../keyring.ts';
import type { SchemeVerification } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { readUser } from '../user-name.ts';
import { type ApiKeyOptions, isAuthorizationField, type SecretPlace } from './options.ts';

/** The longest secret, in bytes. */
const longestSecret = 1024;

const kinds: readonly KeyKind[] = ['secret'];

/** Creates the verification of an API key. */
export function createApiKeySignature(
  name: string,
  options: ApiKeyOptions,
  { accounts }: SchemeContext,
): SchemeVerification {
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
    rules: {
      check: 'secret',
      wrong: place === undefined ? 'The key is wrong.' : 'The user or the secret is wrong.',
    },
    parse(request, rest) {
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
      return {
        request,
        user,
        signatures: [digest],
        time: undefined,
        nonce: undefined,
        kinds,
        sentKey: secret,
      };
    },
    find: ({ user, signatures: [digest = ''] }) => (place === undefined ? findOwner(digest) : find(user)),
    messages: () => [[]],
    verify: (key, _message, { signatures: [digest = ''] }) =>
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
  if (isAuthorizationField(place)) return fields.getAll('authorization').map(withoutWord);
  if ('field' in place) return fields.getAll(place.field.toLowerCase());
  if ('cookie' in place) return cookiesIn(fields, place.cookie);
  return findQueryValues(target, place.query).map((value) => toOctets(decodeFormText(value) ?? ''));
}

/** Returns the key in Authorization, which partners expect alone, or after a word that documents do not name. */
function withoutWord(value: string): string {
  const { rest } = parseCredentials(value) ?? { rest: '' };
  return rest === '' ? value : rest;
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
