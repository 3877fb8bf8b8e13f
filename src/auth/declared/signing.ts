// How a client signs with a declared scheme.

import { createHash } from 'node:crypto';
import { findQueryValues } from '../../http/form.ts';
import { isFormType } from '../../http/headers/media-type.ts';
import { isKeyFor } from '../../signature/algorithms.ts';
import { hasPrivateKey, keyKinds } from '../../signature/declared/asymmetric.ts';
import { signDeclared } from '../../signature/declared/sign.ts';
import { covers } from '../../signature/declared/template.ts';
import {
  type ClientScheme,
  checkId,
  checkSecret,
  chooseId,
  findField,
  generateText,
  type SigningChoices,
  type SigningIdentity,
  type UnsignedRequest,
} from '../../signature/signing.ts';
import type { DeclaredOptions } from './options.ts';

/** Returns what a client can choose. */
export function listChoices({ nonce, message }: DeclaredOptions): readonly (keyof SigningChoices)[] {
  return [
    ...(nonce === undefined ? [] : (['nonce'] as const)),
    ...(covers(message, 'id') ? (['id'] as const) : []),
  ];
}

/** Creates the function that signs with a declared scheme. */
export function createSignFunction(declared: DeclaredOptions): ClientScheme['sign'] {
  return (request, identity, overrides) => {
    const declaration = { ...declared, ...overrides.declaration };
    const nonce = declaration.nonce === undefined ? undefined : (overrides.nonce ?? generateText(overrides));
    const hasId = covers(declaration.message, 'id');
    const id = hasId ? (overrides.id ?? `msg_${generateText(overrides)}`) : undefined;
    const unsigned = { ...request, target: addContentDigest(request, declaration.digestParameter) };
    const { secret, passphrase, privateKey } = identity;
    return signDeclared(unsigned, declaration, {
      user: typeof declaration.user === 'string' ? declaration.user : chooseId(identity),
      secrets: secret === undefined ? [] : [secret],
      now: overrides.now,
      passphrase,
      privateKey,
      nonce,
      id,
    });
  };
}

/** Throws RangeError unless an identity has what a declared scheme signs with. */
export function checkIdentity(name: string, options: DeclaredOptions, identity: SigningIdentity): void {
  const { user, algorithm, passphrase } = options;
  const { privateKey } = identity;
  if (typeof user !== 'string') checkId(identity, name);
  else if (identity.user !== undefined && identity.user !== user)
    throw new RangeError(`the scheme ${name} always signs as ${user}, not as ${identity.user}`);
  if (passphrase !== undefined && identity.passphrase === undefined)
    throw new RangeError(`the scheme ${name} requires a passphrase`);
  if (hasPrivateKey(algorithm)) {
    if (privateKey === undefined || !isKeyFor(keyKinds[algorithm], privateKey))
      throw new RangeError(`the scheme ${name} requires a private key of ${algorithm}`);
  } else if (privateKey === undefined) checkSecret(identity, name);
  else if (privateKey.asymmetricKeyType !== 'ed25519')
    throw new RangeError(`the scheme ${name} requires an Ed25519 key`);
}

/** Returns the target with the parameter for the SHA-256 of content other than a form, if the scheme has such a parameter. */
function addContentDigest({ target, fields, content }: UnsignedRequest, name: string | undefined): string {
  if (name === undefined || content === undefined || content.length === 0) return target;
  if (isFormType(findField(fields, 'content-type')) || findQueryValues(target, name).length > 0)
    return target;
  const digest = createHash('sha256').update(content).digest('hex');
  return `${target}${target.includes('?') ? '&' : '?'}${name}=${digest}`;
}
