import { join } from 'node:path';

/** Returns the path of the roster with this name. */
export function accountFilePath(directory: string, name: 'users' | 'clients' | 'consumers'): string {
  return join(directory, `${name}.json`);
}
