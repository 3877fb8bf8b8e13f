import type { AccountPlace } from '../accounts/stored-file.ts';
import type { NonceReport } from '../store/nonces/file.ts';
import { type AccountFiles, noAccountFiles } from './accounts/account-files.ts';

/** The content of a data directory, or of the store of a module. */
export interface InspectedData {
  /** The location, for the report. */
  readonly location: string;
  /** The location of the accounts. */
  readonly place: AccountPlace;
  /** The id of the process that uses the directory. */
  readonly holder: number | undefined;
  readonly accountFiles: AccountFiles;
  /** Whether the directory has neither a store nor a user file. */
  readonly isNew: boolean;
  /** The number of items by collection. */
  readonly items: ReadonlyMap<string, number>;
  /** The number of changes in the journals. */
  readonly changes: number;
  /** The repairs that a start would make, and other problems, one sentence each. */
  readonly warnings: readonly string[];
  readonly nonces: NonceReport;
}

export const noNonces: NonceReport = { live: 0, loss: undefined };

/** Returns the content of a data directory that does not exist. */
export function noData(location: string, place: string): InspectedData {
  return {
    location,
    place,
    holder: undefined,
    accountFiles: noAccountFiles,
    isNew: true,
    items: new Map(),
    changes: 0,
    warnings: [],
    nonces: noNonces,
  };
}
