import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A commit that is checked out beside the working tree. */
export interface Worktree {
  readonly root: string;
  /** The abbreviated hash of the commit. */
  readonly commit: string;
  remove(): void;
}

/**
 * Checks a commit out into a temporary directory, with the installed packages and with this `bench/`, so that the
 * measuring code is the same. Throws if there is no such commit.
 */
export function checkOut(root: string, ref: string): Worktree {
  const commit = git(root, 'rev-parse', '--verify', '--short', `${ref}^{commit}`).trim();
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-against-'));
  const directory = join(scratch, commit);
  const remove = (): void => {
    spawnSync('git', ['worktree', 'remove', '--force', directory], { cwd: root });
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    git(root, 'worktree', 'add', '--detach', '--quiet', directory, commit);
    takeBench(root, directory);
    for (const path of ['node_modules', 'bench/node_modules', 'test/node_modules']) {
      if (existsSync(join(root, path))) symlinkSync(join(root, path), join(directory, path));
    }
  } catch (error) {
    remove();
    throw error;
  }
  return { root: directory, commit, remove };
}

function takeBench(root: string, directory: string): void {
  for (const name of ['tsconfig.json', 'tsconfig.test.json'])
    copyFileSync(join(root, name), join(directory, name));
  rmSync(join(directory, 'bench'), { recursive: true, force: true });
  const own = ['node_modules', 'results'].map((name) => join(root, 'bench', name));
  cpSync(join(root, 'bench'), join(directory, 'bench'), {
    recursive: true,
    filter: (source) => !own.includes(source),
  });
}

/** Builds `dist/` of a tree. */
export function build(root: string): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the build failed: ${stderr}`);
}

function git(root: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.trim());
  return stdout;
}
