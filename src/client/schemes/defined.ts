import type { SealedDefinition } from '../../auth/defined/sealed.ts';
import { signByDefinition } from '../../auth/defined/sign.ts';
import {
  checkId,
  checkSecret,
  chooseId,
  generateText,
  readHost,
  type SchemeSigner,
} from '../../signature/signing.ts';

/** Creates the signer of a scheme in code. */
export function createDefinedSigner(name: string, definition: SealedDefinition): SchemeSigner {
  const { kinds } = definition;
  return {
    check(identity) {
      checkId(identity, name);
      const { privateKey } = identity;
      if (privateKey !== undefined && kinds.every((kind) => kind === 'secret'))
        throw new RangeError(`the scheme ${name} has signatures by secrets only, not by private keys`);
      if (privateKey === undefined && !kinds.includes('secret'))
        throw new RangeError(`the scheme ${name} requires a private key`);
      if (privateKey === undefined) checkSecret(identity, name);
    },
    sign(request, identity, options) {
      const { method, target, fields, content, url } = request;
      const { privateKey, secret = '', algorithm } = identity;
      const { now, nonce = generateText(options) } = options;
      return signByDefinition(
        { method, target, fields, content, host: readHost(request), secure: url.protocol === 'https:' },
        definition,
        { user: chooseId(identity), key: privateKey ?? secret, algorithm, now, nonce },
      );
    },
  };
}
