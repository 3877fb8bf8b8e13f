import { formatChallenge } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { formatAcceptSignature } from '../../signature/message-signatures/accept-signature.ts';
import { nameOf, parseIdentifier } from '../../signature/message-signatures/identifiers.ts';
import { parseSignatures } from '../../signature/message-signatures/signature-fields.ts';
import type { Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { MessageSignaturesOptions } from './options.ts';
import type { Verify } from './verify.ts';

/**
 * Creates the scheme for HTTP Message Signatures (RFC 9421): signatures in Signature-Input and Signature. Checks in this order:
 * grammar and requirements, key, signature, date, nonce. So only a client with the key learns about errors after the signature.
 * The verification is loaded with the first signed request.
 *
 * @param name The name of the scheme in the configuration, in challenges and principals.
 */
export function createMessageSignaturesScheme(
  name: string,
  options: MessageSignaturesOptions,
  context: SchemeContext,
): Scheme {
  let verify: Verify | undefined;
  const load = async (): Promise<Verify> => {
    const { createVerify } = await import('./verify.ts');
    verify ??= createVerify(name, options, context);
    return verify;
  };
  const { tag } = options;
  const components = options.components.map(parseIdentifier);
  const accepted = formatAcceptSignature(components, { created: true, tag });
  const signed = components.map(nameOf).filter((component) => !component.startsWith('@'));
  return {
    name,
    authorizationNames: [],
    locations: [{ field: 'signature-input' }, { field: 'signature' }],
    requestFields: [...signed, ...(options.signResponses === undefined ? [] : ['accept-signature'])],
    authenticate(request, _rest, authTrace, deferrable) {
      return verify === undefined
        ? load().then((loaded) => loaded(request, authTrace, deferrable))
        : verify(request, authTrace, deferrable);
    },
    claimedUser: (_rest, request) => claimedKeyId(request),
    challenge: () => formatChallenge(name, [['realm', context.realm]]),
    challengeFields: () => [['Accept-Signature', accepted]],
  };
}

/** Returns the id of the key that the first signature names; failures are counted for it. Undefined if it is malformed. */
export function claimedKeyId({ fields }: Pick<Request, 'fields'>): string | undefined {
  const signatures = parseSignatures(fields.get('signature-input'), fields.get('signature'));
  return typeof signatures === 'string' ? undefined : signatures[0]?.parameters.keyid;
}
