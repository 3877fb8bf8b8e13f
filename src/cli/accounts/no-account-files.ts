import type { AccountFileContent } from '../../accounts/account-file.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { StoredUser } from '../../accounts/users.ts';

/** The contents of the account files of a data directory. */
export interface AccountFiles {
  readonly users: AccountFileContent<StoredUser>;
  readonly clients: AccountFileContent<ClientRegistration>;
  readonly consumers: AccountFileContent<ConsumerRegistration>;
}

const empty = { entries: new Map<string, never>(), clear: 0, mark: undefined };

/** Empty account files, for a server without a data directory. */
export const noAccountFiles: AccountFiles = { users: empty, clients: empty, consumers: empty };
