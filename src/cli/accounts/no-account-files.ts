import type { RosterFile } from '../../accounts/account-file.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { StoredUser } from '../../accounts/users.ts';

/** Who is kept in a data directory. */
export interface Rosters {
  readonly users: RosterFile<StoredUser>;
  readonly clients: RosterFile<ClientRegistration>;
  readonly consumers: RosterFile<ConsumerRegistration>;
}

const nobody = { entries: new Map<string, never>(), clear: 0, mark: undefined };

/** The rosters of a server that has no data directory. */
export const noRosters: Rosters = { users: nobody, clients: nobody, consumers: nobody };
