import { type SchemeSubject, secrets } from '../../scheme-contract.ts';
import { hmacSigner } from '../hmac.ts';
import { ofHmac, ofSimpleHmac } from '../own-mistakes.ts';
import { withField } from '../signer.ts';

const users = { ann: { secret: secrets.ann }, bob: { secret: secrets.bob } };
const general = [
  /the secret is different, or the message differs/,
  /^The user, the secret or the signed message is wrong\.$/,
  /^The date must be like [^|]*IMF-fixdate\.$/,
  /^the digest is not the canonical base64 of 32 bytes \(44 characters, the last one "="\)\.$/,
  /the digest is that of other content/,
];

export const full: SchemeSubject = {
  scheme: 'hmac',
  options: { users },
  signer: () => hmacSigner('full'),
  identities: { ann: { user: 'ann', secret: secrets.ann }, bob: { user: 'bob', secret: secrets.bob } },
  window: { late: 600, early: 600 },
  parts: {
    method: 'signed',
    path: 'signed',
    query: 'signed',
    host: { unsigned: 'the message contains the target as sent, without its host' },
    content: 'signed',
    time: (sent) => withField(sent, 'Date', (text) => text.replace(/\d\d$/, '01')),
    nonce: (sent) => withField(sent, 'Authentication', (text) => text.replace(':n-', ':m-')),
    user: (sent) => withField(sent, 'Authentication', (text) => text.replace('ann', 'bob')),
  },
  credentialFields: ['Authentication', 'Date'],
  second: ['Authorization', 'Bearer abc'],
  knowledge: {
    other: /secret of another user, bob/,
    former: /a former secret of ann, which was replaced/,
    expired: /signed with an expired secret/,
  },
  own: ofHmac,
  general,
  // The content is read in step 15, and the nonce is claimed in step 7.
  claimsBeforeContent: true,
};

const { own: _own, claimsBeforeContent: _claims, ...shared } = full;

const simple: SchemeSubject = {
  ...shared,
  options: { users, hmacSimple: 'all' },
  signer: () => hmacSigner('simple'),
  own: ofSimpleHmac,
  parts: {
    ...full.parts,
    time: { absent: 'the simple form has no date' },
    nonce: { absent: 'the simple form has no nonce' },
  },
  credentialFields: ['Authentication'],
  without: {
    replay: 'the simple form has neither a nonce nor a date',
    restart: 'the simple form has neither a nonce nor a date',
    window: 'the simple form has no date',
  },
};

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'hmac, full form': full,
  'hmac, simple form': simple,
};
