import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { modulePath } from '../support/program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Writes a module into a new directory. Returns its path. */
export function writeModule(text: string, name = 'module.mjs'): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, text);
  return path;
}

/** Returns the start of a module that imports names from a file of the repository. */
export function importFrom(path: string, ...names: string[]): string {
  return `import { ${names.join(', ')} } from ${JSON.stringify(pathToFileURL(modulePath(path)).href)};\n`;
}

/** Writes a module with a store in a directory that processes share; `more` are further members. */
export function sharedModule(directory: string, more = ''): string {
  return writeModule(
    `${importFrom('test/support/module/shared-store.ts', 'openSharedStore')}
export default () => ({ store: openSharedStore(${JSON.stringify(directory)}), ${more} });\n`,
  );
}
