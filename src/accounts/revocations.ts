import { createFault } from '../shape/fault.ts';
import { mapOf, object, optional, refine, text } from '../shape/shape.ts';
import { AccountFile } from './account-file.ts';

/** Selects the grants and tokens that match all given members. At least one member is required. */
export interface GrantSelection {
  /** The id of a grant. */
  readonly grant?: string | undefined;
  readonly user?: string | undefined;
  /** The id of an OAuth 2.0 client, or the key of an OAuth 1.0a consumer. */
  readonly client?: string | undefined;
}

const selectionShape = object({
  grant: optional(text()),
  user: optional(text()),
  client: optional(text()),
});

/**
 * The file of requested revocations, by random names. The process that has the lock of the store carries them out and then
 * removes them: a running server, or the command itself.
 */
export const revocationFile = new AccountFile<GrantSelection>({
  name: 'revocations',
  one: 'revocation',
  sealedAs: 'revocation',
  shape: mapOf(
    // Without members, it would select everything.
    refine(selectionShape, (selection, path) =>
      Object.keys(selection).length === 0 ? [createFault(path, 'selects nothing')] : [],
    ),
  ),
});
