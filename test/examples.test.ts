import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { installPacked, run } from './packed.ts';

const projects = join(import.meta.dirname, '../fixtures/projects');
let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-projects-'));
  installPacked(folder);
  cpSync(projects, join(folder, 'projects'), {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  });
});

after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What a project says of itself. */
function manifestOf(name: string): { scripts: { test: string }; devDependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(projects, name, 'package.json'), 'utf8'));
}

/** Why the project cannot be tried here; undefined where it can. */
function hindrance(name: string): string | undefined {
  if (process.env['SKIP_PROJECTS'] !== undefined) return 'SKIP_PROJECTS is set';
  const needed = Object.keys(manifestOf(name).devDependencies ?? {});
  const missing = needed.filter((each) => !existsSync(join(projects, name, 'node_modules', each)));
  if (missing.length === 0) return undefined;
  return `${missing.join(' and ')} not installed: npm ci --prefix fixtures/projects/${name}`;
}

for (const name of readdirSync(projects)) {
  if (name === 'clients') continue;
  test(`the project ${name} passes with the packed double`, (context) => {
    const reason = hindrance(name);
    if (reason !== undefined) return context.skip(reason);
    const project = join(folder, 'projects', name);
    const installed = join(projects, name, 'node_modules');
    if (existsSync(installed)) symlinkSync(installed, join(project, 'node_modules'));
    run('npm', ['test'], project);
  });
}
