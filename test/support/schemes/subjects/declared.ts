import { identities, knowledge, type SchemeSubject, users } from '../../scheme-contract.ts';
import { declaredSigner } from '../declared.ts';
import { ofPartner } from '../own-mistakes.ts';
import { withField } from '../signer.ts';
import { generalDeclared } from '../webhooks.ts';

const other = (text: string): string => `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`;
const common = {
  options: { users },
  identities,
  window: { late: 300, early: 300 },
  general: generalDeclared,
  knowledge,
} as const;

/** Signs every part by itself, with a nonce. */
export const partner: SchemeSubject = {
  ...common,
  scheme: 'partner',
  options: {
    users,
    schemes: {
      partner: {
        message: 'v1:{timestamp}\n{nonce}\n{method}\n{path}\n{query}\n{host}\n{field:X-Meta}\n{body}',
        signature: { field: 'X-Signature' },
        user: { field: 'X-Api-Key' },
        timestamp: { field: 'X-Timestamp' },
        nonce: { field: 'X-Nonce' },
      },
    },
  },
  signer: () =>
    declaredSigner({
      message: [
        '"v1:"',
        'time',
        '"\n"',
        'nonce',
        '"\n"',
        'method',
        '"\n"',
        'path',
        '"\n"',
        'query',
        '"\n"',
        'host',
        '"\n"',
        'field',
        '"\n"',
        'content',
      ],
      signature: { field: 'X-Signature' },
      userField: 'X-Api-Key',
      timeField: 'X-Timestamp',
      nonceField: 'X-Nonce',
    }),
  parts: {
    time: (sent) => withField(sent, 'X-Timestamp', other),
    nonce: (sent) => withField(sent, 'X-Nonce', other),
    user: (sent) => withField(sent, 'X-Api-Key', () => 'bob'),
  },
  credentialFields: ['X-Signature', 'X-Timestamp', 'X-Nonce', 'X-Api-Key'],
};

/** Signs target and a hash of the content, in base64url, with the signature in the query. */
const links: SchemeSubject = {
  ...common,
  scheme: 'links',
  options: {
    users,
    schemes: {
      links: {
        message: '{user}.{timestamp}.{method}.{url}.{body-sha256}',
        hash: 'sha512',
        encoding: 'base64url',
        signature: { query: 'sig' },
        user: { field: 'X-Api-Key' },
        timestamp: { field: 'X-Timestamp', unit: 'ms', window: 300 },
        replay: 'refuse',
      },
    },
  },
  signer: () =>
    declaredSigner({
      message: ['user', '"."', 'time', '"."', 'method', '"."', 'url', '"."', 'digest'],
      hash: 'sha512',
      encoding: 'base64url',
      signature: { query: 'sig' },
      userField: 'X-Api-Key',
      timeField: 'X-Timestamp',
      formatTime: String,
    }),
  parts: {
    ...partner.parts,
    nonce: { absent: 'the message itself is accepted once' },
  },
  credentialFields: ['X-Timestamp', 'X-Api-Key'],
};

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'a declared scheme with a nonce': { ...partner, own: ofPartner },
  'a declared scheme with its signature in the query': links,
};
