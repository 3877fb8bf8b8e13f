import { existsSync } from 'node:fs';
import { type Roster, type RosterFile, rosterPath } from '../../accounts/account-file.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { Seal } from '../../accounts/secret-box.ts';
import { type StoredUser, userRoster } from '../../accounts/users.ts';
import type { RosterWatch } from '../../accounts/watcher.ts';
import { changeRoster } from './change.ts';
import { noRosters, type Rosters } from './no-account-files.ts';

/** Puts those to use that are kept now. What one throws is told, and those before stay. */
export interface RosterUses {
  users(kept: ReadonlyMap<string, StoredUser>): void;
  clients(kept: ReadonlyMap<string, ClientRegistration>): void;
  consumers(kept: ReadonlyMap<string, ConsumerRegistration>): Promise<void>;
}

/**
 * Reads who is kept in a data directory. Throws DamagedStoreError for a file that cannot be used, SealError for secrets
 * that cannot be opened.
 */
export async function readRosters(directory: string, seal: Seal | undefined): Promise<Rosters> {
  const reading = userRoster.read(directory, { seal });
  const isThere = (name: 'clients' | 'consumers'): boolean => existsSync(rosterPath(directory, name));
  // What is about registrations is loaded only where there are some.
  if (!isThere('clients') && !isThere('consumers')) return { ...noRosters, users: await reading };
  reading.catch(() => {}); // told where it is waited for
  const { clientRoster, consumerRoster } = await import('../../accounts/clients.ts');
  const [users, clients, consumers] = await Promise.all([
    reading,
    clientRoster.read(directory, { seal }),
    consumerRoster.read(directory, { seal }),
  ]);
  return { users, clients, consumers };
}

/** Who is kept, after those secrets were sealed that were not and can be. `tell` is told of that. */
export async function sealRosters(
  directory: string,
  seal: Seal | undefined,
  { users, clients, consumers }: Rosters,
  tell: (line: string) => void,
): Promise<Rosters> {
  if (seal === undefined || (users.clear === 0 && consumers.clear === 0))
    return { users, clients, consumers };
  const sealed = async <T>(roster: Roster<T>, kept: RosterFile<T>): Promise<RosterFile<T>> => {
    if (kept.clear === 0) return kept;
    await changeRoster(roster, directory, seal, () => {});
    tell(`the secrets in ${roster.path(directory)} were in the clear, and are encrypted now`);
    return roster.read(directory, { seal });
  };
  const { consumerRoster } = await import('../../accounts/clients.ts');
  return {
    users: await sealed(userRoster, users),
    clients,
    consumers: await sealed(consumerRoster, consumers),
  };
}

/** Where a directory has secrets in the clear, for who can read the files. */
export function clearPaths(directory: string, { users, consumers }: Rosters): readonly string[] {
  return [
    ...(users.clear > 0 ? [rosterPath(directory, 'users')] : []),
    ...(consumers.clear > 0 ? [rosterPath(directory, 'consumers')] : []),
  ];
}

/** Watches all rosters of a data directory, from what was read on. */
export async function watchRosters(
  directory: string,
  seal: Seal | undefined,
  { users, clients, consumers }: Rosters,
  uses: RosterUses,
  tell: (line: string) => void,
): Promise<readonly RosterWatch[]> {
  const [{ watchRoster }, { clientRoster, consumerRoster }] = await Promise.all([
    import('../../accounts/watcher.ts'),
    import('../../accounts/clients.ts'),
  ]);
  const given = { directory, seal, tell };
  return [
    watchRoster({ ...given, roster: userRoster, mark: users.mark, use: uses.users }),
    watchRoster({ ...given, roster: clientRoster, mark: clients.mark, use: uses.clients }),
    watchRoster({ ...given, roster: consumerRoster, mark: consumers.mark, use: uses.consumers }),
  ];
}
