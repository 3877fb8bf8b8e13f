import { Problem } from '../../../http/problem.ts';
import { bareOperation, type Operation, operation } from '../operation.ts';
import { either, flag, number, object, optional, text, word } from '../shape.ts';
import { type ControlTarget, inMemory } from '../target.ts';

/** The operations on users, secrets, nonces and tokens. */
export function credentialOperations(target: ControlTarget): readonly Operation[] {
  return [...userOperations(target), ...tokenOperations(target)];
}

const nobodyThere = { 422: 'There is no such user, or the content is not what it has to be.' };

function userOperations(target: ControlTarget): readonly Operation[] {
  /** In memory alone: the users of a data directory are managed by the command (`countersign user`). */
  const users = () => {
    inMemory(target);
    return target.auth;
  };
  const user = { path: '/users/{name}', memoryOnly: true, refuses: nobodyThere };
  return [
    bareOperation({
      ...{ ...user, method: 'GET', id: 'credentials', gives: credentials.schema },
      summary: 'What a user proves itself with',
      answer: (_, { name = '' }) => users().credentials(name),
    }),
    operation({
      ...{ ...user, method: 'PUT', id: 'setUser', gives: credentials.schema },
      summary: 'Adds a user, or puts another in its place; what is left out is drawn',
      takes: object({ secret: optional(text()), password: optional(text()), disabled: optional(flag()) }),
      answer: (content, { name = '' }) => users().setUser(name, content),
    }),
    bareOperation({
      ...{ ...user, method: 'DELETE', id: 'removeUser' },
      summary: 'Takes a user away',
      answer: (_, { name = '' }) => users().removeUser(name),
    }),
    operation({
      ...{ ...user, path: '/users/{name}/rotate', method: 'POST', id: 'rotateSecret' },
      summary: 'Gives a user another secret, drawn where none is given',
      gives: object({ secret: text('the new one') }).schema,
      takes: object({ secret: optional(text()), grace: optional(lasting) }),
      answer: (rotation, { name = '' }) => ({ secret: users().rotateSecret(name, rotation) }),
    }),
    operation({
      ...{ method: 'POST', path: '/nonces/burn', id: 'burnNonces' },
      summary: 'Counts the next nonces as seen, so that good requests are refused as replays',
      takes: object({ times: optional(number({ least: 0 }, '1 when left out')) }),
      answer: ({ times }) => target.auth.burnNext('nonce', times),
    }),
  ];
}

function tokenOperations({ oauth1, oauth2, auth }: ControlTarget): readonly Operation[] {
  const counting = { method: 'POST', takes: chosen, gives: object({ count: number({}) }).schema } as const;
  return [
    operation({
      ...{ method: 'POST', path: '/tokens/oauth2', id: 'issueToken', status: 201 },
      summary: 'Draws a token of OAuth 2.0 without any request',
      gives: object({
        ...{ accessToken: text(), tokenType: text(), expiresIn: number({}, 'seconds'), scope: text() },
        refreshToken: optional(text()),
      }).schema,
      takes: object({
        client: optional(text('the first one registered when left out')),
        user: optional(text('whose it is; the client’s own when left out')),
        ...{ scope: optional(text()), expiresIn: optional(seconds), refresh: optional(flag()) },
      }),
      answer: (wish) => oauth2.issueToken(wish),
    }),
    operation({
      ...{ method: 'POST', path: '/tokens/oauth1', id: 'issueOAuth1Token', status: 201 },
      summary: 'Draws an access token of OAuth 1.0a without any request',
      gives: object({ token: text(), tokenSecret: text(), expiresIn: number({}, 'seconds'), scope: text() })
        .schema,
      takes: object({
        consumer: optional(text('the first one registered when left out')),
        ...{ user: text(), scope: optional(text()), expiresIn: optional(seconds) },
      }),
      answer: (wish) => oauth1.issueToken(wish),
    }),
    operation({
      ...{ ...counting, path: '/tokens/expire', id: 'expireTokens' },
      summary: 'Makes tokens of either OAuth expire now, and says how many',
      answer: async ({ token, ...filter }) => ({ count: await auth.expireTokens(token ?? filter) }),
    }),
    operation({
      ...{ ...counting, path: '/tokens/revoke', id: 'revokeTokens' },
      summary: 'Ends tokens of either OAuth, and says how many were meant',
      description: 'With a code or a refresh token everything of its grant ends.',
      answer: async ({ token, ...filter }) => {
        const choice = token ?? filter;
        return { count: (await oauth1.revoke(choice)) + (await oauth2.revoke(choice)) };
      },
    }),
    operation({
      ...{ method: 'POST', path: '/tokens/approve', id: 'approve' },
      summary:
        'Decides as a user who was sent to a page of consent; gives where the client gets the user back',
      refuses: { 422: 'No question was asked; the detail has what the server said instead.' },
      takes: object({
        url: text('where the user was sent'),
        user: text(),
        decision: optional(word(['allow', 'deny'], 'allow when left out')),
      }),
      gives: object({ location: text() }).schema,
      // Both mechanisms ask on pages of one kind.
      answer: async ({ url, ...approval }) => ({
        location: await oauth2.approve(url, approval).catch(unasked),
      }),
    }),
  ];
}

function unasked(error: unknown): never {
  throw new Problem('invalid-content', error instanceof Error ? error.message : String(error));
}

const lasting = either(
  number({ least: 0 }),
  text(),
  'ms, or a length such as 90s, 24h: how long the one before stays valid',
);
const seconds = either(number({ whole: false }), text(), 'seconds, or a length such as 5m');

const credentials = object({ secret: text(), password: optional(text()) });

const chosen = object(
  {
    token: optional(text('this one; then nothing else counts')),
    client: optional(text('the client’s id, or the consumer’s key')),
    user: optional(text()),
    kind: optional(word(['access', 'refresh', 'code', 'request', 'ticket'])),
  },
  'which tokens: all that fit everything that is given',
);
