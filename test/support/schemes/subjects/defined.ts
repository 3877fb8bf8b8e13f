import { identities, knowledge, type SchemeSubject, users } from '../../scheme-contract.ts';
import { declaredSigner } from '../declared.ts';
import { withField } from '../signer.ts';
import { tally } from '../tally.ts';
import { generalDeclared } from '../webhooks.ts';

const otherTime = (text: string): string => (Number.parseInt(text, 36) + 1).toString(36);

/** A scheme in code, which signs every part by itself, with a nonce. */
const inCode: SchemeSubject = {
  scheme: 'tally',
  options: { users, schemes: { tally } },
  signer: () =>
    declaredSigner({
      message: [
        '"v1:"',
        'time',
        '"\n"',
        'nonce',
        '"\n"',
        'user',
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
      signature: { field: 'X-Tally' },
      format: (signature) => `1:${signature}`,
      userField: 'X-Tally-User',
      timeField: 'X-Tally-Time',
      formatTime: (ms) => Math.floor(ms / 1000).toString(36),
      nonceField: 'X-Tally-Nonce',
    }),
  identities,
  window: { late: 300, early: 300 },
  // Without padding, one base64 in four has no character that base64url lacks.
  general: [...generalDeclared, /32 bytes: it is base64url\.$/, /^The date cannot be read\.$/],
  knowledge,
  parts: {
    time: (sent) => withField(sent, 'X-Tally-Time', otherTime),
    nonce: (sent) => withField(sent, 'X-Tally-Nonce', (text) => `${text}x`),
    user: (sent) => withField(sent, 'X-Tally-User', () => 'bob'),
  },
  credentialFields: ['X-Tally', 'X-Tally-Time', 'X-Tally-Nonce', 'X-Tally-User'],
};

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'a scheme in code': inCode,
};
