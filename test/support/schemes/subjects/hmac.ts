import { identities, knowledge, type SchemeSubject, users } from '../../scheme-contract.ts';
import { hmacSigner } from '../hmac.ts';
import { ofHmac, ofSimpleHmac } from '../own-mistakes.ts';
import { withField } from '../signer.ts';

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
  identities,
  window: { late: 600, early: 600 },
  parts: {
    host: { unsigned: 'the message contains the target as sent, without its host' },
    time: (sent) => withField(sent, 'Date', (text) => text.replace(/\d\d$/, '01')),
    nonce: (sent) => withField(sent, 'Authentication', (text) => text.replace(':n-', ':m-')),
    user: (sent) => withField(sent, 'Authentication', (text) => text.replace('ann', 'bob')),
  },
  credentialFields: ['Authentication', 'Date'],
  second: ['Authorization', 'Bearer abc'],
  knowledge,
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
