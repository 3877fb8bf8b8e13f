import { join } from 'node:path';

/** The names of the account files, without their extension. */
export type AccountFileName = 'users' | 'clients' | 'consumers' | 'revocations';

/** Returns the path of an account file. */
export function accountFilePath(directory: string, name: AccountFileName): string {
  return join(directory, `${name}.json`);
}
