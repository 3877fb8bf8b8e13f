import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from '../../src/once.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryDirectory();

/** Runs a program; gives its output, or fails with all that it said. */
export function run(command: string, args: readonly string[], cwd: string): string {
  // Coverage is of this process alone, and NODE_TEST_CONTEXT would have a runner in there speak to the one out here.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const env = { ...environment, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env });
  if (error !== undefined) throw error;
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/** The packed package, installed in a project of its own without the network. All tests of a process share it. */
export const installedPackage = once((): { readonly folder: string; readonly tarball: string } => {
  assert.ok(existsSync(join(root, 'dist/server.js')), 'dist is not built: npm run build');
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  // Without its scripts: the other tests are using dist meanwhile.
  const packed = run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], root);
  const tarball = join(folder, packed.trim());
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], folder);
  return { folder, tarball };
});
