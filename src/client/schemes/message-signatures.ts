import type { MessageSignaturesOptions } from '../../auth/message-signatures/options.ts';
import { StructuredFieldError } from '../../http/structured-fields/parse.ts';
import { findAlgorithm } from '../../signature/algorithms.ts';
import type { MessageKey } from '../../signature/message-signatures/algorithms.ts';
import { type MessageSigning, signMessageWithBase } from '../../signature/message-signatures/sign.ts';
import {
  checkId,
  checkSecret,
  chooseId,
  generateText,
  type SchemeSigner,
  type SigningIdentity,
} from '../../signature/signing.ts';

/** Creates the signer of HTTP Message Signatures (RFC 9421). */
export function createMessageSignaturesSigner(name: string, options: MessageSignaturesOptions): SchemeSigner {
  return {
    check(identity) {
      checkId(identity, name);
      if (identity.privateKey === undefined) checkSecret(identity, name);
      else toMessageKey(identity);
    },
    sign(request, identity, overrides) {
      const { components = options.components, covered, parameters, lifetime, alg, label } = overrides;
      const created = Math.floor(overrides.now / 1000);
      const nonce = overrides.nonce ?? (options.nonce === 'off' ? undefined : generateText(overrides));
      const signing: MessageSigning = {
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
        nonce,
      };
      const { method, url, target, fields, content } = request;
      const unsigned = { method, url, target, fields, content };
      const { fields: signed, base } = withRangeErrors(() => signMessageWithBase(unsigned, signing));
      return { fields: Object.entries(signed), target, parts: base };
    },
  };
}

/** Returns the key of an identity. Throws RangeError if an RSA key has no algorithm. */
export function toMessageKey(identity: SigningIdentity): MessageKey {
  const id = chooseId(identity);
  const { privateKey, secret = '' } = identity;
  if (privateKey === undefined) return { id, algorithm: 'hmac-sha256', secret };
  const algorithm = identity.algorithm ?? findAlgorithm(privateKey);
  if (algorithm !== undefined) return { id, algorithm, privateKey };
  throw new RangeError(
    'the key requires an algorithm: rsa-pss-sha512 or rsa-v1_5-sha256 for an RSA key; others are not supported',
  );
}

/** Throws RangeError for a malformed component. */
function withRangeErrors<Value>(sign: () => Value): Value {
  try {
    return sign();
  } catch (error) {
    if (error instanceof StructuredFieldError) throw new RangeError(error.message);
    throw error;
  }
}
