import { generateKeyPairSync, sign } from 'node:crypto';
import { identities, knowledge, type SchemeSubject, start, users } from '../../scheme-contract.ts';
import { createPair, createPairs } from '../key-pairs.ts';
import { messageSignaturesSigner } from '../message-signatures.ts';
import { ofComponents, ofMessageSignatures } from '../own-mistakes.ts';
import { withField } from '../signer.ts';

const other = (text: string): string => text.replace(/created=(\d+)\d/, 'created=$11');

export const withSecret: SchemeSubject = {
  scheme: 'message-signatures',
  options: { users, schemes: { 'message-signatures': { nonce: 'required' } } },
  signer: () => messageSignaturesSigner({ nonce: true }),
  identities,
  window: { late: 300, early: 300 },
  parts: {
    time: (sent) => withField(sent, 'Signature-Input', other),
    nonce: (sent) => withField(sent, 'Signature-Input', (text) => text.replace('"n-', '"m-')),
    user: (sent) => withField(sent, 'Signature-Input', (text) => text.replace('"ann', '"bob')),
  },
  credentialFields: ['Signature', 'Signature-Input'],
  knowledge,
  general: [
    /the (?:secret|key) is different, or the message differs/,
    /^The key, the signature or the signed message is wrong\.$/,
    /bytes are not in canonical base64 between colons/,
    /Signature-Input is not a dictionary/,
  ],
  // Of parameters of one name, the last one counts (RFC 9651 §4.2.3.2).
  meaning: (text) => text.replace(/;([a-z]+)(?:=[^;,]*)?(?=[^,]*;\1=)/g, '').replace(/[\s\\]/g, ''),
};

const { ann, bob } = createPairs('ed25519');
const renewed = createPair(generateKeyPairSync('ed25519'));
const toKey = ({ publicKey }: { publicKey: string }) => ({ algorithm: 'ed25519', publicKey }) as const;

export const withKey: SchemeSubject = {
  ...withSecret,
  options: {
    users: { ann: { keys: { 'ann-1': toKey(ann) } }, bob: { keys: { 'bob-1': toKey(bob) } } },
    schemes: { 'message-signatures': { nonce: 'required' } },
  },
  signer: () => messageSignaturesSigner({ nonce: true, sign: (message, key) => sign(null, message, key) }),
  identities: {
    ann: { user: 'ann-1', secret: ann.secret },
    bob: { user: 'bob-1', secret: bob.secret },
  },
  knowledge: {
    other: /key of another user, bob: its id is bob-1/,
    former: 'none',
    expired: /signed with an expired key/,
  },
  rotate(double) {
    double.auth.addKey('ann', 'ann-1', { ...toKey(ann), until: start + 3_600_000 });
    double.auth.addKey('ann', 'ann-2', toKey(renewed));
    return { user: 'ann-2', secret: renewed.secret };
  },
};

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'HTTP Message Signatures with a secret': {
    ...withSecret,
    own: { ...ofMessageSignatures, ...ofComponents },
  },
  'HTTP Message Signatures with Ed25519': withKey,
};
