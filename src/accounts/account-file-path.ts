import { join } from 'node:path';
import type { DocumentStore } from '../store/documents.ts';

/** The location of the account files: the path of a data directory, or documents that several hosts share. */
export type AccountPlace = string | DocumentStore;

/** The names of the account files, without their extension. */
export type AccountFileName = 'users' | 'clients' | 'consumers' | 'revocations';

/** Returns the path of an account file. */
export function accountFilePath(directory: string, name: AccountFileName): string {
  return join(directory, `${name}.json`);
}

/** Returns the path of a file, or the name and the location of a document. */
export function pathIn(place: AccountPlace, fileName: string): string {
  return typeof place === 'string' ? join(place, fileName) : `${fileName} (${place.location})`;
}
