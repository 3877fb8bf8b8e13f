import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Signer } from '../../../attack/signer.ts';
import type { MessageKey } from '../../../attack/signers.ts';
import { checkSchemes } from '../../../auth/configured-schemes.ts';
import type { SchemeDeclarations } from '../../../auth/scheme-declarations.ts';
import { anything, flag, number, object, optional, type ReadBy, text, word } from '../../../shape/shape.ts';
import { invalid } from '../content.ts';
import { type ControlTarget, inMemory } from '../target.ts';

/** The signer of the adversary's requests. */
export const signer = object({
  scheme: word([
    ...(['hmac', 'basic', 'bearer', 'oauth1'] as const),
    ...(['message-signatures', 'aws4', 'draft-cavage', 'declared', 'api-key'] as const),
  ]),
  user: optional(text('for all schemes but bearer and oauth1; also the access key id of aws4')),
  secret: optional(text('the secret, the password (basic), or the consumer’s secret (oauth1)')),
  form: optional(word(['full', 'simple'], 'for hmac')),
  dateField: optional(word(['Date', 'X-Date'], 'for hmac')),
  signBody: optional(flag('for hmac: whether the content is signed')),
  consumer: optional(text('for oauth1')),
  token: optional(text('for bearer and oauth1')),
  tokenSecret: optional(text('for oauth1')),
  declaration: optional({
    ...anything,
    schema: {
      type: 'object',
      description: 'the scheme as in the configuration; required for aws4, declared and api-key',
    },
  }),
  keyId: optional(text('for message-signatures; default: the user')),
  algorithm: optional(
    word(
      ['ed25519', 'ecdsa-p256-sha256', 'ecdsa-p384-sha384', 'rsa-pss-sha512', 'rsa-v1_5-sha256'],
      'for message-signatures with a private key',
    ),
  ),
  privateKey: optional(text('for message-signatures: a key in PEM, instead of the secret')),
  presign: optional(number({ min: 1 }, 'for aws4: the lifetime of presigned URLs in seconds')),
});

type SignerOptions = ReadBy<typeof signer>;

/** Creates the signer. Throws a Problem if a member is missing or invalid. */
export async function signerOf(options: SignerOptions, target: ControlTarget): Promise<Signer> {
  switch (options.scheme) {
    case 'message-signatures':
    case 'aws4':
    case 'draft-cavage':
    case 'declared':
    case 'api-key':
      return configuredSigner(options, target);
    default:
      return builtInSigner(options, target);
  }
}

function required(options: SignerOptions, name: 'user' | 'consumer' | 'token' | 'tokenSecret'): string {
  return options[name] ?? missing(`signer.${name}`);
}

/** Returns the given secret, or that of a user of this server. */
function secretOf(options: SignerOptions, target: ControlTarget): string {
  if (options.secret !== undefined) return options.secret;
  inMemory(target);
  return target.auth.credentials(required(options, 'user')).secret;
}

async function builtInSigner(options: SignerOptions, target: ControlTarget): Promise<Signer> {
  const { basicSigner, bearerSigner, hmacSigner, oauth1Signer } = await import('../../../attack/signers.ts');
  if (options.scheme === 'bearer') return bearerSigner({ token: required(options, 'token') });
  if (options.scheme === 'oauth1') {
    const { secret = missing('signer.secret') } = options;
    return oauth1Signer({
      consumer: { key: required(options, 'consumer'), secret },
      token: { token: required(options, 'token'), tokenSecret: required(options, 'tokenSecret') },
    });
  }
  const user = required(options, 'user');
  if (options.scheme === 'basic') {
    const { secret } = options;
    if (secret === undefined) inMemory(target);
    const password = secret ?? target.auth.credentials(user).password ?? missing('signer.secret');
    return basicSigner({ user, password });
  }
  const { form, dateField, signBody } = options;
  return hmacSigner({
    user,
    secret: secretOf(options, target),
    ...(form !== undefined && { form }),
    ...(dateField !== undefined && { dateField }),
    ...(signBody !== undefined && { signBody }),
  });
}

async function configuredSigner(options: SignerOptions, target: ControlTarget): Promise<Signer> {
  const declared = declarationsOf(options);
  const user = required(options, 'user');
  if (declared['message-signatures'] !== undefined) {
    const { messageSignaturesSigner } = await import('../../../attack/signers.ts');
    return messageSignaturesSigner({ ...declared['message-signatures'], key: messageKey(options, target) });
  }
  const secret = secretOf(options, target);
  if (declared.aws4 !== undefined) {
    const { aws4Signer } = await import('../../../attack/signers.ts');
    const { presign } = options;
    const lifetime = presign === undefined ? {} : { presign };
    return aws4Signer({ ...declared.aws4, ...lifetime, accessKeyId: user, secret });
  }
  if (declared['draft-cavage'] !== undefined) {
    const { draftCavageSigner } = await import('../../../attack/signers.ts');
    return draftCavageSigner(declared['draft-cavage'], { user, secret });
  }
  const { declaration } = declared;
  if (declaration === undefined) throw invalid('signer.declaration', 'is missing');
  if ('message' in declaration || 'preset' in declaration) {
    const { declaredSigner } = await import('../../../attack/signers.ts');
    return declaredSigner(declaration, { user, secret });
  }
  if (!('secret' in declaration)) throw invalid('signer.declaration', 'is of another scheme');
  const { apiKeySigner } = await import('../../../attack/signers.ts');
  return apiKeySigner(declaration, { user, secret });
}

/** Returns the declaration under the name of its scheme; a declared scheme and an API key have the name `declaration`. */
function declarationsOf({ scheme, declaration }: SignerOptions): SchemeDeclarations {
  const isOptional = scheme === 'message-signatures' || scheme === 'draft-cavage';
  const isNamed = isOptional || scheme === 'aws4';
  const value = declaration ?? (isOptional ? {} : missing('signer.declaration'));
  const declared: unknown = { [isNamed ? scheme : 'declaration']: value };
  try {
    checkSchemes(declared, 'signer');
    return declared;
  } catch (error) {
    if (error instanceof RangeError) throw invalid('signer.declaration', `is invalid: ${error.message}`);
    throw error;
  }
}

function messageKey(options: SignerOptions, target: ControlTarget): MessageKey {
  const { keyId: id = required(options, 'user'), privateKey, algorithm } = options;
  if (privateKey === undefined) return { id, algorithm: 'hmac-sha256', secret: secretOf(options, target) };
  if (algorithm === undefined) throw invalid('signer.algorithm', 'is missing');
  return { id, algorithm, privateKey: parsedKey(privateKey) };
}

function parsedKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw invalid('signer.privateKey', 'is not a private key in PEM');
  }
}

function missing(field: string): never {
  throw invalid(field, 'is missing');
}
