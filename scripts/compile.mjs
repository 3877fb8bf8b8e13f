// Compiles what tests and benchmarks are made of, so that no process of a whole run has to: reading TypeScript is most of
// what a test file's start costs.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Where what was compiled stands, in the folders it has in the repository. */
export const compiled = join(root, '.compiled');

/** Compiles what has changed. Types are judged by `npm run check`. */
export function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = join(root, 'tsconfig.test.json');
  const { status } = spawnSync(process.execPath, [compiler, '-p', project], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  for (const folder of ['src', 'test', 'bench']) {
    const sources = new Set(filesOf(join(root, folder)));
    for (const name of filesOf(join(compiled, folder)).filter((each) => each.endsWith('.js'))) {
      const source = name.replace(/\.js$/, '.ts');
      if (sources.has(source)) settle(join(compiled, folder, name), join(root, folder, source));
      else rmSync(join(compiled, folder, name));
    }
  }
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

/** Has a module think it stands where its source does, so that it finds fixtures and whatever else is not compiled. */
function settle(path, source) {
  const text = readFileSync(path, 'utf8');
  const place = { dirname: dirname(source), url: pathToFileURL(source).href };
  const settling = `Object.assign(import.meta, ${JSON.stringify(place)}); `;
  if (!text.includes('import.meta.') || text.includes(settling)) return;
  writeFileSync(
    path,
    text.replace(/^(#!.*\n)?/, (first) => first + settling),
  );
}
