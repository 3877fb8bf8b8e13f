import type { PresetName } from '../../../src/schemes/scheme-declarations.ts';
import type { SchemeSubject } from '../scheme-contract.ts';
import { identities, knowledge, users, usualWithContent } from '../scheme-contract.ts';
import { type DeclaredClient, declaredSigner } from './declared.ts';
import { withField } from './signer.ts';

const unsigned = { unsigned: 'a webhook signs its content, not its request line' };
const fixed = 'the scheme has one user, whom the request does not name';

/** The general explanation of a declared scheme. */
export const generalDeclared: readonly RegExp[] = [
  /the (?:secret|key) is different, or the message differs/,
  /^The user, the secret or the signed message is wrong\.$/,
  /^The timestamp is not a number of seconds since 1970\.$/,
  /^The signature is not the hexadecimal, in lower case, of 32 bytes\.$/,
];

/** A webhook of a provider, whose sender is ann. */
export function webhook(
  preset: PresetName,
  client: DeclaredClient & { readonly signature: { readonly field: string } },
  time?: { readonly field: string; readonly changed: (text: string) => string },
): SchemeSubject {
  const declaration = { preset, user: 'ann', ...(time === undefined ? {} : { replay: 'refuse' as const }) };
  const noTime = 'the provider signs no time';
  return {
    scheme: preset,
    options: { users, schemes: { [preset]: declaration } },
    signer: () => declaredSigner(client),
    identities,
    request: usualWithContent,
    ...(time === undefined ? {} : { window: { late: 300, early: 300 } }),
    parts: {
      method: unsigned,
      path: unsigned,
      query: unsigned,
      host: unsigned,
      time: time === undefined ? { absent: noTime } : (sent) => withField(sent, time.field, time.changed),
      nonce: { absent: 'the provider sends no nonce' },
      user: { absent: fixed },
    },
    credentialFields: [client.signature.field],
    without: {
      'unknown user': fixed,
      work: fixed,
      ...(preset === 'stripe'
        ? { 'sent twice': 'the field is a list, which several lines may contain' }
        : {}),
      ...(time === undefined ? { replay: noTime, restart: noTime, window: noTime } : {}),
    },
    ignoresParts: preset === 'stripe' || preset === 'standard-webhooks',
    general: generalDeclared,
    knowledge,
  };
}
