// Schemes that sign nothing and need no configuration: each request has the same credentials.

import { parseBasicCredentials } from '../http/headers/basic-credentials.ts';
import type { AuthScheme } from './auth-scheme.ts';

/** Returns the Authorization value of HTTP Basic (RFC 7617 §2), in UTF-8. */
export function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** HTTP Basic. The password is the secret. */
export const basicScheme = {
  kind: 'basic',
  name: 'basic',
  label: 'Basic',
  options: undefined,
  dateWindow: 0,
  window: 0,
  places: [{ role: '', in: 'authorization', name: 'Basic' }],
  tlsOnly: true,
  problems: ['too-many-attempts'],
  claimedUser(rest) {
    const presented = parseBasicCredentials(rest);
    return typeof presented === 'string' ? undefined : presented.user;
  },
  choices: [],
  key: 'password',
  sentSecret: 'a password',
  check() {},
  sign: ({ target }, { user = '', secret = '' }) => ({
    fields: [['Authorization', basicHeader(user, secret)]],
    target,
    parts: [],
  }),
} satisfies AuthScheme;

/** A bearer token (RFC 6750 §2.1), which is the secret. */
export const bearerScheme = {
  kind: 'bearer',
  name: 'bearer',
  label: 'Bearer token (OAuth 2.0)',
  options: undefined,
  dateWindow: 0,
  window: 0,
  places: [{ role: '', in: 'authorization', name: 'Bearer' }],
  tlsOnly: true,
  problems: ['token-refused', 'insufficient-scope', 'too-many-tokens'],
  choices: [],
  key: 'token',
  sentSecret: 'a token',
  check() {},
  sign: ({ target }, { secret = '' }) => ({
    fields: [['Authorization', `Bearer ${secret}`]],
    target,
    parts: [],
  }),
} satisfies AuthScheme;
