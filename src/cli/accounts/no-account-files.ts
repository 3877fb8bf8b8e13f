import type { AccountFileContent } from '../../accounts/account-file.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { StoredUser } from '../../accounts/users.ts';

/** Who is kept in a data directory. */
export interface AccountFiles {
  readonly users: AccountFileContent<StoredUser>;
  readonly clients: AccountFileContent<ClientRegistration>;
  readonly consumers: AccountFileContent<ConsumerRegistration>;
}

const nobody = { entries: new Map<string, never>(), clear: 0, mark: undefined };

/** The rosters of a server that has no data directory. */
export const noAccountFiles: AccountFiles = { users: nobody, clients: nobody, consumers: nobody };
