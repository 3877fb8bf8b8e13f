import { generateKeyPairSync } from 'node:crypto';
import { type SchemeSubject, schemeContract, secrets, start } from '../support/scheme-contract.ts';
import { knownMistakes } from '../support/schemes/known/message-signatures.ts';
import { ofMessageSignatures } from '../support/schemes/known/own.ts';
import { messageSignaturesSigner } from '../support/schemes/message-signatures.ts';
import { withField } from '../support/schemes/signer.ts';

const users = { ann: { secret: secrets.ann }, bob: { secret: secrets.bob } };
const other = (text: string): string => text.replace(/created=(\d+)\d/, 'created=$11');

export const withSecret: SchemeSubject = {
  scheme: 'message-signatures',
  options: { users, schemes: { 'message-signatures': { nonce: 'required' } } },
  signer: () => messageSignaturesSigner({ nonce: true }),
  identities: { ann: { user: 'ann', secret: secrets.ann }, bob: { user: 'bob', secret: secrets.bob } },
  window: { late: 300, early: 300 },
  parts: {
    method: 'signed',
    path: 'signed',
    query: 'signed',
    host: 'signed',
    content: 'signed',
    time: (sent) => withField(sent, 'Signature-Input', other),
    nonce: (sent) => withField(sent, 'Signature-Input', (text) => text.replace('"n-', '"m-')),
    user: (sent) => withField(sent, 'Signature-Input', (text) => text.replace('"ann', '"bob')),
  },
  credentialFields: ['Signature', 'Signature-Input'],
  knowledge: {
    other: /secret of another user, bob/,
    former: /a former secret of ann, which was replaced/,
    expired: /signed with an expired secret/,
  },
  general: [
    /the (?:secret|key) is different, or the message differs/,
    /^The key, the signature or the signed message is wrong\.$/,
    /bytes are not in canonical base64 between colons/,
    /Signature-Input is not a dictionary/,
  ],
  // Of parameters of one name, the last one counts (RFC 9651 §4.2.3.2).
  meaning: (text) => text.replace(/;([a-z]+)(?:=[^;,]*)?(?=[^,]*;\1=)/g, '').replace(/[\s\\]/g, ''),
};

function generated() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey, privateKey };
}

const [ann, bob, renewed] = [generated(), generated(), generated()];
const toKey = ({ publicKey }: { publicKey: string }) => ({ algorithm: 'ed25519', publicKey }) as const;

export const withKey: SchemeSubject = {
  ...withSecret,
  options: {
    users: { ann: { keys: { 'ann-1': toKey(ann) } }, bob: { keys: { 'bob-1': toKey(bob) } } },
    schemes: { 'message-signatures': { nonce: 'required' } },
  },
  signer: () => messageSignaturesSigner({ nonce: true, isAsymmetric: true }),
  identities: {
    ann: { user: 'ann-1', secret: ann.privateKey },
    bob: { user: 'bob-1', secret: bob.privateKey },
  },
  knowledge: { former: 'none', expired: /signed with an expired key/ },
  rotate(double) {
    double.auth.addKey('ann', 'ann-1', { ...toKey(ann), until: start + 3_600_000 });
    double.auth.addKey('ann', 'ann-2', toKey(renewed));
    return { user: 'ann-2', secret: renewed.privateKey };
  },
};

schemeContract('HTTP Message Signatures with a secret', {
  ...withSecret,
  mistakes: knownMistakes,
  own: ofMessageSignatures,
});
schemeContract('HTTP Message Signatures with Ed25519', withKey);
