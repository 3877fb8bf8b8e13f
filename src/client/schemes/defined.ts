import { signByDefinition } from '../../auth/defined/sign.ts';
import {
  hostOf,
  randomText,
  requiredId,
  requiredSecret,
  type SchemeCredentials,
  type SchemeSigner,
  type SigningChoices,
  type SigningScheme,
} from './scheme-signer.ts';

/** Creates a signer for a scheme in code. */
export function createDefinedSigner(
  { name, options }: Extract<SigningScheme, { kind: 'defined' }>,
  credentials: SchemeCredentials,
  { nonce }: SigningChoices,
): SchemeSigner {
  const user = requiredId(credentials, name);
  const { privateKey, algorithm } = credentials;
  if (privateKey !== undefined && options.kinds.every((kind) => kind === 'secret'))
    throw new RangeError(`the scheme ${name} has signatures by secrets only, not by private keys`);
  if (privateKey === undefined && !options.kinds.includes('secret'))
    throw new RangeError(`the scheme ${name} requires a private key`);
  const key = privateKey ?? requiredSecret(credentials, name);
  return (request, moment) => {
    const { method, target, fields, content, url } = request;
    const unsigned = {
      method,
      target,
      fields,
      content,
      host: hostOf(request),
      secure: url.protocol === 'https:',
    };
    const identity = { user, key, algorithm, now: moment.now, nonce: nonce ?? randomText(moment) };
    return signByDefinition(unsigned, options, identity);
  };
}
