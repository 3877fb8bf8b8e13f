import { RecordFault } from '../store/encoding/members.ts';
import { AccountFile } from './account-file.ts';

/** Selects the grants and tokens that match all given members. At least one member is required. */
export interface GrantSelection {
  /** The id of a grant. */
  readonly grant?: string | undefined;
  readonly user?: string | undefined;
  /** The id of an OAuth 2.0 client, or the key of an OAuth 1.0a consumer. */
  readonly client?: string | undefined;
}

const members = ['grant', 'user', 'client'] as const;

/**
 * The file of requested revocations, by random names. The process that has the lock of the store carries them out and then
 * removes them: a running server, or the command itself.
 */
export const revocationFile = new AccountFile<GrantSelection>({
  name: 'revocations',
  one: 'revocation',
  sealedAs: 'revocation',
  read(selection, { where }) {
    const given = selection.only(members, where).entries();
    // Without members, it would select everything.
    if (given.length === 0) throw new RecordFault(`${where} selects nothing`);
    return Object.fromEntries(given.map(([name]) => [name, selection.text(name)]));
  },
  write: (selection) => selection,
});
