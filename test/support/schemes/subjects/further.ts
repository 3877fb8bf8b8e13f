// Subjects whose hints alone are of interest: in all else they are like one to which the contract applies.
import { constants, sign } from 'node:crypto';
import type { SchemeSubject } from '../../scheme-contract.ts';
import { aws4Signer } from '../aws4.ts';
import { draftCavageSigner } from '../draft-cavage.ts';
import { createPairs } from '../key-pairs.ts';
import { messageSignaturesSigner } from '../message-signatures.ts';
import { ofEcdsa, ofRsaPss } from '../own-mistakes.ts';
import { webhook } from '../webhooks.ts';
import { header } from './aws4.ts';
import { partner } from './declared.ts';
import { inAuthorization } from './draft-cavage.ts';
import { withKey } from './message-signatures.ts';
import { hmacSha1, signerFor } from './oauth1.ts';
import { stripe } from './webhooks.ts';

const rsa = createPairs('rsa');
const ecdsa = createPairs('ecdsa');

/** Returns the users ann and bob with a key of their own each. */
function keyed(
  algorithm: 'rsa-v1_5-sha256' | 'rsa-pss-sha512' | 'ecdsa-p256-sha256',
  { ann, bob }: ReturnType<typeof createPairs>,
): Pick<SchemeSubject, 'identities'> & Pick<SchemeSubject['options'], 'users'> {
  return {
    users: {
      ann: { keys: { 'ann-1': { algorithm, publicKey: ann.publicKey } } },
      bob: { keys: { 'bob-1': { algorithm, publicKey: bob.publicKey } } },
    },
    identities: { ann: { user: 'ann-1', secret: ann.secret }, bob: { user: 'bob-1', secret: bob.secret } },
  };
}

function withKeys(
  base: SchemeSubject,
  { users, identities }: ReturnType<typeof keyed>,
  signer: SchemeSubject['signer'],
): SchemeSubject {
  return { ...base, options: { ...base.options, users }, identities, signer };
}

const s3 = { region: 'eu-central-1', service: 's3' } as const;
const { rotate: _, ...signed } = withKey;
/** A secret in base64 with padding, in which letter case and escapes matter. */
const padded = 'c2VjcmV0IG9mIGFubiwgMzIgYnl0ZXMgbG9uZyEhISE=';
const consumer = { callbacks: ['oob'], scopes: ['read', 'write'] } as const;

/** The subjects, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'AWS Signature Version 4 for S3': {
    ...header,
    options: { ...header.options, schemes: { aws4: s3 } },
    signer: () => aws4Signer(s3),
  },
  'HTTP Message Signatures with ECDSA': {
    ...withKeys(signed, keyed('ecdsa-p256-sha256', ecdsa), () =>
      messageSignaturesSigner({
        nonce: true,
        sign: (message, key) => sign('sha256', message, { key, dsaEncoding: 'ieee-p1363' }),
      }),
    ),
    own: ofEcdsa,
  },
  'HTTP Message Signatures with RSASSA-PSS': {
    ...withKeys(signed, keyed('rsa-pss-sha512', rsa), () =>
      messageSignaturesSigner({
        nonce: true,
        sign: (message, key) =>
          sign('sha512', message, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 }),
      }),
    ),
    own: ofRsaPss,
  },
  'draft-cavage with RSA': withKeys(inAuthorization, keyed('rsa-v1_5-sha256', rsa), () =>
    draftCavageSigner('Authorization', {
      algorithm: 'rsa-sha256',
      sign: (message, key) => sign('sha256', message, key),
    }),
  ),
  'OAuth 1.0a, RSA-SHA1': {
    ...hmacSha1,
    options: {
      ...hmacSha1.options,
      consumers: {
        'key-a': { ...consumer, rsaPublicKey: rsa.ann.publicKey },
        'key-b': { ...consumer, rsaPublicKey: rsa.bob.publicKey },
      },
    },
    identities: {
      ann: { user: 'key-a', secret: rsa.ann.secret },
      bob: { user: 'key-b', secret: rsa.bob.secret },
    },
    signer: (double) => signerFor(double, 'RSA-SHA1', (message, key) => sign('sha1', message, key)),
  },
  'a declared scheme with a secret in base64': {
    ...partner,
    options: { ...partner.options, users: { ann: { secret: padded }, bob: partner.options.users.bob } },
    identities: { ...partner.identities, ann: { user: 'ann', secret: padded } },
  },
  'Stripe with the usual secret': {
    ...stripe,
    options: {
      ...stripe.options,
      users: { ann: { secret: `whsec_${padded}` }, bob: partner.options.users.bob },
    },
    identities: { ...stripe.identities, ann: { user: 'ann', secret: `whsec_${padded}` } },
  },
  Shopify: webhook('shopify', {
    message: ['content'],
    encoding: 'base64',
    signature: { field: 'X-Shopify-Hmac-Sha256' },
  }),
  Zoom: webhook(
    'zoom',
    {
      message: ['"v0:"', 'time', '":"', 'content'],
      signature: { field: 'x-zm-signature' },
      format: (signature) => `v0=${signature}`,
      timeField: 'x-zm-request-timestamp',
    },
    { field: 'x-zm-request-timestamp', changed: (text) => `${text.slice(0, -1)}1` },
  ),
};
