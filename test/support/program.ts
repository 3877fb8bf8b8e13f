import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where a whole run has compiled everything, so that a program starts much sooner; else it is compiled as it starts. */
const compiled = process.env['TEST_COMPILED'];

/** A module of the repository, as a path to import; `path` goes from the root and ends in `.ts`. */
export function modulePath(path: string): string {
  return compiled === undefined ? join(root, path) : join(compiled, path.replace(/\.ts$/, '.js'));
}

/** What Node.js needs to read such a module, as options. */
export const reading: readonly string[] =
  compiled === undefined ? ['--import', import.meta.resolve('tsx')] : [];
