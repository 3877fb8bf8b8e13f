import { randomBytes } from 'node:crypto';
import { clientFile } from '../../accounts/clients.ts';
import { hashPassword } from '../../accounts/passwords.ts';
import { type ClientRegistration, readClient } from '../../accounts/registration.ts';
import type { ClientSecret } from '../../oauth/clients.ts';
import { sha256 } from '../../oauth/sha256.ts';
import {
  type NewRegistration,
  partsOf,
  type RegistrationInput,
  type RegistrationKind,
  refuseFaults,
  registrationCommand,
  secretFlag,
  secretOf,
} from '../accounts/registration.ts';
import { CommandError } from '../errors.ts';

/** What verifying a chosen secret costs (N of RFC 7914 §2): somebody may guess at it, so tens of milliseconds. */
const costForChosen = 16_384;

const kind: RegistrationKind<ClientRegistration> = {
  roster: clientFile,
  configured: ({ clients }) => clients,
  label: 'ID',
  flags: new Map([
    ['--redirect-uri', { arity: 'values', part: 'redirectUris' }],
    ['--grant', { arity: 'values', part: 'grants' }],
    ['--scope', { arity: 'values', part: 'scopes' }],
    ['--users', { arity: 'values', part: 'users' }],
    ['--public', { arity: 'toggle', part: 'public' }],
  ]),
  make,
  describe: ({ secret, redirectUris, grants, scopes, users }) =>
    [
      secret === undefined ? 'public' : 'with a secret',
      grants.join(' ') || 'no grant',
      scopes.join(' ') || 'no scope',
      ...(grants.includes('client_credentials') ? [`users ${users === '*' ? '*' : users.join(' ')}`] : []),
      ...redirectUris,
    ].join('; '),
};

/** `countersign client add [ID]`, `client remove ID`, `client list`. Gives the exit status. */
export const client = registrationCommand(kind);

async function make(id: string, said: RegistrationInput): Promise<NewRegistration<ClientRegistration>> {
  const { public: open, users, ...parts } = partsOf(kind, said);
  if (open === true && said.flags.has(secretFlag))
    throw new CommandError(['a --public client has no secret']);
  const secret = open === true ? undefined : secretOf(said);
  const all = Array.isArray(users) && users.length === 1 && users[0] === '*';
  const given = { ...parts, users: all ? '*' : users, secret: secret?.text };
  const { made: entry, faults } = readClient(id, given, ['text']);
  refuseFaults(kind, id, said, faults);
  if (entry.grants.includes('authorization_code') && entry.redirectUris.length === 0)
    throw new CommandError([
      'authorization_code needs a --redirect-uri; a client that comes for itself has --grant client_credentials',
    ]);
  if (secret === undefined) return { entry, shown: undefined };
  return { entry: { ...entry, secret: await keptOf(secret) }, shown: secret.shown };
}

/** 256 random bits are found by no guessing, so one pass of SHA-256 is enough for them; for a secret that was chosen it is not. */
async function keptOf({ text, made }: { text: string; made: boolean }): Promise<ClientSecret> {
  if (made) return { sha256: sha256(text) };
  return { scrypt: await hashPassword(text, randomBytes(16), costForChosen) };
}
