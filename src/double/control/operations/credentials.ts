import { keyShape } from '../../../accounts/parse-account-key.ts';
import { Problem } from '../../../http/problem.ts';
import {
  anything,
  either,
  flag,
  listOf,
  mapOf,
  number,
  object,
  optional,
  text,
  word,
} from '../../../shape/shape.ts';
import { filterMembers } from '../../auth/tokens.ts';
import { type Controlled, type Operation, operation, requireMemory } from '../operation.ts';

/** The operations on users, secrets, nonces and tokens. */
export function credentialOperations(target: Controlled): readonly Operation[] {
  return [...userOperations(target), ...tokenOperations(target)];
}

const noSuchUser = { 422: 'There is no such user, or the content is invalid.' };

function userOperations(target: Controlled): readonly Operation[] {
  /** Requires a server in memory: `countersign user` manages the users of a data directory. */
  const users = () => {
    requireMemory(target);
    return target.auth;
  };
  const user = { memoryOnly: true, errors: noSuchUser };
  return [
    operation('GET', '/users/{name}', 'credentials', {
      ...user,
      returns: credentials,
      summary: 'Returns the credentials of a user',
      run: (_, { name = '' }) => users().credentials(name),
    }),
    operation('PUT', '/users/{name}', 'setUser', {
      ...user,
      returns: credentials,
      summary: 'Adds or replaces a user',
      description: 'Secret and password are generated if both are missing.',
      accepts: object({ secret: optional(text()), password: optional(text()), disabled: optional(flag()) }),
      run: (content, { name = '' }) => users().setUser(name, content),
    }),
    operation('POST', '/users/{name}/rotate', 'rotateSecret', {
      errors: noSuchUser,
      summary: 'Replaces the secret of a user, by a generated one unless one is sent',
      description:
        'In a data directory, the stored secret does not change: it is valid again after a restart, or after any change of the users there.',
      returns: object({ secret: text('the new secret') }),
      accepts: object({ secret: optional(text()), grace: optional(gracePeriod) }),
      run: (rotation, { name = '' }) => ({ secret: target.auth.rotateSecret(name, rotation) }),
    }),
    operation('PUT', '/users/{name}/keys/{id}', 'addKey', {
      ...user,
      summary: 'Adds or replaces a key of a user',
      accepts: keyShape,
      run: (key, { name = '', id = '' }) => users().addKey(name, id, key),
    }),
    operation('DELETE', '/users/{name}/keys/{id}', 'removeKey', {
      ...user,
      summary: 'Removes a key of a user',
      run: (_, { name = '', id = '' }) => users().removeKey(name, id),
    }),
    operation('DELETE', '/users/{name}', 'removeUser', {
      ...user,
      summary: 'Removes a user',
      run: (_, { name = '' }) => users().removeUser(name),
    }),
    operation('POST', '/nonces/burn', 'burnNonces', {
      summary: 'Treats the next nonces as used, so that valid requests are refused as replays',
      accepts: object({ times: optional(number({ min: 0 }, 'default: 1')) }),
      run: ({ times }) => target.auth.burnNonces(times),
    }),
  ];
}

function tokenOperations({ oauth1, oauth2 }: Controlled): readonly Operation[] {
  const counting = { accepts: tokenFilter, returns: object({ count: number({}) }) };
  return [
    operation('POST', '/tokens/oauth2', 'issueToken', {
      status: 201,
      summary: 'Issues a token of OAuth 2.0',
      returns: object({
        accessToken: text(),
        tokenType: text(),
        expiresIn: number({}, 'seconds'),
        scope: text(),
        refreshToken: optional(text()),
      }),
      accepts: object({
        client: optional(text('the client’s id; default: the first registered client')),
        user: optional(text('the user whom the token represents; default: the client itself')),
        scope: optional(text()),
        expiresIn: optional(seconds),
        refresh: optional(flag()),
        audience: optional(either(text(), listOf(text()))),
        claims: optional(mapOf(anything, 'claims of a JWT, which take precedence')),
      }),
      run: (options) => oauth2.issueToken(options),
    }),
    operation('POST', '/tokens/oauth1', 'issueOAuth1Token', {
      status: 201,
      summary: 'Issues an access token of OAuth 1.0a',
      returns: object({
        token: text(),
        tokenSecret: text(),
        expiresIn: number({}, 'seconds'),
        scope: text(),
      }),
      accepts: object({
        client: optional(text('the consumer’s key; default: the first registered consumer')),
        user: text(),
        scope: optional(text()),
        expiresIn: optional(seconds),
      }),
      run: (options) => oauth1.issueToken(options),
    }),
    operation('POST', '/tokens/expire', 'expireTokens', {
      ...counting,
      summary: 'Makes tokens of OAuth 1.0a and 2.0 expire now, and returns their number',
      run: async ({ token, ...filter }) => {
        const choice = token ?? filter;
        return { count: (await oauth1.expireTokens(choice)) + (await oauth2.expireTokens(choice)) };
      },
    }),
    operation('POST', '/tokens/revoke', 'revokeTokens', {
      ...counting,
      summary: 'Revokes tokens of OAuth 1.0a and 2.0, and returns the number of tokens that matched',
      description: 'A code or a refresh token revokes its whole grant.',
      run: async ({ token, ...filter }) => {
        const choice = token ?? filter;
        return { count: (await oauth1.revokeTokens(choice)) + (await oauth2.revokeTokens(choice)) };
      },
    }),
    operation('POST', '/tokens/approve', 'approve', {
      summary: 'Decides as a user on a consent page, and returns the URL of the redirect to the client',
      errors: { 422: 'The URL led to no consent page; the detail contains the server’s response.' },
      accepts: object({
        url: text('the URL to which the client redirected the user'),
        user: text(),
        decision: optional(word(['allow', 'deny'], 'default: allow')),
      }),
      returns: object({ location: text() }),
      // The consent pages of both OAuth versions have one form.
      run: async ({ url, ...approval }) => ({
        location: await oauth2.approve(url, approval).catch(noConsentPage),
      }),
    }),
  ];
}

function noConsentPage(error: unknown): never {
  throw new Problem('invalid-content', error instanceof Error ? error.message : String(error));
}

const gracePeriod = either(
  number({ min: 0 }),
  text(),
  'how long the former secret stays valid: ms, or a duration such as 90s or 24h; default: not at all',
);
const seconds = either(number({ whole: false }), text(), 'seconds, or a duration such as 5m');

const credentials = object({ secret: text(), password: optional(text()) });

const tokenFilter = object(
  {
    token: optional(text('the token itself; if present, the other members are ignored')),
    ...filterMembers,
  },
  'selects tokens: a token matches if it matches every member that is present',
);
