import {
  type ClientRegistration,
  type ConsumerRegistration,
  type Registered,
  readClient,
  readConsumer,
} from '../accounts/registration.ts';
import { printable } from './flags.ts';
import { membersOf } from './members.ts';

/** Who is registered for OAuth, by ids and keys. */
export interface Registrations {
  readonly clients: ReadonlyMap<string, ClientRegistration>;
  readonly consumers: ReadonlyMap<string, ConsumerRegistration>;
}

/** Reads `clients` and `consumers` of the configuration file; what is wrong is added to `faults`, never with a secret in it. */
export function readRegistrations(
  members: ReadonlyMap<string, unknown>,
  file: string,
  faults: string[],
): Registrations {
  return {
    clients: readEntries('clients', members.get('clients'), file, faults, (id, value) =>
      readClient(id, value, ['text']),
    ),
    consumers: readEntries('consumers', members.get('consumers'), file, faults, readConsumer),
  };
}

function readEntries<T>(
  part: string,
  value: unknown,
  file: string,
  faults: string[],
  read: (name: string, value: unknown) => Registered<T>,
): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  if (value === undefined) return entries;
  const members = membersOf(value);
  if (members === undefined) faults.push(`${file}: ${part} is not an object`);
  for (const [name, member] of members ?? []) {
    const { made, faults: found } = read(name, member);
    for (const { at, says } of found) {
      const where = [part, name, ...(at === '' ? [] : [at])].map(printable).join('.');
      faults.push(`${file}: ${where} ${says}`);
    }
    entries.set(name, made);
  }
  return entries;
}

/** Warnings about clients that are registered in a way that cannot work, one sentence each. */
export function oddClients(clients: ReadonlyMap<string, ClientRegistration>, file: string): string[] {
  return [...clients]
    .filter(
      ([, { grants, redirectUris }]) => grants.includes('authorization_code') && redirectUris.length === 0,
    )
    .map(([id]) => `${file}: clients.${id} has no redirectUris, and so can use no authorization_code`);
}
