import { type SchemeSubject, secrets } from '../../scheme-contract.ts';
import { aws4Signer } from '../aws4.ts';
import { ofAws4 } from '../own-mistakes.ts';
import { withField } from '../signer.ts';

const users = { ann: { secret: secrets.ann }, bob: { secret: secrets.bob } };
const scope = { region: 'eu-central-1', service: 'execute-api' } as const;
const later = (text: string): string => text.replace(/0Z/, '1Z');

export const header: SchemeSubject = {
  scheme: 'aws4',
  options: { users, schemes: { aws4: { ...scope, replay: 'refuse' } } },
  signer: () => aws4Signer(scope),
  identities: { ann: { user: 'ann', secret: secrets.ann }, bob: { user: 'bob', secret: secrets.bob } },
  window: { late: 900, early: 900 },
  parts: {
    method: 'signed',
    path: 'signed',
    query: 'signed',
    host: 'signed',
    content: 'signed',
    time: (sent) => withField(sent, 'X-Amz-Date', later),
    nonce: { absent: 'the signature itself is accepted once' },
    user: (sent) => withField(sent, 'Authorization', (text) => text.replace('=ann/', '=bob/')),
  },
  credentialFields: ['Authorization', 'X-Amz-Date'],
  knowledge: {
    other: /secret of another user, bob/,
    former: /a former secret of ann, which was replaced/,
    expired: /expired/,
  },
  general: [
    /the secret is different, or the message differs/,
    /^The access key, the secret or the signed request is wrong\.$/,
    /^X-Amz-Date must be a time in UTC/,
    /^The signature is not 64 hexadecimal digits in lower case\.$/,
    /^X-Amz-Content-Sha256 must be 64 hexadecimal/,
    /other content was hashed than was sent/,
  ],
};

const presigned: SchemeSubject = {
  ...header,
  signer: () => aws4Signer({ ...scope, presign: 120 }),
  window: { late: 120, early: 900 },
  parts: {
    ...header.parts,
    time: (sent) => ({ ...sent, target: later(sent.target) }),
    user: (sent) => ({ ...sent, target: sent.target.replace('=ann%2F', '=bob%2F') }),
  },
  credentialFields: [],
};

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'AWS Signature Version 4': { ...header, own: ofAws4 },
  'AWS Signature Version 4, presigned': presigned,
};
