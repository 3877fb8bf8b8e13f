import { signDeclared } from '../../signature/declared/sign.ts';
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
} from './scheme-signer.ts';

/** Creates a signer for a declared scheme. */
export function createDeclaredSigner(
  { name, options }: Extract<SigningScheme, { kind: 'declared' }>,
  credentials: SchemeCredentials,
  choices: SigningChoices,
): SchemeSigner {
  const user = userOf(options.user, credentials, name);
  const { privateKey } = credentials;
  if (privateKey !== undefined && options.format.asymmetric === undefined)
    throw new RangeError(`the scheme ${name} has signatures by secrets only, not by private keys`);
  if (privateKey !== undefined && privateKey.asymmetricKeyType !== 'ed25519')
    throw new RangeError(`the scheme ${name} requires an Ed25519 key`);
  const keys =
    privateKey === undefined
      ? { secrets: [requiredSecret(credentials, name)] }
      : { secrets: credentials.secret === undefined ? [] : [credentials.secret], privateKey };
  const hasId = covers(options.message, 'id');
  return (request, moment) => {
    const { method, url, target, fields, content } = request;
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
    return { fields: signed.fields, target: signed.target, parts };
  };
}

/** Returns the user to sign as. Throws RangeError if the scheme is used by another user only. */
function userOf(
  declared: { readonly field: string } | string,
  credentials: SchemeCredentials,
  name: string,
): string {
  if (typeof declared !== 'string') return requiredId(credentials, name);
  const given = credentials.user ?? declared;
  if (given === declared) return declared;
  throw new RangeError(`the scheme ${name} always signs as ${declared}, not as ${given}`);
}
