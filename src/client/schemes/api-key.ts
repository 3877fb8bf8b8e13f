import {
  requiredId,
  requiredSecret,
  type SchemeCredentials,
  type SchemeSigner,
  type SigningScheme,
} from './scheme-signer.ts';

/** Creates a signer for an API key, which adds the user and the secret to each request. */
export function createApiKeySigner(
  { name, options }: Extract<SigningScheme, { kind: 'api-key' }>,
  credentials: SchemeCredentials,
): SchemeSigner {
  const octets = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  const fields = [
    [options.user.field, octets(requiredId(credentials, name))],
    [options.secret.field, octets(requiredSecret(credentials, name))],
  ] as const;
  return ({ target }) => ({ fields, target, parts: [] });
}
