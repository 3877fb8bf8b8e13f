/**
 * Rejects invalid credentials in its own process. An order is a mechanism and the number of rejections of each case, in
 * an order that is shuffled each time. Returns the median, the 5th and the 95th percentile of each case by name.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { signRequest } from '../../src/client/sign.ts';
import { systemClock } from '../../src/clock.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { Problem } from '../../src/http/problem.ts';
import { readOAuth2 } from '../../src/oauth/oauth2-options.ts';
import { createOrigins } from '../../src/pipeline/origin.ts';
import { createAuthentication } from '../../src/service/authentication.ts';
import type { UserDeclaration } from '../../src/service/options.ts';
import { createMemoryStore } from '../../src/store/memory.ts';

import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { quantile } from '../measure/results/statistics.ts';

const refusals: ReadonlySet<string> = new Set(['credentials-refused', 'oauth1-signature-invalid']);

type Cases = readonly (readonly [name: string, request: IncomingRequest])[];

// Names and guesses have the same length, so that nothing else differs.
const hash = await hashPassword('the right one', randomBytes(16), 1024);
/** Returns a secret of its own for each user. */
const secretsOf = (user: string): { readonly secret: string }[] => [{ secret: `first of ${user}` }];
const { publicKey: ed25519PublicKey } = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const users = new Map<string, UserDeclaration>([
  ['onesecret', { secrets: secretsOf('onesecret'), password: { hash } }],
  [
    'twosecret',
    { secrets: [...secretsOf('twosecret'), { secret: 'another secret', until: Number.MAX_SAFE_INTEGER }] },
  ],
  ['oldsecret', { secrets: [...secretsOf('oldsecret'), { secret: 'former secret', until: 0 }] }],
  ['nosecrets', { secrets: [], password: { hash } }],
  ['plaintext', { secrets: secretsOf('plaintext'), password: { plain: 'the right one' } }],
  ['remembers', { secrets: secretsOf('remembers'), password: { hash } }],
  ['nopassnot', { secrets: secretsOf('nopassnot') }],
  ['notactive', { secrets: secretsOf('notactive'), password: { hash }, disabled: true }],
  [
    'haskeys-1',
    {
      secrets: secretsOf('haskeys-1'),
      keys: {
        'awskey-01': { algorithm: 'aws4', secret: 'the secret of a key' },
        'hmackey-1': { algorithm: 'hmac-sha256', secret: 'the secret of a key' },
        'ed25519-1': { algorithm: 'ed25519', publicKey: ed25519PublicKey },
      },
    },
  ],
]);
const { publicKey: rsaPublicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const consumers = {
  generated: { secret: randomBytes(32).toString('base64url') },
  shortened: { secret: 'a short one' },
  lengthens: { secret: 'a long one '.repeat(8) },
  keyholder: { rsaPublicKey, methods: ['RSA-SHA1'] },
} as const;
const schemes = {
  partner: {
    message: '{timestamp}.{method}.{target}.{nonce}',
    signature: { field: 'X-Signature' },
    user: { field: 'X-User' },
    timestamp: { field: 'X-Timestamp' },
    nonce: { field: 'X-Nonce' },
  },
  key: { user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } },
  aws4: { region: 'eu-central-1', service: 'execute-api' },
  'message-signatures': {},
};
const options = { users, consumers, schemes, maxAuthFailures: 0 };
const { authenticator } = createAuthentication(options, systemClock, randomBytes, {
  store: createMemoryStore({ storeId: 'bench' }),
  origins: createOrigins(undefined),
  settings: readOAuth2(undefined),
});

const signedBy = (user: string): IncomingRequest => {
  const fields = signRequest({
    method: 'GET',
    url: 'http://localhost/articles',
    user,
    secret: 'a wrong secret',
  });
  return createRequest({ method: 'GET', target: '/articles', headers: Object.entries(fields) });
};
const passwordOf = (user: string, password = 'the wrong one'): IncomingRequest => {
  const value = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return createRequest({
    method: 'GET',
    target: '/articles',
    headers: [['Authorization', value]],
    secure: true,
  });
};

const declaredBy = (user: string): IncomingRequest => {
  const fields: [string, string][] = [
    ['X-User', user],
    ['X-Timestamp', String(Math.floor(systemClock.now() / 1000))],
    ['X-Nonce', randomBytes(8).toString('hex')],
    ['X-Signature', randomBytes(32).toString('hex')],
  ];
  return createRequest({ method: 'GET', target: '/articles', headers: fields });
};
const keyOf = (user: string): IncomingRequest => {
  const fields: [string, string][] = [
    ['X-Api-Key', user],
    ['X-Api-Secret', 'a wrong secret'],
  ];
  return createRequest({ method: 'GET', target: '/articles', headers: fields, secure: true });
};

const awsSignedBy = (id: string): IncomingRequest => {
  const time = new Date(systemClock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/eu-central-1/execute-api/aws4_request`;
  const signature = randomBytes(32).toString('hex');
  const fields: [string, string][] = [
    ['Host', 'localhost'],
    ['X-Amz-Date', time],
    [
      'Authorization',
      `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    ],
  ];
  return createRequest({ method: 'GET', target: '/articles', headers: fields });
};
/**
 * Signs a message with a random signature of this length, in bytes. Its last byte is 0: an Ed25519 signature that ends with a
 * larger one can be out of range (RFC 8032 §5.1.7), and is refused before anything is computed.
 */
const messageSignedBy = (id: string, length = 32): IncomingRequest => {
  const created = Math.floor(systemClock.now() / 1000);
  const covered = '("@method" "@authority" "@path" "@query")';
  const fields: [string, string][] = [
    ['Host', 'localhost'],
    ['Signature-Input', `sig=${covered};created=${created};keyid="${id}"`],
    ['Signature', `sig=:${Buffer.concat([randomBytes(length - 1), Buffer.alloc(1)]).toString('base64')}:`],
  ];
  return createRequest({ method: 'GET', target: '/articles', headers: fields });
};

/** Signs with a random signature of the right length. */
const consumedBy = (key: string, method: 'HMAC-SHA1' | 'RSA-SHA1' = 'HMAC-SHA1'): IncomingRequest => {
  const parameters = {
    oauth_consumer_key: key,
    oauth_token: randomBytes(32).toString('base64url'),
    oauth_signature_method: method,
    oauth_timestamp: Math.floor(systemClock.now() / 1000),
    oauth_nonce: randomBytes(8).toString('hex'),
    oauth_signature: randomBytes(method === 'HMAC-SHA1' ? 20 : 256).toString('base64'),
  };
  const written = Object.entries(parameters).map(([name, value]) => `${name}="${encodeURIComponent(value)}"`);
  return createRequest({
    method: 'GET',
    target: '/articles',
    headers: [['Authorization', `OAuth ${written.join(', ')}`]],
    secure: true,
  });
};

const holders = [
  ['unknown user', 'whoisthis'],
  ['wrong secret', 'onesecret'],
  ['user with two secrets', 'twosecret'],
  ['one of two has expired', 'oldsecret'],
  ['user without a secret', 'nosecrets'],
  ['disabled user', 'notactive'],
] as const;
const holdersBy = (make: (user: string) => IncomingRequest): Cases =>
  holders.map(([name, user]) => [name, make(user)] as const);
const passwords: Cases = [
  ['unknown user', passwordOf('whoisthis')],
  ['wrong password', passwordOf('onesecret')],
  ['wrong, the right remembered', passwordOf('remembers')],
  ['wrong, kept in plain text', passwordOf('plaintext')],
  ['user without a password', passwordOf('nopassnot')],
  ['disabled user', passwordOf('notactive')],
];
const consumed: Cases = [
  ['unknown consumer', consumedBy('whoisthis')],
  ['wrong secret', consumedBy('generated')],
  ['wrong, the right is short', consumedBy('shortened')],
  ['wrong, the right is long', consumedBy('lengthens')],
  ['consumer without a secret', consumedBy('keyholder')],
];
const keyed: Cases = [
  ['unknown consumer', consumedBy('whoisthis', 'RSA-SHA1')],
  ['wrong key', consumedBy('keyholder', 'RSA-SHA1')],
  ['consumer without a key', consumedBy('generated', 'RSA-SHA1')],
];

const ed25519Keys: Cases = [
  ['unknown key', messageSignedBy('unknown-1', 64)],
  ['wrong signature', messageSignedBy('ed25519-1', 64)],
  ['key of another algorithm', messageSignedBy('hmackey-1', 64)],
  ['user with a secret', messageSignedBy('onesecret', 64)],
];

const mechanisms: Readonly<Record<string, Cases>> = {
  HMAC: holdersBy(signedBy),
  Basic: passwords,
  'OAuth 1.0a, HMAC-SHA1': consumed,
  'OAuth 1.0a, RSA-SHA1': keyed,
  'Declared HMAC': holdersBy(declaredBy),
  'API key': holdersBy(keyOf),
  'AWS Signature Version 4': [
    ...holdersBy(awsSignedBy),
    ['wrong signature of a key', awsSignedBy('awskey-01')],
    ['key of another algorithm', awsSignedBy('ed25519-1')],
  ],
  'Message signatures, HMAC': [
    ...holdersBy((user) => messageSignedBy(user)),
    ['wrong signature of a key', messageSignedBy('hmackey-1')],
    ['key of another algorithm', messageSignedBy('ed25519-1')],
  ],
  'Message signatures, Ed25519': ed25519Keys,
};

/** Creates all cases. */
export async function part(): Promise<Answer> {
  await authenticator.authenticate(passwordOf('remembers', 'the right one'));
  return (mechanism = '', count = '') => measure(mechanisms[mechanism] ?? [], Number(count));
}

async function measure(cases: Cases, count: number): Promise<Sample> {
  const times = new Map(cases.map(([name]) => [name, [] as number[]]));
  for (let turn = 0; turn < count; turn += 1) {
    for (const [name, request] of shuffled(cases)) times.get(name)?.push(await refusal(request));
    if (turn % 40 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const figures = Array.from(times, ([name, all]) => [
    [`${name}: time`, quantile(all, 0.5)],
    [`${name}: p5`, quantile(all, 0.05)],
    [`${name}: p95`, quantile(all, 0.95)],
  ]);
  return Object.fromEntries(figures.flat());
}

/** Measures one rejection (ns). */
async function refusal(request: IncomingRequest): Promise<number> {
  const begun = process.hrtime.bigint();
  try {
    await authenticator.authenticate(request); // what is refused at once is thrown before the wait
  } catch (error) {
    const ended = process.hrtime.bigint();
    if (error instanceof Problem && refusals.has(error.type)) return Number(ended - begun);
    throw error;
  }
  throw new Error('it was not refused');
}

function shuffled<T>(items: readonly T[]): T[] {
  const keyed = items.map((item) => ({ item, key: randomBytes(4).readUInt32LE() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
}
