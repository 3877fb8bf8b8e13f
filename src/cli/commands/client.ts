import { randomBytes } from 'node:crypto';
import { clientFile } from '../../accounts/clients.ts';
import type { ClientKeys } from '../../accounts/registered.ts';
import { type ClientRegistration, describeClients } from '../../accounts/registration.ts';
import { hashSha256 } from '../../oauth/sha256.ts';
import { existingScopes } from '../../options/file.ts';
import { isMembers } from '../../schemes/jwt/jwt.ts';
import { hashOfPassword } from '../accounts/credentials.ts';
import { readKeyFile } from '../accounts/protected-file.ts';
import { createRegistrationCommand } from '../accounts/registration.ts';
import { secretFlag } from '../accounts/secret-input.ts';
import { commandTable } from '../command-table.ts';
import { CommandError } from '../errors.ts';

/** Runs `countersign client add [ID]`, `client rotate ID`, `client remove ID` or `client list`. Returns the exit status. */
export const client = createRegistrationCommand<ClientRegistration>({
  accountFile: clientFile,
  configured: ({ clients }) => clients,
  label: 'ID',
  flags: commandTable.client.flags,
  members: new Map([
    ['--redirect-uri', 'redirectUris'],
    ['--grant', 'grants'],
    ['--scope', 'scopes'],
    ['--users', 'users'],
    ['--public', 'public'],
    ['--public-key', 'publicKey'],
  ]),
  prepare({ public: isPublic, publicKey: file, ...members }, flags) {
    const exclusive = ['--public', '--public-key', secretFlag].filter((flag) => flags.has(flag));
    if (exclusive.length > 1) throw new CommandError([`${exclusive.join(' and ')} are mutually exclusive`]);
    const key = typeof file === 'string' ? readClientKey(file) : {};
    return { parts: { ...members, ...key }, hasSecret: isPublic !== true && file === undefined };
  },
  describeAll(options) {
    // Without a configuration file, the scopes of the server are not known.
    const scopes =
      options?.config === undefined
        ? undefined
        : existingScopes(options.oauth2, options.partner !== undefined);
    return describeClients({ secretForms: ['text'], scopes });
  },
  findMissing: ({ grants, redirectUris }) =>
    grants.includes('authorization_code') && redirectUris.length === 0
      ? '--grant authorization_code requires a --redirect-uri; a client without users can use --grant client_credentials'
      : undefined,
  // SHA-256 suffices for 256 random bits; a given secret can be weak and is hashed with scrypt.
  store: async ({ text, isGenerated }) =>
    isGenerated
      ? { sha256: hashSha256(text) }
      : { scrypt: await hashOfPassword(text, { isGenerated }, randomBytes) },
  explainNoSecret(entry) {
    const why = hasKey(entry) ? 'authenticates with a key' : 'is public';
    return `${why} and has no secret; to give it one, remove and add it`;
  },
  describe: (entry) =>
    [
      entry.secret !== undefined ? 'with a secret' : hasKey(entry) ? 'with a key' : 'public',
      entry.grants.join(' ') || 'no grant',
      entry.scopes.join(' ') || 'no scope',
      ...(entry.grants.includes('client_credentials')
        ? [`users ${entry.users === '*' ? '*' : entry.users.join(' ')}`]
        : []),
      ...entry.redirectUris,
    ].join('; '),
});

function hasKey({ publicKey, jwks }: ClientKeys): boolean {
  return (publicKey ?? jwks) !== undefined;
}

/** Returns the member of a registration for a file: a public key in PEM, a JWK, or a set of them (RFC 7517). */
function readClientKey(file: string): ClientKeys {
  const content = readKeyFile(file);
  if (!content.startsWith('{')) return { publicKey: content };
  try {
    const value: unknown = JSON.parse(content);
    return { jwks: { keys: isMembers(value) && Array.isArray(value['keys']) ? value['keys'] : [value] } };
  } catch {
    throw new CommandError([`${file} is not a public key: it is not JSON`], 1);
  }
}
