import type { Client, Consumer, GrantType, SignatureMethod } from './oauth/clients.ts';
import type { Scope } from './principal.ts';
import type { ClientOption, ConsumerOption, ServiceOptions } from './service-options.ts';

const grantTypes: readonly GrantType[] = ['authorization_code', 'refresh_token', 'client_credentials'];
const signatureMethods: readonly SignatureMethod[] = ['HMAC-SHA256', 'HMAC-SHA1', 'PLAINTEXT', 'RSA-SHA1'];
const scopes: readonly Scope[] = ['read', 'write'];

/** Registered clients of OAuth 2.0 by their ids. Throws RangeError on one that cannot be, naming it. */
export function clientsOf(registered: NonNullable<ServiceOptions['clients']>): ReadonlyMap<string, Client> {
  return registry(registered, clientOf);
}

/** Registered consumers of OAuth 1.0a by their keys. Throws RangeError on one that cannot be, naming it. */
export function consumersOf(
  registered: NonNullable<ServiceOptions['consumers']>,
): ReadonlyMap<string, Consumer> {
  return registry(registered, consumerOf);
}

function registry<Option, Made>(
  registered: Readonly<Record<string, Option>> | ReadonlyMap<string, Option>,
  make: (name: string, option: Option) => Made,
): ReadonlyMap<string, Made> {
  const entries = registered instanceof Map ? [...registered] : Object.entries(registered);
  return new Map(entries.map(([name, option]) => [name, make(name, option)]));
}

function clientOf(id: string, option: ClientOption): Client {
  const { secret, redirectUris = [], grants = grantTypes.slice(0, 2), users = [] } = option;
  const who = `the client ${JSON.stringify(id)}`;
  if (secret === '') throw new RangeError(`the secret of ${who} is empty`);
  holdTo(grants, grantTypes, `a grant of ${who}`);
  holdTo(option.scopes ?? [], scopes, `a scope of ${who}`);
  for (const uri of redirectUris) {
    // RFC 6749 §3.1.2: absolute, and without a fragment.
    if (!URL.canParse(uri) || uri.includes('#'))
      throw new RangeError(`a redirect URI of ${who} is not an absolute URI without a fragment`);
  }
  if (secret === undefined && grants.includes('client_credentials'))
    throw new RangeError(`${who} has no secret, and so cannot have the grant client_credentials`);
  const known = typeof secret === 'string' ? { plain: secret } : secret;
  return { id, secret: known, redirectUris, grants, scopes: option.scopes ?? ['read'], users };
}

function consumerOf(key: string, option: ConsumerOption): Consumer {
  const { secret, rsaPublicKey, callbacks = [], methods = signatureMethods.slice(0, 2) } = option;
  const who = `the consumer ${JSON.stringify(key)}`;
  if (secret === '') throw new RangeError(`the secret of ${who} is empty`);
  holdTo(methods, signatureMethods, `a signature method of ${who}`);
  holdTo(option.scopes ?? [], scopes, `a scope of ${who}`);
  if (secret === undefined && rsaPublicKey === undefined)
    throw new RangeError(`${who} has neither a secret nor an RSA key`);
  for (const callback of callbacks) {
    if (callback !== 'oob' && !URL.canParse(callback))
      throw new RangeError(`a callback of ${who} is neither an absolute URI nor oob`);
  }
  return { key, secret, rsaPublicKey, callbacks, methods, scopes: option.scopes ?? ['read'] };
}

function holdTo<T>(given: readonly T[], known: readonly T[], what: string): void {
  for (const one of given) {
    if (!known.includes(one)) throw new RangeError(`${what} is not one of ${known.join(', ')}`);
  }
}
