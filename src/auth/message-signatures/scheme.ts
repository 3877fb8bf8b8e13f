import { formatChallenge } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { formatAcceptSignature } from '../../signature/message-signatures/accept-signature.ts';
import { parseIdentifier, readName } from '../../signature/message-signatures/identifiers.ts';
import { parseSignatures } from '../../signature/message-signatures/signature-fields.ts';
import type { Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { MessageSignaturesOptions } from './options.ts';

/**
 * Creates the scheme for HTTP Message Signatures (RFC 9421): signatures in Signature-Input and Signature. Its verification
 * is loaded with the first signed request.
 *
 * @param name The name of the scheme in the configuration, in challenges and principals.
 */
export function createMessageSignaturesScheme(
  name: string,
  options: MessageSignaturesOptions,
  context: SchemeContext,
): Scheme {
  let verify: Scheme['authenticate'] | undefined;
  const load = async (): Promise<Scheme['authenticate']> => {
    const [{ createVerification }, { createMessageSignature }] = await Promise.all([
      import('../verify.ts'),
      import('./signature.ts'),
    ]);
    verify ??= createVerification(createMessageSignature(name, options, context), context);
    return verify;
  };
  const { tag } = options;
  const components = options.components.map(parseIdentifier);
  const accepted = formatAcceptSignature(components, { created: true, tag });
  const signed = components.map(readName).filter((component) => !component.startsWith('@'));
  return {
    name,
    authorizationNames: [],
    locations: [{ field: 'signature-input' }, { field: 'signature' }],
    requestHeaders: [...signed, ...(options.signResponses === undefined ? [] : ['accept-signature'])],
    authenticate: (request, rest, authTrace, deferrable) =>
      verify === undefined
        ? load().then((loaded) => loaded(request, rest, authTrace, deferrable))
        : verify(request, rest, authTrace, deferrable),
    claimedUser: (_rest, request) => claimedKeyId(request),
    challenge: () => formatChallenge(name, [['realm', context.realm]]),
    challengeFields: () => [['Accept-Signature', accepted]],
  };
}

/** Returns the id of the key that the first signature names; failures are counted for it. Undefined if it is malformed. */
function claimedKeyId({ headers: fields }: Pick<IncomingRequest, 'headers'>): string | undefined {
  const signatures = parseSignatures(fields.get('signature-input'), fields.get('signature'));
  return typeof signatures === 'string' ? undefined : signatures[0]?.parameters.keyid;
}
