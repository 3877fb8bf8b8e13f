import type { IncomingRequest } from '../../http/message.ts';
import { type AuthScheme, headerPlace, problemsOfDates } from '../auth-scheme.ts';
import { checkId, checkSecret, generateText } from '../signing.ts';
import { formatAcceptSignature } from './accept-signature.ts';
import { parseIdentifier, readName } from './identifiers.ts';
import type { MessageSignaturesOptions } from './options.ts';
import { signMessage, toMessageKey } from './sign.ts';
import { parseSignatures } from './signature-fields.ts';

/** The name of the scheme for people. */
export const messageSignaturesLabel = 'HTTP Message Signatures (RFC 9421)';

/** Creates the scheme HTTP Message Signatures (RFC 9421): signatures in Signature-Input and Signature. */
export function createMessageSignaturesScheme(
  name: string,
  options: MessageSignaturesOptions,
): AuthScheme<'message-signatures', MessageSignaturesOptions> {
  const { components, nonce, tag } = options;
  const window = options.window * 1000;
  const tagged = tag === undefined ? '' : `, with the tag ${JSON.stringify(tag)}`;
  const about = `${messageSignaturesLabel}: the signature covers at least ${components.join(', ')}${tagged}`;
  const covered = components.map(parseIdentifier);
  const signed = covered.map(readName).filter((component) => !component.startsWith('@'));
  const acceptSignature = formatAcceptSignature(covered, { created: true, tag });
  return {
    kind: 'message-signatures',
    name,
    label: messageSignaturesLabel,
    options,
    messageOption: 'components',
    choices: [...(nonce === 'off' ? [] : (['nonce'] as const)), 'components', 'lifetime', 'alg', 'label'],
    privateKeys: 'usual',
    dateWindow: window,
    window: nonce === 'off' ? 0 : window,
    places: [
      headerPlace('', 'Signature', about),
      headerPlace('input', 'Signature-Input', 'The signed components and the parameters of the signature'),
    ],
    problems: [...problemsOfDates, 'signature-insufficient', 'digest-required'],
    requestHeaders: [...signed, ...(options.signResponses === undefined ? [] : ['accept-signature'])],
    challengeFields: () => [['Accept-Signature', acceptSignature]],
    signResponses: options.signResponses,
    check(identity) {
      checkId(identity, name);
      if (identity.privateKey === undefined) checkSecret(identity, name);
      else toMessageKey(identity);
    },
    sign: createSignFunction(options),
    traits: ({ lifetime }) => ({
      place: {
        in: { field: 'Signature' },
        otherFields: ['Signature-Input'],
        form: /^([^=]+=:)([^:]*)(:)$/,
        isPaddingOptional: true,
      },
      lifetime,
    }),
    claimedUser: (_rest, request) => claimedKeyId(request),
    async load(context) {
      const { createMessageSignature } = await import('./signature.ts');
      return createMessageSignature(name, options, context);
    },
  };
}

function createSignFunction(options: MessageSignaturesOptions): AuthScheme['sign'] {
  return (request, identity, overrides) => {
    const { components = options.components, covered, parameters, lifetime, alg, label } = overrides;
    const created = Math.floor(overrides.now / 1000);
    return signMessage(request, {
      key: overrides.key ?? toMessageKey(identity),
      components,
      covered,
      parameters,
      types: options.structuredFields,
      created,
      tag: options.tag,
      alg,
      label,
      expires: lifetime === undefined ? undefined : created + lifetime,
      nonce: overrides.nonce ?? (options.nonce === 'off' ? undefined : generateText(overrides)),
    });
  };
}

/** Returns the id of the key that the first signature names; failures are counted for it. Undefined if it is malformed. */
function claimedKeyId({ headers: fields }: Pick<IncomingRequest, 'headers'>): string | undefined {
  const signatures = parseSignatures(fields.get('signature-input'), fields.get('signature'));
  return typeof signatures === 'string' ? undefined : signatures[0]?.parameters.keyid;
}
