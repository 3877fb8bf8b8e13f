// Schemes that sign nothing and need no configuration: each request has the same credentials.

import type { ClientScheme } from './signing.ts';

/** Returns the Authorization value of HTTP Basic (RFC 7617 §2), in UTF-8. */
export function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** HTTP Basic. The password is the secret. */
export const basicScheme: ClientScheme<'basic'> = {
  kind: 'basic',
  name: 'basic',
  choices: [],
  tlsOnly: true,
  sentSecret: 'a password',
  check() {},
  sign: ({ target }, { user = '', secret = '' }) => ({
    fields: [['Authorization', basicHeader(user, secret)]],
    target,
    parts: [],
  }),
};

/** A bearer token (RFC 6750 §2.1), which is the secret. */
export const bearerScheme: ClientScheme<'bearer'> = {
  kind: 'bearer',
  name: 'bearer',
  choices: [],
  tlsOnly: true,
  sentSecret: 'a token',
  check() {},
  sign: ({ target }, { secret = '' }) => ({
    fields: [['Authorization', `Bearer ${secret}`]],
    target,
    parts: [],
  }),
};
