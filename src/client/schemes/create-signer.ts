import { createApiKeySigner } from './api-key.ts';
import { createAws4Signer } from './aws4.ts';
import { createDeclaredSigner } from './declared.ts';
import { createDefinedSigner } from './defined.ts';
import { createMessageSignaturesSigner } from './message-signatures.ts';
import type {
  SchemeCredentials,
  SchemeKind,
  SchemeSigner,
  SigningChoices,
  SigningScheme,
} from './scheme-signer.ts';

/** The kinds of schemes that have each choice. The type checks that the list is complete. */
const kindsWith: Readonly<Record<keyof SigningChoices, readonly SchemeKind[]>> = {
  nonce: ['message-signatures', 'declared'],
  id: ['declared'],
  components: ['message-signatures'],
  lifetime: ['message-signatures'],
  alg: ['message-signatures'],
  label: ['message-signatures'],
  presign: ['aws4'],
  sessionToken: ['aws4'],
};

/** The kinds of schemes that use a private key. */
const asymmetricKinds: readonly SchemeKind[] = ['message-signatures', 'declared'];

/** What a kind of schemes is called in messages. */
const kindNames: Readonly<Record<SchemeKind, string>> = {
  'message-signatures': 'HTTP Message Signatures',
  aws4: 'AWS Signature Version 4',
  'api-key': 'an API key',
  declared: 'declared schemes',
  defined: 'schemes in code',
};

/**
 * Creates a signer for a scheme.
 * @throws RangeError if credentials are missing, or something is chosen that the scheme does not have
 */
export function createSchemeSigner(
  scheme: SigningScheme,
  credentials: SchemeCredentials,
  choices: SigningChoices = {},
): SchemeSigner {
  checkChoices(scheme, credentials, choices);
  switch (scheme.kind) {
    case 'message-signatures':
      return createMessageSignaturesSigner(scheme, credentials, choices);
    case 'aws4':
      return createAws4Signer(scheme, credentials, choices);
    case 'declared':
      return createDeclaredSigner(scheme, credentials, choices);
    case 'defined':
      return createDefinedSigner(scheme, credentials, choices);
    case 'api-key':
      return createApiKeySigner(scheme, credentials);
  }
}

function checkChoices(
  { kind, name, options }: SigningScheme,
  { privateKey }: SchemeCredentials,
  choices: SigningChoices,
): void {
  if (kind === 'defined') {
    checkChoicesOfDefined(name, choices);
    return;
  }
  for (const [choice, kinds] of Object.entries(kindsWith)) {
    if (Reflect.get(choices, choice) === undefined || kinds.includes(kind)) continue;
    throw new RangeError(notOf(choice, kinds, name));
  }
  if (privateKey !== undefined && !asymmetricKinds.includes(kind))
    throw new RangeError(notOf('privateKey', asymmetricKinds, name));
  if (kind === 'declared' && choices.nonce !== undefined && options.nonce === undefined)
    throw new RangeError(`the scheme ${name} has no nonce`);
}

function checkChoicesOfDefined(name: string, choices: SigningChoices): void {
  for (const [choice, kinds] of Object.entries(kindsWith))
    if (choice !== 'nonce' && Reflect.get(choices, choice) !== undefined)
      throw new RangeError(notOf(choice, kinds, name));
}

function notOf(option: string, kinds: readonly SchemeKind[], name: string): string {
  return `${option} is an option of ${kinds.map((kind) => kindNames[kind]).join(' and ')}, not of the scheme ${name}`;
}
