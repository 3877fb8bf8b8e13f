import { formatIsoDate } from '../store/encoding/iso-date.ts';
import { AccountFile, type EntryReader } from './account-file.ts';
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
  read(value, { document, name, where }) {
    const { since, ...parts } = Object.fromEntries(document.object(value, where, [...clientKeys, 'since']));
    const client = requireValid(readClient(name, parts, ['sha256', 'scrypt'], undefined), {
      document,
      where,
    });
    const { secret } = client;
    if (secret !== undefined && 'scrypt' in secret && !isPasswordHash(secret.scrypt))
      throw document.corruption(`secret of ${where} must be a digest of a secret`);
    return since === undefined ? client : { ...client, since: document.time(since, `since of ${where}`) };
  },
  write: ({ since, ...client }) =>
    since === undefined ? client : { ...client, since: formatIsoDate(since) },
});

/** The file of consumers of OAuth 1.0a. */
export const consumerFile = new AccountFile<ConsumerRegistration>({
  name: 'consumers',
  one: 'consumer',
  sealedAs: 'consumer secret',
  read(value, reader) {
    const { document, name, where } = reader;
    const { since, ...parts } = Object.fromEntries(document.object(value, where, [...consumerKeys, 'since']));
    const stored = parts['secret'];
    const secret = stored === undefined ? undefined : reader.secret(stored, `secret of ${where}`);
    const consumer = requireValid(readConsumer(name, { ...parts, secret }), reader);
    return since === undefined ? consumer : { ...consumer, since: document.time(since, `since of ${where}`) };
  },
  write: ({ secret, since, ...consumer }, sealed) => ({
    ...(secret === undefined ? {} : { secret: sealed(secret) }),
    ...consumer,
    ...(since === undefined ? {} : { since: formatIsoDate(since) }),
  }),
});

/** Returns a valid registration. Throws CorruptionError with the first fault. */
function requireValid<T>(
  { made, faults: [fault] }: Registered<T>,
  { document, where }: Pick<EntryReader, 'document' | 'where'>,
): T {
  if (fault === undefined) return made;
  throw document.corruption(faultLine(fault, where));
}
