import type { Double } from '../../../../src/double/index.ts';
import { type SchemeSubject, secrets, usual, usualWithContent } from '../../scheme-contract.ts';
import { type OAuth1Client, oauth1Signer } from '../oauth1.ts';
import { ofOAuth1 } from '../own-mistakes.ts';
import { type Sign, withField } from '../signer.ts';

const users = { ann: { secret: 'a secret of ann' }, bob: { secret: 'a secret of bob' } };
const request = { ...usual, secure: true };
const write = { ...usualWithContent, secure: true };

/** Issues a token of each consumer, and signs with it. */
export async function signerFor(
  double: Double,
  method: OAuth1Client['method'],
  sign?: OAuth1Client['sign'],
): Promise<Sign> {
  const tokens = new Map<string, readonly [token: string, secret: string]>();
  for (const [consumer, user] of [
    ['key-a', 'ann'],
    ['key-b', 'bob'],
  ] as const) {
    const { token, tokenSecret } = await double.oauth1.issueToken({ client: consumer, user });
    tokens.set(consumer, [token, tokenSecret]);
  }
  const any = tokens.get('key-a') ?? ['', ''];
  return oauth1Signer({
    method,
    findToken: (consumer) => tokens.get(consumer) ?? any,
    ...(sign === undefined ? {} : { sign }),
  });
}

const form = {
  ...write,
  lines: [['Content-Type', 'application/x-www-form-urlencoded']],
  content: 'a=Tea',
} as const;
const consumerSecret = 'the secret of a consumer is in the options, and has no rotation';
const noService =
  'a service without the control of a double issues tokens only after consent; test/oauth has the restart';

export const hmacSha1: SchemeSubject = {
  scheme: 'oauth',
  options: {
    users,
    https: true,
    consumers: {
      'key-a': {
        secret: secrets.ann,
        callbacks: ['oob'],
        scopes: ['read', 'write'],
        methods: ['HMAC-SHA1', 'PLAINTEXT'],
      },
      'key-b': {
        secret: secrets.bob,
        callbacks: ['oob'],
        scopes: ['read', 'write'],
        methods: ['HMAC-SHA1', 'PLAINTEXT'],
      },
    },
  },
  signer: (double) => signerFor(double, 'HMAC-SHA1'),
  identities: { ann: { user: 'key-a', secret: secrets.ann }, bob: { user: 'key-b', secret: secrets.bob } },
  request,
  write: form,
  window: { late: 300, early: 300 },
  parts: {
    time: (sent) =>
      withField(sent, 'Authorization', (text) => text.replace(/timestamp="(\d+)\d"/, 'timestamp="$11"')),
    nonce: (sent) => withField(sent, 'Authorization', (text) => text.replace('nonce="n-', 'nonce="m-')),
    user: (sent) => withField(sent, 'Authorization', (text) => text.replace('"key-a"', '"key-b"')),
  },
  credentialFields: ['Authorization'],
  // A list can have empty elements, also at its beginning (RFC 9110 §5.6.1).
  meaning: (text) =>
    text
      .toLowerCase()
      .replace(/[\s"\\]/g, '')
      .replace(/,{2,}/g, ',')
      .replace('authorization,oauth,', 'authorization,oauth'),
  second: ['Authentication', `hmac ann:${Buffer.alloc(32, 7).toString('base64')}`],
  knowledge: { other: /secret of another consumer, key-b/, former: 'none' },
  general: [
    /^The consumer, its secret, the token secret or the signed base string is wrong\.$/,
    /the secret is different, or the message differs/,
    /\| the signature is not the canonical base64 of 20 bytes$/,
    /^oauth_timestamp must be a positive number of seconds since 1970\.$/,
  ],
  without: {
    rotation: consumerSecret,
    restart: noService,
    'changed at random': noService,
    'changed item': 'only the content of forms is signed',
  },
};

const plaintextSigns = { unsigned: 'PLAINTEXT sends the secrets, over TLS, and signs nothing' };
const plaintext: SchemeSubject = {
  ...hmacSha1,
  ignoresParts: true,
  signer: (double) => signerFor(double, 'PLAINTEXT'),
  parts: {
    method: plaintextSigns,
    path: plaintextSigns,
    query: plaintextSigns,
    host: plaintextSigns,
    content: plaintextSigns,
    time: {
      ...plaintextSigns,
      change: (sent) =>
        withField(sent, 'Authorization', (text) => text.replace(/timestamp="(\d+)\d"/, 'timestamp="$11"')),
    },
    nonce: {
      ...plaintextSigns,
      change: (sent) => withField(sent, 'Authorization', (text) => text.replace('nonce="n-', 'nonce="m-')),
    },
    user: hmacSha1.parts.user,
  },
};

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'OAuth 1.0a, HMAC-SHA1': { ...hmacSha1, own: ofOAuth1 },
  'OAuth 1.0a, PLAINTEXT': plaintext,
};
