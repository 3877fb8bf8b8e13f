import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A commit that is checked out beside the working tree. */
export interface Worktree {
  readonly root: string;
  /** The abbreviated hash of the commit. */
  readonly commit: string;
  /** Replaces this `bench/` by that of the commit, for a commit whose modules have other names. */
  takeOwnBench(): void;
  remove(): void;
}

/**
 * Checks a commit out into a temporary directory, with the packages that its build needs and with this `bench/`, so that the
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
    for (const path of ['bench/node_modules', 'test/node_modules']) {
      if (existsSync(join(root, path))) symlinkSync(join(root, path), join(directory, path));
    }
    takePackages(root, directory);
  } catch (error) {
    remove();
    throw error;
  }
  const takeOwnBench = (): void => {
    git(directory, 'checkout', '--quiet', '--', 'bench', 'tsconfig.json', 'tsconfig.test.json');
  };
  return { root: directory, commit, takeOwnBench, remove };
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

/** Gives the commit the packages that its build needs: those of the working tree if both have the same, otherwise its own. */
function takePackages(root: string, directory: string): void {
  const [current, other] = [root, directory].map((each) =>
    readFileSync(join(each, 'package-lock.json'), 'utf8'),
  );
  if (current === other) {
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    return;
  }
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the packages of the commit cannot be installed: ${stderr}`);
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
