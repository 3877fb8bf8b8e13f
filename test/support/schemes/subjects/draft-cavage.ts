import { type SchemeSubject, secrets } from '../../scheme-contract.ts';
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
      'the method was signed in upper case': {
        values: (values) => ({ ...values, method: values.method?.toUpperCase() }),
      },
      'a field that is not covered': {
        sent: (sent) => withField(sent, field, (text) => text.replace('(request-target) ', '')),
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
