// Schemes that sign nothing: each request has the same credentials.
import type { ApiKeyOptions } from '../../auth/api-key/options.ts';
import { checkId, checkSecret, idOf, type SchemeSigner } from '../../signature/signing.ts';

/** Returns the Authorization value of HTTP Basic (RFC 7617 §2), in UTF-8. */
export function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** The signer of HTTP Basic. The password is the secret. */
export const basicSigner: SchemeSigner = {
  check() {},
  sign: ({ target }, { user = '', secret = '' }) => ({
    fields: [['Authorization', basicHeader(user, secret)]],
    target,
    parts: [],
  }),
};

/** The signer of a bearer token (RFC 6750 §2.1), which is the secret. */
export const bearerSigner: SchemeSigner = {
  check() {},
  sign: ({ target }, { secret = '' }) => ({
    fields: [['Authorization', `Bearer ${secret}`]],
    target,
    parts: [],
  }),
};

/** Creates the signer of an API key, which adds the user and the secret to each request. */
export function createApiKeySigner(name: string, { user, secret }: ApiKeyOptions): SchemeSigner {
  const octets = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  return {
    check(identity) {
      checkId(identity, name);
      checkSecret(identity, name);
    },
    sign: ({ target }, identity) => ({
      fields: [
        [user.field, octets(idOf(identity))],
        [secret.field, octets(identity.secret ?? '')],
      ],
      target,
      parts: [],
    }),
  };
}
