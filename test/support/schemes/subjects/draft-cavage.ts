import { identities, knowledge, type SchemeSubject, users } from '../../scheme-contract.ts';
import { draftCavageSigner } from '../draft-cavage.ts';
import { type Mistake, withField } from '../signer.ts';
import { generalDeclared } from '../webhooks.ts';

const aSecondLater = (text: string): string => new Date(Date.parse(text) + 1000).toUTCString();

const lines = (build: (lines: readonly string[]) => string): Mistake => ({
  message: (_, parts) => build(parts),
});

/** The mistakes that only its clients make. */
function listOwn(field: 'Authorization' | 'Signature'): Readonly<Record<string, Mistake>> {
  const changed = (change: (text: string) => string): Mistake => ({
    sent: (sent) => withField(sent, field, change),
  });
  return {
    'the method was signed in upper case': {
      values: (values) => ({ ...values, method: values.method?.toUpperCase() }),
    },
    'a field that is not covered': changed((text) => text.replace('(request-target) ', '')),
    'the word Signature before the parameters': changed((text) => `Signature ${text}`),
    'single quotes': changed((text) => text.replaceAll('"', "'")),
    'no quotes': changed((text) => text.replaceAll('"', '')),
    'parameters separated by semicolons': changed((text) => text.replaceAll('",', '";')),
    'parameters separated by spaces': changed((text) => text.replaceAll('",', '" ')),
    'keyid for keyId': changed((text) => text.replace('keyId', 'keyid')),
    'names separated by commas': changed((text) => text.replace(/(?<=headers="[^"]*) /g, ',')),
    'names in upper case': changed((text) => text.replace('host date', 'Host Date')),
    'no space after the colon': lines((parts) => parts.join('\n').replaceAll(': ', ':')),
    'lines joined with spaces': lines((parts) => parts.join(' ')),
    'values alone': lines((parts) => parts.map((line) => line.replace(/^[^ ]+: /, '')).join('\n')),
    'names in capitals': lines((parts) => parts.join('\n').replace(/^[a-z]/gm, (one) => one.toUpperCase())),
    'a further field': {
      request: { lines: [['Content-Type', 'text/plain']] },
      message: (text) => `${text}\ncontent-type: text/plain`,
    },
    'a field that was not sent': { message: (text) => `${text}\ncontent-type: application/json` },
    'a field left out': lines((parts) => parts.slice(0, 2).join('\n')),
  };
}

/** Draft Cavage with its signature in either field. Each signature is accepted once. */
function subject(field: 'Authorization' | 'Signature'): SchemeSubject {
  return {
    scheme: 'draft-cavage',
    options: { users, schemes: { 'draft-cavage': { replay: 'refuse' } } },
    signer: () => draftCavageSigner(field),
    identities,
    window: { late: 300, early: 300 },
    parts: {
      time: (sent) => withField(sent, 'Date', aSecondLater),
      nonce: { absent: 'the message itself is accepted once' },
      user: (sent) => withField(sent, field, (text) => text.replace('keyId="ann"', 'keyId="bob"')),
    },
    credentialFields: [field, 'Date'],
    ...(field === 'Authorization' && { second: ['Authentication', `hmac ann:${'A'.repeat(43)}=`] }),
    general: generalDeclared,
    knowledge,
    ignoresParts: true,
    own: listOwn(field),
  };
}

export const inAuthorization = subject('Authorization');

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'draft-cavage in Authorization': inAuthorization,
  'draft-cavage in Signature': subject('Signature'),
};
