import { algorithmOf } from '../../auth/parse-account-key.ts';
import type { MessageKey } from '../../signature/message-signatures/algorithms.ts';
import { type MessageSigning, signMessageWithBase } from '../../signature/message-signatures/sign.ts';
import { StructuredFieldError } from '../../signature/structured-fields/parse.ts';
import {
  randomText,
  requiredId,
  requiredSecret,
  type SchemeCredentials,
  type SchemeSigner,
  type SigningChoices,
  type SigningScheme,
} from './scheme-signer.ts';

type MessageSignatures = Extract<SigningScheme, { kind: 'message-signatures' }>;

/** Creates a signer for HTTP Message Signatures (RFC 9421). */
export function createMessageSignaturesSigner(
  { name, options }: MessageSignatures,
  credentials: SchemeCredentials,
  choices: SigningChoices,
): SchemeSigner {
  const key = keyOf(credentials, name);
  const { components = options.components, lifetime, alg, label } = choices;
  const fixed = {
    ...{ key, components, types: options.structuredFields },
    ...(options.tag !== undefined && { tag: options.tag }),
    ...(alg !== undefined && { alg }),
    ...(label !== undefined && { label }),
  };
  return (request, moment) => {
    const created = Math.floor(moment.now / 1000);
    const nonce = choices.nonce ?? (options.nonce === 'off' ? undefined : randomText(moment));
    const signing: MessageSigning = {
      ...fixed,
      created,
      ...(lifetime !== undefined && { expires: created + lifetime }),
      ...(nonce !== undefined && { nonce }),
    };
    const { method, url, target, fields, content } = request;
    const unsigned = { method, url, target, fields, ...(content !== undefined && { content }) };
    const { fields: signed, base } = withRangeErrors(() => signMessageWithBase(unsigned, signing));
    return { fields: Object.entries(signed), target, parts: base };
  };
}

function keyOf(credentials: SchemeCredentials, name: string): MessageKey {
  const id = requiredId(credentials, name);
  const { privateKey } = credentials;
  if (privateKey === undefined)
    return { id, algorithm: 'hmac-sha256', secret: requiredSecret(credentials, name) };
  const algorithm = credentials.algorithm ?? algorithmOf(privateKey);
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
