import {
  type ClientRegistration,
  type ConsumerRegistration,
  clientKeys,
  consumerKeys,
  faultLine,
  type Registered,
  readClient,
  readConsumer,
} from '../registration.ts';
import { isPasswordHash } from './passwords.ts';
import { type EntryReader, Roster } from './roster.ts';

/** The clients of OAuth 2.0 of a data directory. Their secrets are kept as digests. */
export const clientRoster = new Roster<ClientRegistration>({
  name: 'clients',
  one: 'client',
  sealedAs: 'client secret',
  read(value, { document, name, where }) {
    document.object(value, where, clientKeys);
    const client = sound(readClient(name, value, ['sha256', 'scrypt']), { document, where });
    const { secret } = client;
    if (secret !== undefined && 'scrypt' in secret && !isPasswordHash(secret.scrypt))
      throw document.damage(`secret of ${where} is not a digest of one`);
    return client;
  },
  write: (client) => client,
});

/** The consumers of OAuth 1.0a of a data directory. */
export const consumerRoster = new Roster<ConsumerRegistration>({
  name: 'consumers',
  one: 'consumer',
  sealedAs: 'consumer secret',
  read(value, reader) {
    const { document, name, where } = reader;
    const members = document.object(value, where, consumerKeys);
    const kept = members.get('secret');
    const secret = kept === undefined ? undefined : reader.secret(kept, `secret of ${where}`);
    return sound(readConsumer(name, { ...Object.fromEntries(members), secret }), reader);
  },
  write: ({ secret, ...consumer }, sealed) => ({
    ...(secret === undefined ? {} : { secret: sealed(secret) }),
    ...consumer,
  }),
});

/** What was registered. Throws DamagedStoreError with the first fault that it has. */
function sound<T>(
  { made, faults: [fault] }: Registered<T>,
  { document, where }: Pick<EntryReader, 'document' | 'where'>,
): T {
  if (fault === undefined) return made;
  throw document.damage(faultLine(fault, where));
}
