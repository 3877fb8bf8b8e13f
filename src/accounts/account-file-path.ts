import { join } from 'node:path';

/** Returns the path of an account file. */
export function accountFilePath(directory: string, name: 'users' | 'clients' | 'consumers'): string {
  return join(directory, `${name}.json`);
}
