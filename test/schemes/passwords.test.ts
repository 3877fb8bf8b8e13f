import {
  type SchemeSubject,
  schemeContract,
  secrets,
  usual,
  usualWithContent,
} from '../support/scheme-contract.ts';
import { type Mistake, type Sign, targetOf, withField } from '../support/schemes/signer.ts';

const nothing = { unsigned: 'the secret is sent, over TLS, and nothing is signed' };
const never = 'the secret is sent, over TLS, and nothing is signed';

/** Sends the secret itself. */
const sender =
  (linesOf: (user: string, secret: string) => readonly (readonly [string, string])[]): Sign =>
  (request, { user, secret }, mistake: Mistake = {}) => {
    const key = mistake.key?.(secret) ?? secret;
    const written = mistake.encode?.(Buffer.from(secret), key.toString()) ?? key.toString();
    const lines = [
      ['Host', request.host] as const,
      ...request.lines,
      ...linesOf(mistake.user?.(user) ?? user, written),
    ];
    const { method, secure, content } = request;
    const sent = { method, target: targetOf(request), secure, lines, content };
    return mistake.sent?.(sent) ?? sent;
  };

const common = {
  request: { ...usual, secure: true },
  write: { ...usualWithContent, secure: true },
  identities: { ann: { user: 'ann', secret: secrets.ann }, bob: { user: 'bob', secret: secrets.bob } },
  general: [/^The user or the (?:secret|password) is wrong\.$/, /the secret is different/],
} as const;
const parts = {
  ...{ method: nothing, path: nothing, query: nothing, host: nothing, content: nothing },
  time: { absent: never },
  nonce: { absent: never },
};

export const apiKey: SchemeSubject = {
  ...common,
  scheme: 'key',
  options: {
    https: true,
    users: { ann: { secret: secrets.ann }, bob: { secret: secrets.bob } },
    schemes: { key: { user: { field: 'X-Own-Id' }, secret: { field: 'X-Own-Secret' } } },
  },
  signer: () =>
    sender((user, secret) => [
      ['X-Own-Id', user],
      ['X-Own-Secret', secret],
    ]),
  parts: { ...parts, user: (sent) => withField(sent, 'X-Own-Id', () => 'bob') },
  credentialFields: ['X-Own-Secret', 'X-Own-Id'],
  without: { replay: never, restart: never, window: never },
};

export const basic: SchemeSubject = {
  ...common,
  scheme: 'basic',
  options: {
    https: true,
    users: {
      ann: { secret: 'a secret', password: secrets.ann },
      bob: { secret: 'another', password: secrets.bob },
    },
  },
  signer: () =>
    sender((user, password) => [
      ['Authorization', `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`],
    ]),
  parts: { ...parts, user: { absent: 'user and password are one text in base64' } },
  credentialFields: ['Authorization'],
  knowledge: { other: /the password or secret of .* user, bob, was sent/, former: 'none' },
  without: { replay: never, restart: never, window: never, rotation: 'a password is replaced at once' },
};

schemeContract('an API key', apiKey);
schemeContract('Basic', basic);
