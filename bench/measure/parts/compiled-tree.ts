import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A tree compiled to JavaScript, in its own directory. */
export interface CompiledTree {
  readonly root: string;
  remove(): void;
}

/**
 * Compiles the sources of a tree, so that the measured processes do not contain a loader. Later changes of the sources
 * have no effect. Throws if the compiler fails, and with `check` also if the types do not fit.
 */
export function compileTree(root: string, { check = false } = {}): CompiledTree {
  const compiled = mkdtempSync(join(tmpdir(), 'countersign-bench-tree-'));
  const remove = (): void => rmSync(compiled, { recursive: true, force: true });
  process.once('exit', remove);
  const compiler = ['@typescript/native', 'typescript']
    .map((name) => join(root, 'node_modules', name, 'bin/tsc'))
    .find((path) => existsSync(path));
  if (compiler === undefined) throw new Error('no compiler is installed: npm ci installs it');
  const to = [
    '--outDir',
    compiled,
    '--incremental',
    'false',
    '--sourceMap',
    'false',
    '--noCheck',
    String(!check),
  ];
  const args = [compiler, '-p', join(root, 'tsconfig.test.json'), ...to];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) {
    remove();
    throw new Error(`it does not compile: ${stdout}`);
  }
  copyFileSync(join(root, 'package.json'), join(compiled, 'package.json'));
  for (const path of ['node_modules', 'bench/node_modules', 'test/node_modules', 'dist']) {
    symlinkSync(join(root, path), join(compiled, path));
  }
  return {
    root: compiled,
    remove() {
      process.removeListener('exit', remove);
      remove();
    },
  };
}
