import { createHash } from 'node:crypto';
import type { DeclaredOptions } from '../../auth/declared/options.ts';
import { hasPrivateKey, keyTypes } from '../../signature/declared/asymmetric.ts';
import { takeParameter } from '../../signature/declared/message.ts';
import { type SigningParts, signDeclared } from '../../signature/declared/sign.ts';
import { covers } from '../../signature/declared/template.ts';
import {
  hostOf,
  randomText,
  requiredId,
  requiredSecret,
  type SchemeCredentials,
  type SchemeSigner,
  type SigningChoices,
  type SigningScheme,
  type UnsignedRequest,
} from './scheme-signer.ts';

/** Creates a signer for a declared scheme. */
export function createDeclaredSigner(
  { name, options }: Extract<SigningScheme, { kind: 'declared' }>,
  credentials: SchemeCredentials,
  choices: SigningChoices,
): SchemeSigner {
  const user = userOf(options.user, credentials, name);
  const keys = keysOf(options, credentials, name);
  const hasId = covers(options.message, 'id');
  return (request, moment) => {
    const { method, url, fields, content } = request;
    const target = withContentDigest(request, options.digestParameter);
    const nonce = options.nonce === undefined ? undefined : (choices.nonce ?? randomText(moment));
    const id = hasId ? (choices.id ?? `msg_${randomText(moment)}`) : undefined;
    const unsigned = {
      ...{ method, target, fields, host: hostOf(request), secure: url.protocol === 'https:' },
      ...(content !== undefined && { content }),
    };
    const signed = signDeclared(unsigned, options, {
      ...{ user, ...keys, now: moment.now },
      ...(nonce !== undefined && { nonce }),
      ...(id !== undefined && { id }),
    });
    const parts = signed.parts.map((part) => ({ name: part.name, value: part.piece }));
    const changed = signed.content === content ? {} : { content: signed.content };
    return { fields: signed.fields, target: signed.target, parts, ...changed };
  };
}

/** Returns the keys of a scheme. Throws RangeError if they are missing, or of another kind. */
function keysOf(
  options: DeclaredOptions,
  credentials: SchemeCredentials,
  name: string,
): Pick<SigningParts, 'secrets' | 'privateKey' | 'passphrase'> {
  const { secret, privateKey, passphrase } = credentials;
  const { algorithm } = options;
  if (hasPrivateKey(algorithm)) {
    const { type, curve } = keyTypes[algorithm];
    const isFitting =
      privateKey?.asymmetricKeyType === type &&
      (curve === undefined || privateKey.asymmetricKeyDetails?.namedCurve === curve);
    if (privateKey === undefined || !isFitting)
      throw new RangeError(`the scheme ${name} requires a private key of ${algorithm}`);
    return { secrets: [], privateKey };
  }
  if (privateKey !== undefined && options.format.asymmetric === undefined)
    throw new RangeError(`the scheme ${name} has signatures by secrets only, not by private keys`);
  if (privateKey !== undefined && privateKey.asymmetricKeyType !== 'ed25519')
    throw new RangeError(`the scheme ${name} requires an Ed25519 key`);
  if (privateKey !== undefined) return { secrets: secret === undefined ? [] : [secret], privateKey };
  const secrets = [requiredSecret(credentials, name)];
  if (options.passphrase === undefined) return { secrets };
  if (passphrase === undefined) throw new RangeError(`the scheme ${name} requires a passphrase`);
  return { secrets, passphrase };
}

/** Returns the target with the parameter for the SHA-256 of content other than a form, if the scheme has such a parameter. */
function withContentDigest({ target, fields, content }: UnsignedRequest, name: string | undefined): string {
  const type = fields.find(([field]) => field.toLowerCase() === 'content-type')?.[1] ?? '';
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type);
  if (name === undefined || content === undefined || content.length === 0 || isForm) return target;
  if (takeParameter(target, name).values.length > 0) return target;
  const digest = createHash('sha256').update(content).digest('hex');
  return `${target}${target.includes('?') ? '&' : '?'}${name}=${digest}`;
}

/** Returns the user to sign as. Throws RangeError if the scheme is used by another user only. */
function userOf(declared: object | string, credentials: SchemeCredentials, name: string): string {
  if (typeof declared !== 'string') return requiredId(credentials, name);
  const given = credentials.user ?? declared;
  if (given === declared) return declared;
  throw new RangeError(`the scheme ${name} always signs as ${declared}, not as ${given}`);
}
