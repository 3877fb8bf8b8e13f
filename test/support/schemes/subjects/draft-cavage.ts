import { type SchemeSubject, secrets } from '../../scheme-contract.ts';
import { catalogue } from '../catalogue.ts';
import { draftCavageSigner } from '../draft-cavage.ts';
import { withField } from '../signer.ts';
import { generalDeclared } from '../webhooks.ts';

const users = { ann: { secret: secrets.ann }, bob: { secret: secrets.bob } };
const aSecondLater = (text: string): string => new Date(Date.parse(text) + 1000).toUTCString();

/** Draft Cavage with its signature in either field. Each signature is accepted once. */
function subject(field: 'Authorization' | 'Signature'): SchemeSubject {
  return {
    scheme: 'draft-cavage',
    options: { users, schemes: { 'draft-cavage': { replay: 'refuse' } } },
    signer: () => draftCavageSigner(field),
    identities: { ann: { user: 'ann', secret: secrets.ann }, bob: { user: 'bob', secret: secrets.bob } },
    window: { late: 300, early: 300 },
    parts: {
      method: 'signed',
      path: 'signed',
      query: 'signed',
      host: 'signed',
      content: 'signed',
      time: (sent) => withField(sent, 'Date', aSecondLater),
      nonce: { absent: 'the message itself is accepted once' },
      user: (sent) => withField(sent, field, (text) => text.replace('keyId="ann"', 'keyId="bob"')),
    },
    credentialFields: [field, 'Date'],
    ...(field === 'Authorization' && { second: ['Authentication', `hmac ann:${'A'.repeat(43)}=`] }),
    general: generalDeclared,
    knowledge: {
      other: /secret of another user, bob/,
      former: /a former secret of ann, which was replaced/,
      expired: /expired secret/,
    },
    ignoresParts: true,
    own: {
      'the query was left out': { mistake: catalogue['query left out'], hint: /the query was left out/ },
      'the method was signed in upper case': {
        mistake: { values: (values) => ({ ...values, method: values.method?.toUpperCase() }) },
        hint: /the method was signed in upper case/,
      },
      'the host without its port': { mistake: catalogue['port left out'], hint: /signed without its port/ },
      'the date in seconds': {
        mistake: catalogue['ISO 8601 signed'],
        hint: /the date was signed in ISO 8601 format/,
      },
      'a line feed at the end': {
        mistake: catalogue['line feed at the end of the message'],
        hint: /a line feed was signed at the end/,
      },
      'another hash function': {
        mistake: catalogue['SHA-1 used'],
        hint: /SHA-1 was used instead of SHA-256/,
      },
      'the secret decoded': {
        mistake: catalogue['secret decoded from hexadecimal'],
        hint: /the secret was decoded from hexadecimal/,
      },
      'a field that is not covered': {
        mistake: {
          sent: (sent) => withField(sent, field, (text) => text.replace('(request-target) ', '')),
        },
        hint: /does not cover \(request-target\)/,
      },
    },
  };
}

export const inAuthorization = subject('Authorization');

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'draft-cavage in Authorization': inAuthorization,
  'draft-cavage in Signature': subject('Signature'),
};
