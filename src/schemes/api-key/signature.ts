// Verifies an API key. The SHA-256 digests of both secrets are compared, so the time shows neither where nor in what length they
// differ, nor whether the user exists.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createKeyring, deriveOnce, type KeyHolder, type KeyKind } from '../../accounts/keyring.ts';
import { readUser } from '../../accounts/user-name.ts';
import { decodeFormText, findQueryValues } from '../../http/form.ts';
import { parseCredentials } from '../../http/headers/authorization.ts';
import { cookiesIn } from '../../http/headers/cookie.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { bytesOf, toOctets } from '../../http/syntax/octets.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { CredentialPlace } from '../auth-scheme.ts';
import { type RequestVerification, sentence } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { ApiKeyDeclaration } from '../scheme-declarations.ts';
import { describeForm } from '../signature-form.ts';
import { locateSecret } from './options.ts';

/** Where the secret or the user is. */
type Place = Pick<CredentialPlace, 'in' | 'name'>;

/** The longest secret, in bytes. */
const longestSecret = 1024;

const kinds: readonly KeyKind[] = ['secret'];

/** Creates the verification of an API key. */
export function createApiKeySignature(
  name: string,
  options: ApiKeyDeclaration,
  { accounts }: SchemeContext,
): RequestVerification {
  const find = createKeyring(accounts, name, {
    ofUser: () => false,
    byId: ({ algorithm }) => algorithm === 'hmac-sha256',
  });
  const findOwner = (digest: string): MaybePromise<KeyHolder | undefined> => {
    const owner = accounts.findSecret?.(digest);
    const findNamed = (user: string | undefined) => (user === undefined ? undefined : find({ user }));
    return owner === undefined || typeof owner === 'string' ? findNamed(owner) : owner.then(findNamed);
  };
  const computeDigest = deriveOnce(hashBytes);
  const { user: place } = options;
  const secretPlace = locateSecret(options.secret);
  return {
    rules: {
      check: 'secret',
      wrong: place === undefined ? 'The key is wrong.' : 'The user or the secret is wrong.',
    },
    parse(request, rest) {
      const { headers: fields } = request;
      const user = place === undefined ? '' : readUser(place, fields);
      if (user === undefined) {
        const name = typeof place === 'object' ? place.field : '';
        return { detail: describeFault(fields.getAll(name.toLowerCase()).length, { in: 'header', name }) };
      }
      const sent = secretsIn(request, rest, secretPlace);
      const [secret, another] = sent;
      const isPossible = secret !== undefined && secret.length > 0 && secret.length <= longestSecret;
      if (!isPossible || another !== undefined)
        return {
          detail: describeFault(sent.length, secretPlace),
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
    find: place === undefined ? ({ signatures: [digest = ''] }) => findOwner(digest) : find,
    messages: () => [[]],
    verify: (key, _message, { signatures: [digest = ''] }) =>
      key.kind === 'secret' && timingSafeEqual(computeDigest(key.secret), Buffer.from(digest, 'base64')),
  };
}

/** Returns the values at the place of the secret, as sent. */
function secretsIn(
  { headers: fields, target }: IncomingRequest,
  rest: string,
  { in: kind, name }: Place,
): readonly string[] {
  if (kind === 'authorization') return [rest];
  if (kind === 'cookie') return cookiesIn(fields, name);
  if (kind === 'query')
    return findQueryValues(target, name).map((value) => toOctets(decodeFormText(value) ?? ''));
  const values = fields.getAll(name.toLowerCase());
  return name.toLowerCase() === 'authorization' ? values.map(withoutWord) : values;
}

/** Returns the key in Authorization, which partners expect alone, or after a word that documents do not name. */
function withoutWord(value: string): string {
  const { rest } = parseCredentials(value) ?? { rest: '' };
  return rest === '' ? value : rest;
}

function describeFault(count: number, { in: kind, name }: Place): string {
  const what = kind === 'cookie' ? `the cookie ${name}` : `the query parameter ${name}`;
  const field = kind === 'authorization' ? 'Authorization' : name;
  const isField = kind === 'authorization' || kind === 'header';
  const subject = isField ? `The field ${field}` : sentence(what);
  if (count === 0) return `${subject} is missing.`;
  return count > 1 ? `${subject} was sent twice.` : `The value of ${isField ? field : what} is malformed.`;
}

function hashBytes(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
