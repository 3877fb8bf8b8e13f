// The signers of the configured schemes, and what a server must know to verify them.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createSigner, type Signer } from '../../src/attack/index.ts';
import type { HmacDeclaration, SchemeDeclarations } from '../../src/schemes/scheme-declarations.ts';
import { tally } from '../support/schemes/tally.ts';

/** The user whose requests are signed; `jane` is another one. */
export const user = 'johndoe';
export const secret = 'A secret of johndoe';
/** A secret in base64, as Standard Webhooks requires. */
export const webhookSecret = `whsec_${createHash('sha256').update(secret).digest('base64')}`;

/** A key of each algorithm that has a public one. Its id is the name of the algorithm. */
export const keyPairs = [
  { algorithm: 'ed25519', ...generateKeyPairSync('ed25519') },
  { algorithm: 'ecdsa-p256-sha256', ...generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) },
  { algorithm: 'ecdsa-p384-sha384', ...generateKeyPairSync('ec', { namedCurve: 'secp384r1' }) },
  { algorithm: 'rsa-pss-sha512', ...generateKeyPairSync('rsa', { modulusLength: 2048 }) },
  { algorithm: 'rsa-v1_5-sha256', ...generateKeyPairSync('rsa', { modulusLength: 2048 }) },
] as const;

/** The public keys, as a user of the server has them. */
export const publicKeys = Object.fromEntries(
  keyPairs.map(({ algorithm, publicKey }) => [
    algorithm,
    { algorithm, publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() },
  ]),
);

/** A declared scheme with all parts. */
export const partner: HmacDeclaration = {
  message: '{user}.{timestamp}.{nonce}.{method}.{target}.{body-sha256}',
  encoding: 'base64',
  signature: { field: 'X-Signature', format: 'v1={signature}' },
  user: { field: 'X-Api-Key' },
  timestamp: { field: 'X-Timestamp' },
  nonce: { field: 'X-Nonce' },
};

const inQuery: HmacDeclaration = {
  ...partner,
  signature: { query: 'signature' },
};

const aws4 = { region: 'eu-central-1', service: 'execute-api' };
const s3 = { region: 'eu-central-1', service: 's3' };
const s3Unsigned = { ...s3, unsignedPayload: true };
const apiKey = { user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } };
const stripeOnce = { preset: 'stripe', user, replay: 'refuse' } as const;

/** A signer with the configuration of the server. */
export interface Case {
  readonly schemes: SchemeDeclarations;
  readonly signer: Signer;
  /** Seconds. */
  readonly window: number;
  /** The secret of the user. Default: `secret`. */
  readonly secret?: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Cases of one group differ in the algorithm alone: the short form shares the attempts among them. */
  readonly group?: string;
}

const signed = { user, secret };
const hmacKey = { id: user, algorithm: 'hmac-sha256', secret } as const;
const form = { contentType: 'application/x-www-form-urlencoded', body: 'title=Ink+and+Tea&pages=12' };

/** The configurations that are attacked, by name. */
export const cases: Readonly<Record<string, Case>> = {
  'message signatures, HMAC': {
    schemes: { 'message-signatures': { tag: 'app' } },
    signer: createSigner({ scheme: { type: 'message-signatures', key: hmacKey, tag: 'app' } }),
    window: 300,
  },
  'message signatures with a required nonce': {
    schemes: { 'message-signatures': { nonce: 'required' } },
    signer: createSigner({
      scheme: { type: 'message-signatures', key: hmacKey, nonce: 'required', alg: true },
    }),
    window: 300,
  },
  ...Object.fromEntries(
    keyPairs.map(({ algorithm, privateKey }) => [
      `message signatures, ${algorithm}`,
      {
        schemes: { 'message-signatures': {} },
        signer: createSigner({
          scheme: { type: 'message-signatures', key: { id: algorithm, algorithm, privateKey } },
        }),
        window: 300,
        group: 'public keys',
      },
    ]),
  ),
  aws4: {
    schemes: { aws4 },
    signer: createSigner({ scheme: { type: 'aws4', ...aws4, accessKeyId: user, secret } }),
    window: 900,
  },
  'aws4, presigned': {
    schemes: { aws4 },
    signer: createSigner({ scheme: { type: 'aws4', ...aws4, accessKeyId: user, secret, presign: 60 } }),
    window: 900,
  },
  'aws4 of S3': {
    schemes: { aws4: s3 },
    signer: createSigner({ scheme: { type: 'aws4', ...s3, accessKeyId: user, secret } }),
    window: 900,
  },
  'aws4 of S3, presigned': {
    schemes: { aws4: s3Unsigned },
    signer: createSigner({
      scheme: { type: 'aws4', ...s3Unsigned, accessKeyId: user, secret, presign: 3600 },
    }),
    window: 900,
  },
  'aws4 without replays': {
    schemes: { aws4: { ...aws4, replay: 'refuse' } },
    signer: createSigner({ scheme: { type: 'aws4', ...aws4, accessKeyId: user, secret, replay: 'refuse' } }),
    window: 900,
  },
  'a declared scheme': {
    schemes: { partner },
    signer: createSigner({ scheme: partner, ...signed }),
    window: 300,
  },
  'a declared scheme in the query': {
    schemes: { partner: inQuery },
    signer: createSigner({ scheme: inQuery, ...signed }),
    window: 300,
  },
  'stripe without replays': {
    schemes: { hook: stripeOnce },
    signer: createSigner({ scheme: stripeOnce, ...signed }),
    window: 300,
  },
  ...Object.fromEntries(
    (['stripe', 'github', 'slack', 'shopify', 'zoom', 'twilio'] as const).map((preset) => [
      preset,
      {
        schemes: { hook: { preset, user } },
        signer: createSigner({ scheme: { preset, user }, ...signed }),
        window: 300,
      },
    ]),
  ),
  'twilio with a form': {
    schemes: { hook: { preset: 'twilio', user } },
    signer: createSigner({ scheme: { preset: 'twilio', user }, ...signed }),
    window: 300,
    ...form,
  },
  'standard-webhooks': {
    schemes: { hook: { preset: 'standard-webhooks', user } },
    signer: createSigner({ scheme: { preset: 'standard-webhooks', user }, user, secret: webhookSecret }),
    window: 300,
    secret: webhookSecret,
  },
  'an API key': {
    schemes: { key: apiKey },
    signer: createSigner({ scheme: apiKey, ...signed }),
    window: 300,
  },
  'draft-cavage without replays': {
    schemes: { 'draft-cavage': { replay: 'refuse' } },
    signer: createSigner({ scheme: { type: 'draft-cavage', replay: 'refuse' }, ...signed }),
    window: 300,
  },
  'a scheme in code': {
    schemes: { tally },
    signer: createSigner({ scheme: tally, ...signed }),
    window: 300,
  },
};
