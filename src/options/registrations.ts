import {
  type ClientRegistration,
  type ConsumerRegistration,
  type Registered,
  readClient,
  readConsumer,
} from '../accounts/registration.ts';
import { type OAuth2Options, readOAuth2 } from '../oauth/oauth2-options.ts';
import type { Scope } from '../principal.ts';
import { describeFault, formatPath } from '../shape/fault.ts';
import { toPrintable } from './flags.ts';
import { toMembers } from './sources.ts';

/** The registered OAuth 2.0 clients by id, and OAuth 1.0a consumers by key. */
export interface Registrations {
  readonly clients: ReadonlyMap<string, ClientRegistration>;
  readonly consumers: ReadonlyMap<string, ConsumerRegistration>;
}

/**
 * Reads `clients` and `consumers` of the configuration file. Adds errors, which never contain a secret, to `faults`.
 * @param scopes the scopes that exist; undefined if that is not known
 */
export function readRegistrations(
  members: ReadonlyMap<string, unknown>,
  file: string,
  faults: string[],
  scopes: readonly Scope[] | undefined,
): Registrations {
  return {
    clients: readEntries('clients', members.get('clients'), file, faults, (id, value) =>
      readClient(id, value, ['text'], scopes),
    ),
    consumers: readEntries('consumers', members.get('consumers'), file, faults, readConsumer),
  };
}

/** Returns the scopes that exist; undefined if they are not known, because the document of a partner adds some. */
export function existingScopes(
  oauth2: OAuth2Options | undefined,
  hasPartner: boolean,
): readonly Scope[] | undefined {
  return hasPartner ? undefined : readOAuth2(oauth2).scopes;
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
  const members = toMembers(value);
  if (members === undefined) faults.push(`${file}: ${part} must be an object`);
  for (const [name, member] of members ?? []) {
    const { made, faults: found } = read(name, member);
    for (const fault of found) {
      const path = [part, name, ...fault.path].map((step) =>
        typeof step === 'number' ? step : toPrintable(step),
      );
      faults.push(`${file}: ${formatPath(path)} ${describeFault(fault)}`);
    }
    entries.set(name, made);
  }
  return entries;
}

/** Returns a warning for each client that has `authorization_code` but no redirect URI. */
export function oddClients(clients: ReadonlyMap<string, ClientRegistration>, file: string): string[] {
  return [...clients]
    .filter(
      ([, { grants, redirectUris }]) => grants.includes('authorization_code') && redirectUris.length === 0,
    )
    .map(([id]) => `${file}: clients.${id} cannot use authorization_code because it has no redirectUris`);
}
