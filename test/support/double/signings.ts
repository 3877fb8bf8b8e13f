// Every kind of credentials, as the client, `double.as` and the adversary sign with them.
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Double } from '../../../src/double/index.ts';
import { presets } from '../../../src/schemes/declared/presets.ts';
import type { PresetName, SchemeDeclarations } from '../../../src/schemes/scheme-declarations.ts';
import { rsa } from '../keys.ts';
import { tally } from '../schemes/tally.ts';
import { keepSecret } from '../transcript.ts';

export const secret = '3f9c1a7b5d2e8046c1f09b3a7d5e2846ab10cd32ef54768998badcfe10325476';
export const base64 = Buffer.from(secret, 'hex').toString('base64');
export const [password, passphrase, sessionToken] = [
  'password of ann',
  'a passphrase of the key',
  'session-token-of-ann',
];
for (const each of [secret, base64, password, passphrase]) keepSecret(each);

const pairs = {
  ed25519: generateKeyPairSync('ed25519'),
  'ecdsa-p256-sha256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'ecdsa-p384-sha384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'rsa-pss-sha512': rsa,
  'rsa-v1_5-sha256': rsa,
} as const;
type Algorithm = keyof typeof pairs;

export const pem = (key: KeyObject, type: 'spki' | 'pkcs8'): string =>
  key.export({ type, format: 'pem' }).toString();
const publicKeys = Object.fromEntries(
  Object.entries(pairs).map(([algorithm, { publicKey }]) => [
    algorithm,
    // The compiler knows the names of an object as strings only.
    { algorithm: algorithm as Algorithm, publicKey: pem(publicKey, 'spki') },
  ]),
);

/** Credentials, as the client and as `double.as` sign with them. */
export interface Signing {
  /** The option `schemes` of the double: one scheme, or none for a built-in one. */
  readonly schemes?: SchemeDeclarations;
  /** The scheme of the accepted principal. Default: the name in `schemes`. */
  readonly accepted?: string;
  /** The options of the client. */
  readonly client: object | ((double: Double) => Promise<object>);
  /** The options of `double.as` beside the scheme; undefined if it has no such credentials. */
  readonly as?: object;
  /** Whether the user is known before the content and the secret are read, so that a fault can match it. Default: true. */
  readonly isNamed?: boolean;
  /** The secret of ann. Default: hexadecimal digits, which are also base64. */
  readonly secret?: string;
  readonly body?: string;
  readonly type?: string;
}

const form = 'application/x-www-form-urlencoded';
const keys = { keyed: { algorithm: 'hmac-sha256', secret: base64, passphrase } } as const;

function presetRow(preset: PresetName): Signing {
  const { declaration } = presets[preset] ?? assert.fail(preset);
  const named = declaration['user'] !== undefined;
  const special: Readonly<Partial<Record<PresetName, Partial<Signing>>>> = {
    'standard-webhooks': { secret: `whsec_${base64}` },
    svix: { secret: `whsec_${base64}` },
    twilio: { body: 'CallSid=CA1&From=%2B49', type: form },
    mailgun: { body: '{"signature":{}}', isNamed: false },
    adyen: {
      isNamed: false,
      body: '{"notificationItems":[{"NotificationRequestItem":{"pspReference":"1","success":"true"}}]}',
    },
  };
  const algorithm = { ed25519: 'ed25519', 'ecdsa-p256': 'ecdsa-p256-sha256' }[
    String(declaration['algorithm'])
  ];
  const own = special[preset]?.secret ?? secret;
  const key =
    algorithm === undefined
      ? named
        ? { secret: base64, ...(preset === 'coinbase' && { passphrase }) }
        : { secret: own }
      : { privateKey: pairs[algorithm as Algorithm].privateKey };
  const as = algorithm !== undefined ? { keyId: algorithm, ...key } : named ? { keyId: 'keyed' } : {};
  return {
    schemes: { own: named ? { preset } : { preset, user: 'ann' } },
    client: { scheme: { preset }, ...key, ...(named && { keyId: algorithm ?? 'keyed' }) },
    as,
    ...special[preset],
  };
}

/** A scheme in the declared language. */
function declaredRow(
  scheme: object,
  credentials: object = { user: 'ann', secret },
  more: Partial<Signing> = {},
): Signing {
  return {
    schemes: Object.fromEntries([['own', scheme]]),
    client: { scheme, ...credentials },
    as: {},
    ...more,
  };
}

const message = '{timestamp}.{method}.{target}.{body}';
const timed = { message, timestamp: { field: 'X-Time' }, signature: { field: 'X-Signature' } };
const messages = { type: 'message-signatures', tag: 'app' } as const;
const region = { region: 'eu-central-1', service: 'execute-api' } as const;
const s3 = { ...region, service: 's3' } as const;
const aws4 = { type: 'aws4', ...region, accessKeyId: 'ann', secret } as const;
export const consumer = { scheme: 'oauth1', client: 'partner', secret: 'secret of partner' } as const;

export const signings: Readonly<Record<string, Signing>> = {
  hmac: { accepted: 'hmac', client: { user: 'ann', secret }, as: {} },
  'hmac by its name, dated by X-Date': {
    accepted: 'hmac',
    client: { scheme: 'hmac', user: 'ann', secret, dateField: 'X-Date' },
    as: { scheme: 'hmac', dateField: 'X-Date' },
  },
  'hmac without the body': {
    accepted: 'hmac',
    client: { user: 'ann', secret, signBody: false },
    as: { signBody: false },
  },
  basic: { accepted: 'basic', client: { scheme: 'basic', user: 'ann', password }, as: { scheme: 'basic' } },
  bearer: {
    accepted: 'bearer',
    async client(double) {
      const { accessToken } = await double.oauth2.issueToken({ user: 'ann', scope: 'read write' });
      return { scheme: 'bearer', token: accessToken };
    },
    as: { scheme: 'bearer' },
  },
  oauth1: {
    accepted: 'oauth',
    async client(double) {
      const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'ann' });
      return { ...consumer, token, tokenSecret };
    },
    as: { scheme: 'oauth1' },
  },
  'oauth1 without a token': { accepted: 'oauth', client: consumer },
  'oauth1 with HMAC-SHA512 and a body hash': {
    accepted: 'oauth',
    client: { ...consumer, signatureMethod: 'HMAC-SHA512', bodyHash: true },
    as: { scheme: 'oauth1', signatureMethod: 'HMAC-SHA512', bodyHash: true },
  },
  'oauth1 with PLAINTEXT': { accepted: 'oauth', client: { ...consumer, signatureMethod: 'PLAINTEXT' } },
  'oauth1 with an RSA key': {
    accepted: 'oauth',
    client: { scheme: 'oauth1', client: 'bank', privateKey: rsa.privateKey, bodyHash: true },
    as: { scheme: 'oauth1', client: 'bank', privateKey: rsa.privateKey },
  },
  'oauth1 with an RSA key and a token': {
    accepted: 'oauth',
    async client(double) {
      const { token } = await double.oauth1.issueToken({ user: 'ann', client: 'bank' });
      const { privateKey } = rsa;
      return { scheme: 'oauth1', client: 'bank', privateKey, token, signatureMethod: 'RSA-SHA512' };
    },
  },
  'draft-cavage': {
    schemes: { 'draft-cavage': {} },
    client: { scheme: { type: 'draft-cavage' }, user: 'ann', secret },
    as: {},
  },
  aws4: { schemes: { aws4: region }, client: { scheme: aws4 }, as: {} },
  'aws4 with an access key and a session token': {
    schemes: { aws4: region },
    client: { scheme: { ...aws4, accessKeyId: 'keyed', secret: base64 } },
    as: { keyId: 'keyed', sessionToken },
  },
  'aws4, presigned': {
    schemes: { aws4: region },
    client: { scheme: { ...aws4, presign: 60 } },
    as: { presign: 60, sessionToken },
  },
  'aws4 without replays': {
    schemes: { aws4: { ...region, replay: 'refuse' } },
    client: { scheme: { ...aws4, replay: 'refuse' } },
    as: {},
  },
  'aws4 of S3': { schemes: { aws4: s3 }, client: { scheme: { ...aws4, ...s3 } }, as: {} },
  'aws4 of S3, presigned': {
    schemes: { aws4: { ...s3, unsignedPayload: true } },
    client: { scheme: { ...aws4, ...s3, unsignedPayload: true, presign: 3600 } },
    as: { presign: 3600 },
  },
  'draft-cavage without replays': {
    schemes: { 'draft-cavage': { replay: 'refuse' } },
    client: { scheme: { type: 'draft-cavage', replay: 'refuse' }, user: 'ann', secret },
    as: {},
  },
  'a scheme in code': { schemes: { tally }, client: { scheme: tally, user: 'ann', secret }, as: {} },
  'message-signatures with the secret': {
    schemes: { 'message-signatures': { tag: 'app', nonce: 'required' } },
    client: { scheme: { ...messages, nonce: 'required', key: { id: 'ann', secret } } },
    as: {},
  },
  'message-signatures of further components': {
    schemes: { 'message-signatures': { tag: 'app' } },
    client: {
      scheme: {
        ...messages,
        components: ['@method', '@target-uri', '@authority', '@path', '@query', 'content-type'],
        key: { id: 'ann', secret },
      },
    },
  },
  'message-signatures with a shared key': {
    schemes: { 'message-signatures': { tag: 'app' } },
    client: { scheme: { ...messages, key: { id: 'keyed', secret: base64 } } },
    as: { keyId: 'keyed' },
  },
  ...Object.fromEntries(
    Object.entries(pairs).map(([algorithm, { privateKey }]): [string, Signing] => [
      `message-signatures with ${algorithm}`,
      {
        schemes: { 'message-signatures': { tag: 'app' } },
        client: {
          scheme: {
            ...messages,
            key: { id: algorithm, privateKey: pem(privateKey, 'pkcs8'), algorithm },
          },
        },
        as: { keyId: algorithm, privateKey },
      },
    ]),
  ),
  ...Object.fromEntries(
    // The compiler knows the names of an object as strings only.
    Object.keys(presets).map((preset) => [`preset ${preset}`, presetRow(preset as PresetName)]),
  ),
  'stripe without replays': declaredRow(
    { preset: 'stripe', user: 'ann', replay: 'refuse' },
    { user: 'ann', secret },
  ),
  'standard-webhooks by Ed25519': {
    schemes: { own: { preset: 'standard-webhooks', user: 'ann' } },
    client: { scheme: { preset: 'standard-webhooks' }, privateKey: pairs.ed25519.privateKey },
    as: { privateKey: pairs.ed25519.privateKey },
  },
  'a user and a nonce in the format': declaredRow({
    message: '{timestamp}.{nonce}.{body}',
    timestamp: { field: 'X-Time' },
    signature: { field: 'X-Signature', format: 'u={user};n={nonce};s={signature}' },
  }),
  'the id of a key in Authorization': declaredRow(
    { ...timed, signature: { field: 'Authorization', format: 'Acme {key-id}:{signature}' } },
    { keyId: 'keyed', secret: base64 },
    { as: { keyId: 'keyed' } },
  ),
  'other fields, and a time in milliseconds': declaredRow({
    message: '{timestamp}.{nonce}.{method}.{target}.{field:Content-Type}.{body}',
    signature: { field: 'X-Signature', format: 'v1={signature}' },
    user: { field: 'X-Key' },
    timestamp: { field: 'X-Time', unit: 'ms' },
    nonce: { field: 'X-Nonce' },
  }),
  'a signature of the URL in the query': declaredRow({
    message: '{user}\n{timestamp}\n{url}\n{body-sha256}',
    hash: 'sha512',
    encoding: 'base64url',
    signature: { query: 'sig' },
    user: { field: 'X-User' },
    timestamp: { field: 'X-Time', unit: 'rfc3339' },
  }),
  'everything in the query': declaredRow({
    message: '{method}{target}{body}',
    signature: { query: 'sig' },
    user: { query: 'user' },
    timestamp: { query: 't', unit: 'fractional-s' },
    nonce: { query: 'n' },
  }),
  'everything in a form': declaredRow(
    {
      message: '{method}{target}{body}',
      signature: { form: 'sig' },
      user: { form: 'user' },
      timestamp: { form: 't' },
      nonce: { form: 'n' },
    },
    { user: 'ann', secret },
    { body: 'a=1', type: form, isNamed: false },
  ),
  'a plain digest': declaredRow({
    ...timed,
    message: '{secret}.{timestamp}.{body}',
    algorithm: 'digest',
    hash: 'md5',
    user: 'ann',
  }),
  ...Object.fromEntries(
    (
      [
        ['ed25519', 'ed25519'],
        ['ecdsa-p256', 'ecdsa-p256-sha256'],
        ['rsa-pss', 'rsa-pss-sha512'],
        ['rsa-v1_5', 'rsa-v1_5-sha256'],
      ] as const
    ).map(([algorithm, keyId]): [string, Signing] => {
      const { privateKey } = pairs[keyId];
      const scheme = { ...timed, algorithm, encoding: 'base64', user: { field: 'X-Key' } };
      return [
        `a declared scheme with ${algorithm}`,
        declaredRow(scheme, { keyId, privateKey }, { as: { keyId, privateKey } }),
      ];
    }),
  ),
  'a key in a field, with its user': declaredRow({ user: { field: 'X-Id' }, secret: { field: 'X-Key' } }),
  'a key in a field': declaredRow({ secret: { field: 'X-Key' } }, { secret }, { isNamed: false }),
  'a key in the query': declaredRow({ secret: { query: 'key' } }, { secret }, { isNamed: false }),
  'a key in a cookie': declaredRow({ secret: { cookie: 'key' } }, { secret }, { isNamed: false }),
  'a key in Authorization': declaredRow(
    { secret: { authorization: 'Bearer' } },
    { secret },
    { isNamed: false },
  ),
  'a static token': declaredRow({ secret: { authorization: 'Token' }, user: 'ann' }, { secret }),
};

/** Returns the user who signs, with all keys. */
export function userOf({ schemes = {}, secret: own = secret }: Signing) {
  const shared = 'aws4' in schemes ? ({ keyed: { algorithm: 'aws4', secret: base64 } } as const) : keys;
  return { secret: own, password, keys: { ...publicKeys, ...shared } };
}
