import { refine } from '../shape/shape.ts';
import { AccountFile } from './account-file.ts';
import { isPasswordHash } from './passwords.ts';
import {
  type ClientRegistration,
  type ConsumerRegistration,
  describeClients,
  describeConsumers,
} from './registration.ts';

/** The file of clients of OAuth 2.0. Their secrets are stored as digests. */
export const clientFile = new AccountFile<ClientRegistration>({
  name: 'clients',
  one: 'client',
  sealedAs: 'client secret',
  shape: refine(describeClients({ secretForms: ['sha256', 'scrypt'], isDated: true }), (clients, path) =>
    Object.entries(clients).flatMap(([id, { secret }]) =>
      secret !== undefined && 'scrypt' in secret && !isPasswordHash(secret.scrypt)
        ? [{ path: [...path, id, 'secret'], kind: 'secret', expected: 'a digest of a secret' }]
        : [],
    ),
  ),
  times: ['since'],
});

/** The file of consumers of OAuth 1.0a. */
export const consumerFile = new AccountFile<ConsumerRegistration>({
  name: 'consumers',
  one: 'consumer',
  sealedAs: 'consumer secret',
  shape: describeConsumers({ isDated: true }),
  times: ['since'],
  secrets: ['secret'],
});
