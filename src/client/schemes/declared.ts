import { createHash } from 'node:crypto';
import type { DeclaredOptions } from '../../auth/declared/options.ts';
import { findQueryValues } from '../../http/form.ts';
import { isFormType } from '../../http/headers/media-type.ts';
import { isKeyFor } from '../../signature/algorithms.ts';
import { hasPrivateKey, keyKinds, type PrivateKeyAlgorithm } from '../../signature/declared/asymmetric.ts';
import { signDeclared } from '../../signature/declared/sign.ts';
import { covers } from '../../signature/declared/template.ts';
import {
  checkId,
  checkSecret,
  chooseId,
  findField,
  generateText,
  readHost,
  type SchemeSigner,
  type SigningIdentity,
  type UnsignedRequest,
} from '../../signature/signing.ts';

/** Creates the signer of a declared scheme. */
export function createDeclaredSigner(name: string, declared: DeclaredOptions): SchemeSigner {
  return {
    check: (identity, { nonce }) => check(name, declared, identity, nonce),
    sign(request, identity, overrides) {
      const declaration = { ...declared, ...overrides.declaration };
      const { method, url, fields, content } = request;
      const nonce =
        declaration.nonce === undefined ? undefined : (overrides.nonce ?? generateText(overrides));
      const hasId = covers(declaration.message, 'id');
      const id = hasId ? (overrides.id ?? `msg_${generateText(overrides)}`) : undefined;
      const unsigned = {
        method,
        target: addContentDigest(request, declaration.digestParameter),
        fields,
        host: readHost(request),
        secure: url.protocol === 'https:',
        content,
      };
      const { secret, passphrase, privateKey } = identity;
      const signed = signDeclared(unsigned, declaration, {
        user: typeof declaration.user === 'string' ? declaration.user : chooseId(identity),
        secrets: secret === undefined ? [] : [secret],
        now: overrides.now,
        passphrase,
        privateKey,
        nonce,
        id,
      });
      const parts = signed.parts.map((part) => ({ name: part.name, value: part.piece }));
      const changed = signed.content === content ? {} : { content: signed.content };
      return { fields: signed.fields, target: signed.target, parts, ...changed };
    },
  };
}

function check(
  name: string,
  { user, algorithm, format, nonce: declaredNonce, passphrase }: DeclaredOptions,
  identity: SigningIdentity,
  nonce: string | undefined,
): void {
  if (nonce !== undefined && declaredNonce === undefined)
    throw new RangeError(`the scheme ${name} has no nonce`);
  if (typeof user !== 'string') checkId(identity, name);
  else if (identity.user !== undefined && identity.user !== user)
    throw new RangeError(`the scheme ${name} always signs as ${user}, not as ${identity.user}`);
  const { privateKey } = identity;
  if (passphrase !== undefined && identity.passphrase === undefined)
    throw new RangeError(`the scheme ${name} requires a passphrase`);
  if (hasPrivateKey(algorithm)) checkPrivateKey(name, algorithm, privateKey);
  else if (privateKey === undefined) checkSecret(identity, name);
  else if (format.asymmetric === undefined)
    throw new RangeError(`the scheme ${name} has signatures by secrets only, not by private keys`);
  else if (privateKey.asymmetricKeyType !== 'ed25519')
    throw new RangeError(`the scheme ${name} requires an Ed25519 key`);
}

function checkPrivateKey(
  name: string,
  algorithm: PrivateKeyAlgorithm,
  privateKey: SigningIdentity['privateKey'],
): void {
  if (privateKey === undefined || !isKeyFor(keyKinds[algorithm], privateKey))
    throw new RangeError(`the scheme ${name} requires a private key of ${algorithm}`);
}

/** Returns the target with the parameter for the SHA-256 of content other than a form, if the scheme has such a parameter. */
function addContentDigest({ target, fields, content }: UnsignedRequest, name: string | undefined): string {
  if (name === undefined || content === undefined || content.length === 0) return target;
  if (isFormType(findField(fields, 'content-type')) || findQueryValues(target, name).length > 0)
    return target;
  const digest = createHash('sha256').update(content).digest('hex');
  return `${target}${target.includes('?') ? '&' : '?'}${name}=${digest}`;
}
