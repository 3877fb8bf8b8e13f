import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { onlyLong } from '../support/store/thoroughness.ts';
import { installedPackage, run } from './packed.ts';

const root = join(import.meta.dirname, '../..');
const projects = ['examples', 'fixtures/projects'].flatMap((parent) =>
  readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${parent}/${name}`),
);
/** Programs that a project runs, by its folder. */
const programs: Readonly<Record<string, readonly string[]>> = {
  'examples/nginx': ['nginx', 'openssl'],
  'examples/python': ['python3'],
};

/** Options of runners whose tests may take seconds only, which is too little on a busy machine. */
const options: Readonly<Record<string, string>> = {
  'examples/jest': ' --testTimeout 240000',
  'examples/vitest': ' --testTimeout 240000',
  'fixtures/projects/mocha': ' --timeout 240000',
};

/** Projects that compile much: only the long form runs them. */
const slow = new Set(['fixtures/projects/bundler', 'fixtures/projects/least-typescript']);

let folder: string;

before(() => {
  ({ folder } = installedPackage());
  for (const project of projects) {
    const filter = (path: string): boolean => basename(path) !== 'node_modules';
    cpSync(join(root, project), join(folder, project), { recursive: true, filter });
  }
});

interface Manifest {
  readonly scripts: { readonly test: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function readManifest(project: string): Manifest {
  return JSON.parse(readFileSync(join(root, project, 'package.json'), 'utf8'));
}

/** Returns why the project cannot run here, or undefined if it can. */
function reasonToSkip(project: string): string | undefined {
  if (onlyLong !== false && slow.has(project)) return onlyLong;
  const absent = (programs[project] ?? []).filter(
    (name) => spawnSync(name, ['--version']).error !== undefined,
  );
  if (absent.length > 0) return `${absent.join(' and ')} not installed`;
  const missing = listDependencies(project).filter(
    (name) => !existsSync(join(root, project, 'node_modules', name)),
  );
  if (missing.length > 0) return `${missing.join(' and ')} not installed: npm ci --prefix ${project}`;
  return undefined;
}

/** Returns the packages that a project needs besides Countersign, which is installed from the tarball. */
function listDependencies(project: string): string[] {
  const { dependencies, devDependencies } = readManifest(project);
  return Object.keys({ ...dependencies, ...devDependencies }).filter((name) => name !== 'countersign');
}

/** Links the installed packages of a project into its copy, except Countersign. */
function linkPackages(project: string): void {
  const installed = join(root, project, 'node_modules');
  const linked = join(folder, project, 'node_modules');
  if (listDependencies(project).length === 0) return;
  mkdirSync(linked);
  for (const name of readdirSync(installed)) {
    if (name !== 'countersign') symlinkSync(join(installed, name), join(linked, name));
  }
}

/** Runs a script of a project as `npm run` does, without the time that npm takes to start. */
function runScript(project: string, script: string): void {
  const paths = [
    ...[join(folder, project), folder].map((path) => join(path, 'node_modules/.bin')),
    process.env['PATH'],
  ];
  run('sh', ['-c', `PATH=$1; ${script}`, 'sh', paths.join(delimiter)], join(folder, project));
}

for (const project of projects) {
  test(`the tests of ${project} pass with the packed package`, (context) => {
    const reason = reasonToSkip(project);
    if (reason !== undefined) return context.skip(reason);
    linkPackages(project);
    runScript(project, readManifest(project).scripts.test + (options[project] ?? ''));
  });
}

test('every example depends on the package in the checkout', () => {
  for (const project of projects.filter((path) => dirname(path) === 'examples')) {
    const { dependencies, devDependencies } = readManifest(project);
    assert.equal({ ...dependencies, ...devDependencies }['countersign'], 'file:../..', project);
  }
});
