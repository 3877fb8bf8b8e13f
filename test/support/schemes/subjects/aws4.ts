import { identities, knowledge, type SchemeSubject, users } from '../../scheme-contract.ts';
import { aws4Signer } from '../aws4.ts';
import { ofAws4 } from '../own-mistakes.ts';
import { withField } from '../signer.ts';

const scope = { region: 'eu-central-1', service: 'execute-api' } as const;
const later = (text: string): string => text.replace(/0Z/, '1Z');

export const header: SchemeSubject = {
  scheme: 'aws4',
  options: { users, schemes: { aws4: { ...scope, replay: 'refuse' } } },
  signer: () => aws4Signer(scope),
  identities,
  window: { late: 900, early: 900 },
  parts: {
    time: (sent) => withField(sent, 'X-Amz-Date', later),
    nonce: { absent: 'the signature itself is accepted once' },
    user: (sent) => withField(sent, 'Authorization', (text) => text.replace('=ann/', '=bob/')),
  },
  credentialFields: ['Authorization', 'X-Amz-Date'],
  knowledge,
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
