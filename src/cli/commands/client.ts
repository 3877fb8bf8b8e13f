import { randomBytes } from 'node:crypto';
import { clientFile } from '../../accounts/clients.ts';
import type { ClientKeys } from '../../accounts/registered.ts';
import { type ClientRegistration, readClient } from '../../accounts/registration.ts';
import { isMembers } from '../../jwt/jwt.ts';
import type { ClientSecret } from '../../oauth/clients.ts';
import { hashSha256 } from '../../oauth/sha256.ts';
import type { Options } from '../../options/options.ts';
import { existingScopes } from '../../options/registrations.ts';
import { hashOfPassword } from '../accounts/credentials.ts';
import {
  type ChosenSecret,
  chooseSecret,
  createRegistrationCommand,
  type NewRegistration,
  noInput,
  type RegistrationInput,
  type RegistrationKind,
  readKeyFile,
  readMembers,
  readUsers,
  throwFaults,
} from '../accounts/registration.ts';
import { secretFlag } from '../accounts/secret-input.ts';
import { commandTable } from '../command-table.ts';
import { CommandError } from '../errors.ts';

const kind: RegistrationKind<ClientRegistration> = {
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
  create,
  rotate,
  describe: ({ secret, publicKey, jwks, redirectUris, grants, scopes, users }) =>
    [
      secret !== undefined ? 'with a secret' : (publicKey ?? jwks) === undefined ? 'public' : 'with a key',
      grants.join(' ') || 'no grant',
      scopes.join(' ') || 'no scope',
      ...(grants.includes('client_credentials') ? [`users ${users === '*' ? '*' : users.join(' ')}`] : []),
      ...redirectUris,
    ].join('; '),
};

/** Runs `countersign client add [ID]`, `client rotate ID`, `client remove ID` or `client list`. Returns the exit status. */
export const client = createRegistrationCommand(kind);

async function create(
  id: string,
  input: RegistrationInput,
  { config, oauth2, partner }: Options,
): Promise<NewRegistration<ClientRegistration>> {
  const { public: isPublic, publicKey: file, users, ...members } = readMembers(kind, input);
  const exclusive = ['--public', '--public-key', secretFlag].filter((flag) => input.flags.has(flag));
  if (exclusive.length > 1) throw new CommandError([`${exclusive.join(' and ')} are mutually exclusive`]);
  const secret = isPublic === true || file !== undefined ? undefined : chooseSecret(input);
  const key = typeof file === 'string' ? readClientKey(file) : {};
  const source = { ...members, ...key, users: readUsers(users), secret: secret?.text };
  // Without a configuration file, the scopes of the server are not known.
  const scopes = config === undefined ? undefined : existingScopes(oauth2, partner !== undefined);
  const { made: entry, faults } = readClient(id, source, ['text'], scopes);
  throwFaults(kind, id, input, faults);
  if (entry.grants.includes('authorization_code') && entry.redirectUris.length === 0)
    throw new CommandError([
      '--grant authorization_code requires a --redirect-uri; a client without users can use --grant client_credentials',
    ]);
  if (secret === undefined) return { entry, shownSecret: undefined };
  return { entry: { ...entry, secret: await hashSecret(secret) }, shownSecret: secret.shown };
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

/** Replaces the secret. Throws CommandError for a public client, or a secret that is not of printable ASCII characters. */
async function rotate(
  id: string,
  client: ClientRegistration,
  secret: ChosenSecret,
): Promise<ClientRegistration> {
  if (client.secret === undefined) {
    const why = (client.publicKey ?? client.jwks) === undefined ? 'is public' : 'authenticates with a key';
    throw new CommandError(
      [`the client ${id} ${why} and has no secret; to give it one, remove and add it`],
      1,
    );
  }
  const { since: _, ...parts } = { ...client, secret: secret.text };
  throwFaults(kind, id, noInput, readClient(id, parts, ['text'], undefined).faults);
  return { ...client, secret: await hashSecret(secret) };
}

/** Returns the digest to store. SHA-256 suffices for 256 random bits; a given secret can be weak and is hashed with scrypt. */
async function hashSecret({ text, isGenerated }: ChosenSecret): Promise<ClientSecret> {
  if (isGenerated) return { sha256: hashSha256(text) };
  return { scrypt: await hashOfPassword(text, { isGenerated }, randomBytes) };
}
