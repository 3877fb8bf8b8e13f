import { type SchemeSubject, secrets, usual, usualWithContent } from '../../scheme-contract.ts';
import { formatTarget, type Mistake, type Sign, withField } from '../signer.ts';

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
    const sent = { method, target: formatTarget(request), secure, lines, content };
    return mistake.sent?.(sent) ?? sent;
  };

const common = {
  request: { ...usual, secure: true },
  write: { ...usualWithContent, secure: true },
  identities: { ann: { user: 'ann', secret: secrets.ann }, bob: { user: 'bob', secret: secrets.bob } },
  general: [/^The user or the (?:secret|password) is wrong\.$/, /the secret is different/],
} as const;
const parts = {
  method: nothing,
  path: nothing,
  query: nothing,
  host: nothing,
  content: nothing,
  time: { absent: never },
  nonce: { absent: never },
};

const apiKey: SchemeSubject = {
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
  knowledge: {
    other: /what was sent is the secret of another user, bob/,
    former: /what was sent is a former secret of ann, which was replaced/,
    expired: /what was sent is an expired secret of ann/,
  },
  without: { replay: never, restart: never, window: never },
};

/** A single key, which identifies its user or belongs to the only one. */
const singleKey = (place: 'field' | 'query' | 'cookie' | 'authorization', user?: 'ann'): SchemeSubject => {
  const places = {
    field: { secret: { field: 'X-Own-Key' }, line: (key: string) => ['X-Own-Key', key] as const },
    query: { secret: { query: 'own_key' }, line: undefined },
    cookie: { secret: { cookie: 'own' }, line: (key: string) => ['Cookie', `a=b; own=${key}`] as const },
    authorization: {
      secret: { authorization: 'Bearer' },
      line: (key: string) => ['Authorization', `Bearer ${key}`] as const,
    },
  } as const;
  const { secret, line } = places[place];
  const inQuery: Sign = (request, { secret: own }, mistake = {}) => {
    const key = (mistake.key?.(own) ?? own).toString();
    const written = mistake.encode?.(Buffer.from(own), key) ?? key;
    const { method, secure, content } = request;
    const target = `${formatTarget(request)}&own_key=${encodeURIComponent(written)}`;
    const sent = {
      method,
      target,
      secure,
      lines: [['Host', request.host] as const, ...request.lines],
      content,
    };
    return mistake.sent?.(sent) ?? sent;
  };
  const fixed = 'no user is named';
  return {
    ...common,
    scheme: 'key',
    options: { ...apiKey.options, schemes: { key: { secret, ...(user === undefined ? {} : { user }) } } },
    signer: () => (line === undefined ? inQuery : sender((_, key) => [line(key)])),
    parts: { ...parts, user: { absent: fixed } },
    credentialFields: line === undefined ? [] : [line('')[0]],
    general: [
      /^The user or the secret is wrong\./,
      /^The key is wrong\./,
      /the secret is different/,
      /no user has this key/,
    ],
    // Other parameters and cookies are no credentials.
    ignoresParts: place === 'query' || place === 'cookie',
    // Letter case counts in a key.
    meaning: (text) => text.replace(/[\s"\\]/g, ''),
    without: {
      replay: never,
      restart: never,
      window: never,
      'unknown user': fixed,
      work: fixed,
      // bob's key is bob's.
      ...(user === undefined
        ? { 'another user': 'the key identifies its user', state: 'the key identifies its user' }
        : {}),
      ...(place === 'cookie' ? { 'second scheme': 'tested with the places' } : {}),
    },
  };
};

const basic: SchemeSubject = {
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

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'an API key': apiKey,
  'a single API key in field': singleKey('field'),
  'a single API key in query': singleKey('query'),
  'a single API key in cookie': singleKey('cookie'),
  'a single API key in authorization': singleKey('authorization'),
  'a static token for all': singleKey('authorization', 'ann'),
  Basic: basic,
};
