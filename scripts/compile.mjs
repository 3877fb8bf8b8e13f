// Compiles src, test and bench to JavaScript, so that the processes of a test run do not have to: compiling TypeScript would
// take most of the time of a test file's start.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folders = ['src', 'test', 'bench'];

/** The output directory, with the same folders as the repository. */
export const compiled = join(root, '.compiled');

/** Compiles changed files and removes the output of deleted ones. `npm run check` checks the types. */
export async function compile() {
  const sources = folders.flatMap((folder) => filesIn(root, folder, '.ts'));
  const outputs = new Set(sources.map((name) => name.replace(/\.ts$/, '.js')));
  for (const name of folders.flatMap((folder) => filesIn(compiled, folder, '.js')))
    if (!outputs.has(name)) rmSync(join(compiled, name));
  const since = changedAt(fileURLToPath(import.meta.url));
  const isChanged = (name) => {
    const at = changedAt(join(compiled, name.replace(/\.ts$/, '.js')));
    return at < since || at < changedAt(join(root, name));
  };
  await Promise.all(sources.filter(isChanged).map(compileFile));
}

/** Returns the paths of the files in a folder whose names have this end, relative to `base`. */
function filesIn(base, folder, end) {
  mkdirSync(join(base, folder), { recursive: true });
  return readdirSync(join(base, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}

/** Returns when a file was written last (ms); 0 if there is none. */
function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Writes the code of a file and its source map. */
async function compileFile(name) {
  const [source, output] = [join(root, name), join(compiled, name.replace(/\.ts$/, '.js'))];
  const { code, map } = await transform(withImportMeta(readFileSync(source, 'utf8'), source), {
    loader: 'ts',
    target: 'es2022',
    sourcefile: relative(dirname(output), source),
    sourcemap: 'external',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(`${output}.map`, map);
  writeFileSync(output, `${withPathsOfOutputs(code)}//# sourceMappingURL=${basename(output)}.map\n`);
}

/** Sets `import.meta` of a compiled module to that of its source, so that the module finds files that are not compiled. */
function withImportMeta(text, source) {
  if (!text.includes('import.meta.')) return text;
  const meta = { dirname: dirname(source), url: pathToFileURL(source).href };
  return text.replace(
    /^(#!.*\n)?/,
    (first) => `${first}Object.assign(import.meta, ${JSON.stringify(meta)}); `,
  );
}

/** Replaces `.ts` by `.js` at the end of the relative paths that are imported. */
function withPathsOfOutputs(code) {
  return code.replace(/\b(from |import |import\()"(\.{1,2}\/[^"\n]*)\.ts"/g, '$1"$2.js"');
}
