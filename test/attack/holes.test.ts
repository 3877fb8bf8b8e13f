import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import {
  type AttackTarget,
  type Attempt,
  attack,
  createAttempts,
  createSigner,
  type Signer,
} from '../../src/attack/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { startDouble } from '../../src/double/index.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { long } from '../support/store/thoroughness.ts';
import { startNaive } from './fixture.ts';

const clock = createManualClock(Date.UTC(2026, 1, 9, 12, 59, 24));
const tls = makeIdentity();

/** A scheme of the fixture, its signer, and what is accepted because of each hole. */
interface Planted {
  readonly scheme: string;
  readonly signer: Signer;
  /** Seconds. Default: that of the adversary. */
  readonly window?: number;
  readonly otherUser?: string;
  readonly holes: Readonly<Record<string, readonly string[]>>;
}

const [user, secret] = ['johndoe', 'A secret of johndoe'];
const ed25519 = generateKeyPairSync('ed25519');
/** A declared scheme with all parts. */
const partner = {
  message: '{user}.{timestamp}.{nonce}.{method}.{target}.{body-sha256}',
  encoding: 'base64',
  signature: { field: 'X-Signature', format: 'v1={signature}' },
  user: { field: 'X-Api-Key' },
  timestamp: { field: 'X-Timestamp' },
  nonce: { field: 'X-Nonce' },
} as const;
const password = 'A password of johndoe';
const consumer = { key: 'partner', secret: 'A secret of partner' };
const token = { token: 'a-Token-of-johndoe', tokenSecret: 'Its secret' };
const scope = { region: 'eu-central-1', service: 'execute-api' };
const hmacKey = { id: user, algorithm: 'hmac-sha256', secret } as const;
const keys = new Map<string, object>([
  [user, hmacKey],
  ['jane', { algorithm: 'hmac-sha256', secret: 'A secret of jane' }],
  ['key-1', { algorithm: 'ed25519', pem: ed25519.publicKey.export({ type: 'spki', format: 'pem' }) }],
]);
const secrets = new Map([
  [user, secret],
  ['jane', 'A secret of jane'],
]);

/** Starts the server of the fixture: over HTTPS if the scheme sends a secret. */
async function start(
  context: TestContext,
  { scheme, signer }: Planted,
  hole?: string,
): Promise<AttackTarget> {
  const parts = {
    now: clock.now,
    keys,
    secrets,
    passwords: new Map([[user, password]]),
    consumer,
    token: scheme === 'bearer' ? token.token : token,
    user,
    tag: 'app',
    ...scope,
  };
  const isSecure = signer.tlsOnly === true;
  const url = await startNaive(context, 'one-hole', { scheme, hole, ...parts, ...(isSecure ? { tls } : {}) });
  return isSecure ? { secureUrl: url, ca: tls.cert } : { url };
}

const put = (origin: string | URL, body: string) => ({
  method: 'PUT',
  url: `${origin}/articles/1`,
  headers: { 'Content-Type': 'application/json' },
  body,
});

/** The attempts that the short form makes on a server with a hole: those that find it, and every eighth of the others. */
function sample(attempts: readonly Attempt[], names: readonly string[], first: number): readonly Attempt[] {
  if (long) return attempts;
  return attempts.filter(({ name }, at) => names.includes(name) || at % 8 === first % 8);
}

/** Attacks a server. Returns the names of the attempts that it accepts. */
async function accepted(
  server: AttackTarget,
  { signer, window, otherUser }: Planted,
  choose: (attempts: readonly Attempt[]) => readonly Attempt[] = (attempts) => attempts,
): Promise<string[]> {
  const request = put(server.secureUrl ?? server.url ?? '', '{"pages":12}');
  const report = await attack(server, choose(createAttempts(request, signer, { clock, window, otherUser })));
  assert.deepEqual(
    report.inconclusive.map(({ name, status, note }) => `${name}: ${status} ${note}`),
    [],
  );
  assert.deepEqual(
    report.skipped.filter(({ attempt: { needs } }) => needs !== 'plain'),
    [],
  );
  return report.failed.map(({ name }) => name);
}

const forged = ['there are no credentials', 'the proof is another one'].map(
  (name) => `${name}, and forged fields claim the address 127.0.0.1`,
);
const inOtherCase = ['the letters of the proof have the other case'];
const addedQuery = ['a query is added to a request that was signed without one'];
const nonceRace = { 'nonce race': ['the request is sent 8 times at once'] };
const always = {
  'trusted address': forged,
  'update race': ['8 changes with the same If-Match are sent at once'],
};
const times = [
  'the date is a minute older than the window allows',
  'the date is a minute further ahead than the window allows',
  'the date is a day old',
  'the date is a day ahead',
  'the date is in 1970',
  'the date is in the year 9999',
];
const algorithms = [
  'rsa-pss-sha512',
  'rsa-v1_5-sha256',
  'ecdsa-p256-sha256',
  'ecdsa-p384-sha384',
  'ed25519',
  'none',
];

const plantedHoles: Readonly<Record<string, Planted>> = {
  hmac: {
    scheme: 'hmac',
    signer: createSigner({ user, secret, signBody: true }),
    holes: {
      ...always,
      ...nonceRace,
      'any case': inOtherCase,
      'unsigned query': addedQuery,
      'any nonce': [
        'the content was changed, and its digest moved into the nonce',
        'the nonce contains a plus sign',
        'the nonce contains a colon',
        'the nonce contains a space',
        'the nonce has 129 characters',
      ],
    },
  },
  basic: {
    scheme: 'basic',
    signer: createSigner({ scheme: 'basic', user, password }),
    holes: { ...always, 'any case': inOtherCase },
  },
  bearer: {
    scheme: 'bearer',
    signer: createSigner({ scheme: 'bearer', token: token.token }),
    holes: { ...always, 'any case': inOtherCase },
  },
  oauth1: {
    scheme: 'oauth1',
    signer: createSigner({ scheme: 'oauth1', client: consumer.key, secret: consumer.secret, ...token }),
    holes: {
      ...always,
      ...nonceRace,
      'any case': inOtherCase,
      'unsigned query': addedQuery,
      'any nonce': ['a parameter of the query was moved into the nonce'],
    },
  },
  'message signatures': {
    scheme: 'message-signatures',
    signer: createSigner({ scheme: { type: 'message-signatures', key: hmacKey, tag: 'app' } }),
    window: 300,
    otherUser: 'jane',
    holes: {
      ...always,
      ...nonceRace,
      'any case': inOtherCase,
      'unsigned query': ['the signature does not cover "@query"'],
      'uncovered digest': ['the signature does not cover "content-digest"'],
      'repeated label': [
        'the credentials occur twice',
        'bad credentials precede the good ones',
        'a label occurs twice in Signature',
        'a label occurs twice in Signature-Input',
      ],
      'unpaired label': ['a label is only in Signature', 'a label is only in Signature-Input'],
      'any number': ['there are 17 signatures'],
      'any alg': algorithms.map((algorithm) => `the parameter alg is ${algorithm}`),
      'any key': ["the user is another one, with this one's secret"],
      'any time': [...times, 'created is in milliseconds'],
      'no expiry': ['expires is a second ago'],
      'nonce by label': ['the request is sent again under another label'],
      'insecure digest': ['Content-Digest is of MD5'],
      'ignored digest': [
        'Content-Digest is of MD5',
        'Content-Digest is of SHA-1',
        'Content-Digest is of an unknown algorithm',
        'Content-Digest is empty',
      ],
      'one digest': ['one of two digests is of other content'],
    },
  },
  'message signatures with Ed25519': {
    scheme: 'message-signatures',
    signer: createSigner({
      scheme: {
        type: 'message-signatures',
        key: { id: 'key-1', algorithm: 'ed25519', privateKey: ed25519.privateKey },
        tag: 'app',
      },
    }),
    window: 300,
    otherUser: 'jane',
    holes: {
      'alg chooses': ['the public key in PEM is the secret of an HMAC'],
      'any key': ["the user is another one, with this one's secret"],
    },
  },
  aws4: {
    scheme: 'aws4',
    signer: createSigner({ scheme: { type: 'aws4', ...scope, accessKeyId: user, secret } }),
    window: 900,
    otherUser: 'jane',
    holes: {
      ...always,
      'unsigned query': addedQuery,
      'any payload': [
        'the content was changed, but not its digest',
        'the content lacks its last byte, and its digest is unchanged',
        'the digest of the content is that of no content',
      ],
      'unsigned payload': ['the content is not signed'],
      streaming: ['the digest of the content is STREAMING-AWS4-HMAC-SHA256-PAYLOAD'],
      'unsigned headers': [
        'X-Amz-Acl was added after signing',
        'X-Amz-Target was added after signing',
        'the signature does not cover x-amz-content-sha256',
        'the signature does not cover x-amz-date',
      ],
      'unsigned host': ['the signature does not cover host'],
      'absent headers': ['the signature covers a field that is absent'],
      'any day': ['the scope is that of the day before'],
      'any region': ['the scope is that of another region'],
      'any service': ['the scope is that of another service'],
      'any end': ['the scope ends differently'],
      'two places': ['the signature in Authorization covers one in the query'],
    },
  },
  'presigned aws4': {
    scheme: 'aws4',
    signer: createSigner({ scheme: { type: 'aws4', ...scope, accessKeyId: user, secret, presign: 60 } }),
    window: 900,
    otherUser: 'jane',
    holes: {
      ...always,
      'unsigned query': addedQuery,
      'any lifetime': ['0', '604801'].map((value) => `the lifetime is ${value}`),
      'any day': ['the scope is that of the day before'],
      'any region': ['the scope is that of another region'],
      'any service': ['the scope is that of another service'],
      'unsigned headers': ['X-Amz-Acl was added after signing'],
      'repeated signature': ['X-Amz-Signature occurs twice in the query'],
      'two places': ['the signature in Authorization covers one in the query'],
    },
  },
  'a declared scheme': {
    scheme: 'partner',
    signer: createSigner({ scheme: partner, user, secret }),
    window: 300,
    otherUser: 'jane',
    holes: {
      ...always,
      ...nonceRace,
      'any case': inOtherCase,
      'unsigned query': addedQuery,
      'any nonce': ['the nonce contains "."', 'the nonce has 1,025 characters'],
      'nonce by date': [
        'the nonce is sent again under a new date',
        'the nonce is sent again under an earlier date',
      ],
      'any version': ['the signature is of another version'],
      'any unit': ['the timestamp is in the unit ms'],
      'any time': [
        ...times,
        'a stale request has a fresh Date beside its X-Timestamp',
        ...['fractional-s', 'ms', 'rfc3339', 'http-date'].map(
          (unit) => `the timestamp is in the unit ${unit}`,
        ),
      ],
      'empty secret': ['the user does not exist, and the secret is empty'],
      'serialized again': ['the content is serialized again', 'a line break follows the content'],
    },
  },
  'a list of signatures': {
    scheme: 'hook',
    signer: createSigner({ scheme: { preset: 'stripe', user, replay: 'refuse' }, user, secret }),
    window: 300,
    otherUser: 'jane',
    holes: {
      ...always,
      ...nonceRace,
      'any number': ['the 17th signature is valid'],
      'long list': ['the list of signatures has 1 MiB'],
      'two timestamps': ['a fresh timestamp precedes the signed one'],
      'whole list': ['the request is sent again without one of its signatures'],
    },
  },
  'an API key': {
    scheme: 'api-key',
    signer: createSigner({
      scheme: { user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } },
      user,
      secret,
    }),
    window: 300,
    otherUser: 'jane',
    holes: {
      ...always,
      'any case': inOtherCase,
      'in the query': ['user and secret are sent in the query'],
      'no secret': ['the user is sent without a secret'],
      'list of secrets': [
        'a list of secrets contains the right one',
        'a list of secrets ends with the right one',
      ],
      prefix: ['the proof is cut to its first half'],
    },
  },
};

for (const [name, planted] of Object.entries(plantedHoles))
  describe(`the adversary against a server with one hole in ${name}`, () => {
    test('finds nothing without the hole', async (context) => {
      assert.deepEqual(await accepted(await start(context, planted), planted), []);
    });
    for (const [at, [hole, names]] of Object.entries(planted.holes).entries())
      test(`finds the hole "${hole}" and nothing else`, async (context) => {
        const server = await start(context, planted, hole);
        assert.deepEqual(await accepted(server, planted, (attempts) => sample(attempts, names, at)), names);
      });
  });

describe('a double', () => {
  const requests: Readonly<Record<string, (issued: Issued) => Signer>> = {
    hmac: () => createSigner({ user, secret, signBody: true }),
    basic: () => createSigner({ scheme: 'basic', user, password }),
    bearer: ({ accessToken }) => createSigner({ scheme: 'bearer', token: accessToken }),
    oauth1: ({ oauth1 }) =>
      createSigner({
        scheme: 'oauth1',
        client: consumer.key,
        secret: consumer.secret,
        token: oauth1.token,
        tokenSecret: oauth1.tokenSecret,
      }),
  };

  interface Issued {
    readonly accessToken: string;
    readonly oauth1: { readonly token: string; readonly tokenSecret: string };
  }

  for (const [scheme, signerOf] of Object.entries(requests)) {
    test(`has none of the holes with ${scheme}`, async () => {
      await using double = await startDouble({
        now: clock.now(),
        tls: 'required',
        randomSeed: 1,
        maxAuthFailures: 0,
        strictQuery: false,
        users: { johndoe: { secret, password } },
        clients: { app: { secret: 'a secret of app', scopes: ['read', 'write'] } },
        consumers: { partner: { secret: consumer.secret, scopes: ['read', 'write'] } },
      });
      const { accessToken } = await double.oauth2.issueToken({ user: 'johndoe', scope: 'read write' });
      const oauth1 = await double.oauth1.issueToken({ user: 'johndoe', scope: 'read write' });
      const article = { title: 'Ink', price: { value: '2.50', currency: 'EUR' } };
      const plain = put(double.secureUrl, JSON.stringify(article));
      const request = { ...plain, url: `${plain.url}?a=1&b=2` };
      const signer = signerOf({ accessToken, oauth1 });
      const report = await attack(double, createAttempts(request, signer, { clock: double.clock }));
      assert.ok(report.passed, String(report));
      assert.equal(report.skipped.length, 0, String(report));
      const names = report.results.map(({ name }) => name);
      for (const name of Object.values(plantedHoles[scheme]?.holes ?? {}).flat())
        assert.ok(names.includes(name), name);
    });
  }
});
