import { type Members, RecordFault } from '../store/encoding/members.ts';
import { AccountFile, formatTime } from './account-file.ts';
import { isPasswordHash } from './passwords.ts';
import {
  type ClientRegistration,
  type ConsumerRegistration,
  clientKeys,
  consumerKeys,
  faultLine,
  type Registered,
  readClient,
  readConsumer,
} from './registration.ts';

/** The file of clients of OAuth 2.0. Their secrets are stored as digests. */
export const clientFile = new AccountFile<ClientRegistration>({
  name: 'clients',
  one: 'client',
  sealedAs: 'client secret',
  read(entry, { name, where }) {
    const parts = partsOf(entry, clientKeys, where);
    const client = requireValid(readClient(name, parts, ['sha256', 'scrypt'], undefined), where);
    const { secret } = client;
    if (secret !== undefined && 'scrypt' in secret && !isPasswordHash(secret.scrypt))
      throw new RecordFault(`secret of ${where} must be a digest of a secret`);
    return entry.has('since') ? { ...client, since: entry.time('since') } : client;
  },
  write: ({ since, ...client }) => ({ ...client, since: formatTime(since) }),
});

/** The file of consumers of OAuth 1.0a. */
export const consumerFile = new AccountFile<ConsumerRegistration>({
  name: 'consumers',
  one: 'consumer',
  sealedAs: 'consumer secret',
  read(entry, reader) {
    const { name, where } = reader;
    const parts = partsOf(entry, consumerKeys, where);
    const secret = entry.has('secret') ? reader.secret(entry.get('secret'), `secret of ${where}`) : undefined;
    const consumer = requireValid(readConsumer(name, { ...parts, secret }), where);
    return entry.has('since') ? { ...consumer, since: entry.time('since') } : consumer;
  },
  write: ({ secret, since, ...consumer }, sealed) => ({
    secret: secret === undefined ? undefined : sealed(secret),
    ...consumer,
    since: formatTime(since),
  }),
});

/** Returns the members of a registration besides its time. Throws RecordFault if there are others than these. */
function partsOf(
  entry: Members,
  names: readonly string[],
  where: string,
): { readonly [name: string]: unknown } {
  const { since: _, ...parts } = Object.fromEntries(entry.only([...names, 'since'], where).entries());
  return parts;
}

/** Returns a valid registration. Throws RecordFault with the first fault. */
function requireValid<T>({ made, faults: [fault] }: Registered<T>, where: string): T {
  if (fault === undefined) return made;
  throw new RecordFault(faultLine(fault, where));
}
