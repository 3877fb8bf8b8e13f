import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'node_modules');
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
);

/** A program of this directory as JavaScript, which starts in a fourth of the time; it is the caller's to remove. */
export interface Compiled {
  readonly directory: string;
  /** What to run. */
  readonly path: string;
}

/** Compiles a file of this directory, and all that it imports. */
export async function compiled(file: string): Promise<Compiled> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-compiled-'));
  const project = join(directory, 'tsconfig.json');
  const options = {
    rootDir: root,
    outDir: directory,
    declaration: false,
    typeRoots: [join(modules, '@types')],
  };
  const files = [fileURLToPath(new URL(file, import.meta.url))];
  const settings = { extends: join(root, 'tsconfig.cjs.json'), compilerOptions: options, files };
  writeFileSync(project, JSON.stringify(settings));
  await promisify(execFile)(process.execPath, [compiler, '-p', project, '--noCheck']);
  return { directory, path: join(directory, 'test', 'cli', file.replace(/\.ts$/, '.js')) };
}
