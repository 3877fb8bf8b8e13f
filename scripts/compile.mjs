// Compiles src, test and bench to JavaScript, so that the processes of a test run do not have to: compiling TypeScript would
// take most of the time of a test file's start.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The output directory, with the same folders as the repository. */
export const compiled = join(root, '.compiled');

/** Compiles changed files and removes the output of deleted ones. `npm run check` checks the types. */
export function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = join(root, 'tsconfig.test.json');
  const { status } = spawnSync(process.execPath, [compiler, '-p', project], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  for (const folder of ['src', 'test', 'bench']) {
    const sources = new Set(filesOf(join(root, folder)));
    for (const name of filesOf(join(compiled, folder)).filter((each) => each.endsWith('.js'))) {
      const source = name.replace(/\.js$/, '.ts');
      if (sources.has(source)) setImportMeta(join(compiled, folder, name), join(root, folder, source));
      else rmSync(join(compiled, folder, name));
    }
  }
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

/** Sets `import.meta` of a compiled module to that of its source, so that the module finds files that are not compiled. */
function setImportMeta(path, source) {
  const text = readFileSync(path, 'utf8');
  const meta = { dirname: dirname(source), url: pathToFileURL(source).href };
  const assignment = `Object.assign(import.meta, ${JSON.stringify(meta)}); `;
  if (!text.includes('import.meta.') || text.includes(assignment)) return;
  writeFileSync(
    path,
    text.replace(/^(#!.*\n)?/, (first) => first + assignment),
  );
}
