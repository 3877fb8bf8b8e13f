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
  read(value, { document, where }) {
    const given = document.object(value, where, members);
    // Without members, it would select everything.
    if (given.size === 0) throw document.corruption(`${where} selects nothing`);
    return Object.fromEntries(
      Array.from(given, ([name, text]) => [name, document.text(text, `${name} of ${where}`)]),
    );
  },
  write: (selection) => selection,
});
