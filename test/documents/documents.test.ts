import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { before, describe, test } from 'node:test';
import { once } from '../../src/once.ts';
import {
  type Block,
  documentPaths,
  listAnchors,
  type Page,
  readPage,
  relativeLinks,
  root,
} from '../support/documents/markdown.ts';
import { freePorts, missingPrograms, runSession } from '../support/documents/shell.ts';
import { missingPackage } from '../support/packages.ts';
import { onlyLong } from '../support/store/thoroughness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { expectOutput, stable } from './compare.ts';

const pages = documentPaths().map(readPage);
const readme = readPage('README.md');
const manifest: { files: string[]; exports: Record<string, unknown> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

/** Languages of blocks that are run. */
const executed = new Set(['sh', 'js', 'diff']);
/** Languages of blocks that are shown only. */
const shown = new Set([
  '',
  'caddyfile',
  'console',
  'haproxy',
  'json',
  'nginx',
  'python',
  'sql',
  'text',
  'ts',
  'xml',
  'yaml',
]);

/** Sections whose scripts only the long form runs. */
const slow = new Set(['docs/adversary.md: Configured schemes']);

/** The package with which a double reads YAML. */
const yaml = 'yaml';

const folder = temporaryDirectory();

before(() => {
  assert.ok(isRepositoryFile('dist/server.js'), 'dist is not built: npm run build');

  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/countersign'));
  for (const name of new Set([yaml, ...pages.flatMap(listScripts).flatMap(({ text }) => listPackages(text))]))
    symlinkSync(join(root, 'test/node_modules', name), join(folder, 'node_modules', name));
});

/** Runs Node.js; returns its exit status and all output. */
function node(cwd: string, ...args: string[]): { status: number | null; output: string } {
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...environment } = process.env;
  const env = { ...environment, NODE_OPTIONS: '', NODE_V8_COVERAGE: '', NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 240_000,
  });
  return { status, output: stdout + stderr };
}

function isRepositoryFile(path: string): boolean {
  return existsSync(join(root, path));
}

/** Returns the JavaScript blocks of a page that are run: those of a file are compared with it. */
function listScripts({ blocks }: Page): Block[] {
  return blocks.filter(({ language, file }) => language === 'js' && file === undefined);
}

const hasImports = ({ text }: Block): boolean => /^import /m.test(text);

/** Returns a block as a script that closes what it opens: one without imports continues the last one that has some. */
function buildScript(block: Block, before: readonly Block[]): string {
  const start = hasImports(block) ? block : before.findLast(hasImports);
  assert.ok(start !== undefined, `a block with imports stands before\n${block.text}`);
  const opened = /const (double|service) = /.exec(start.text)?.[1];
  const continuation = start === block ? '' : block.text;
  const isClosed = opened === undefined || start.text.includes(`${opened}.close()`);
  if (isClosed) return `${start.text}${continuation}`;
  return `${start.text}\ntry {\n${continuation}} finally {\nawait ${opened}.close();\n}\n`;
}

function importsUnexported(script: string): string | undefined {
  const entries = [...script.matchAll(/'countersign\/(\w+)'/g)].map(([, name]) => `./${name}`);
  return entries.find((entry) => !(entry in manifest.exports));
}

/** Returns the packages of others that a script imports, or needs for a document in YAML. */
function listPackages(script: string): string[] {
  const imported = script.matchAll(/^import .* from '(?!node:|countersign\b)((?:@[^/']+\/)?[^/']+)/gm);
  const read = script.includes(".yaml'") ? [yaml] : [];
  return [...imported].map(([, name = '']) => name).concat(read);
}

/** Writes the files of a page that its reader creates. */
function writeOwnFiles({ blocks }: Page, directory: string): void {
  for (const { file, text } of blocks)
    if (file !== undefined && !isRepositoryFile(file))
      writeFileSync(join(directory, file), text, { mode: 0o600 });
}

const isOfTests = (script: string): boolean => script.includes("'node:test'");

/** Returns why a script is not run, or undefined if it is. */
function reasonToSkip({ path }: Page, { section }: Block, script: string): string | undefined {
  if (onlyLong !== false && slow.has(`${path}: ${section}`)) return onlyLong;
  const unexported = importsUnexported(script);
  if (unexported !== undefined) return `the package does not export ${unexported}`;
  return (
    listPackages(script)
      .map(missingPackage)
      .find((absent) => absent !== false) || undefined
  );
}

/**
 * Runs the scripts of a page that contain no tests one after the other in one process, in which the package is loaded once. Returns
 * whether each failed, and what it wrote, by its place among the scripts.
 */
function runTogether(page: Page, slug: string): ReadonlyMap<number, { failed: boolean; output: string }> {
  writeOwnFiles(page, folder);
  const scripts = [...listScripts(page).entries()].flatMap(([at, block]) => {
    const script = buildScript(block, listScripts(page).slice(0, at));
    if (isOfTests(script) || reasonToSkip(page, block, script) !== undefined) return [];
    const name = `${slug}-${at}.mjs`;
    writeFileSync(join(folder, name), script);
    return [{ at, name }];
  });
  const runner = `process.stderr.write = process.stdout.write.bind(process.stdout);
for (const { at, name } of ${JSON.stringify(scripts)}) {
  const failed = await import('./' + name).then(() => false, (error) => (console.log(error), true));
  await new Promise(setImmediate);
  console.log(\`\\n--- end of \${at}\${failed ? ', failed' : ''} ---\`);
}
`;
  writeFileSync(join(folder, `${slug}.mjs`), runner);
  const { output } = node(folder, `${slug}.mjs`);
  const ended = output.matchAll(/(.*?)\n--- end of (\d+)(, failed)? ---\n/gs);
  return new Map(
    Array.from(ended, ([, text = '', at, failed]) => [
      Number(at),
      { failed: failed !== undefined, output: text },
    ]),
  );
}

/** Runs the tests in a copy of an example of which one file is changed as a `diff` block says. */
function runChanged(name: string, block: Block): string {
  const file = block.file ?? '';
  const lines = (sign: string): string =>
    block.text
      .split('\n')
      .filter((line) => line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  const original = readFileSync(join(root, file), 'utf8');
  assert.equal(original.split(lines('-')).length, 2, `${file} contains the removed lines once`);
  const copy = join(folder, name);
  const filter = (path: string): boolean => basename(path) !== 'node_modules';
  cpSync(join(root, dirname(file)), copy, { recursive: true, filter });
  writeFileSync(
    join(copy, basename(file)),
    original.replace(lines('-'), () => lines('+')),
  );
  const { status, output } = node(copy, '--test', '--test-reporter=spec');
  assert.equal(status, 1, output);
  return output;
}

for (const page of pages) {
  const slug = page.path.replace(/\W/g, '-');
  const commands = page.blocks.filter(({ language }) => language === 'sh');

  describe(page.path, () => {
    test('every block has a known language, and an output only follows a block that is run', () => {
      for (const { language, text, output, file } of page.blocks) {
        assert.ok(executed.has(language) || shown.has(language), `"${language}" of\n${text}`);
        if (output !== undefined) assert.ok(executed.has(language) && (language === 'diff' || !file), text);
        if (language === 'json') assert.doesNotThrow(() => JSON.parse(text), text);
      }
    });

    test('every block that names a file of the repository is part of that file', () => {
      for (const { language, file, text } of page.blocks) {
        if (file === undefined || language === 'diff' || !isRepositoryFile(file)) continue;
        assert.ok(readFileSync(join(root, file), 'utf8').includes(text), `${file} contains\n${text}`);
      }
    });

    test('every relative link refers to a file of the repository and, with a fragment, to a heading', () => {
      for (const link of relativeLinks(page)) {
        const [path = '', fragment] = link.split('#');
        const target = path === '' ? page.path : normalize(join(dirname(page.path), path));
        assert.ok(isRepositoryFile(target), `${page.path} links to ${link}`);
        if (fragment !== undefined)
          assert.ok(listAnchors(readPage(target)).has(fragment), `${page.path}: ${link}`);
      }
    });

    if (commands.length > 0) {
      test('the shell commands print what is shown', async (context) => {
        const missing = missingPrograms();
        if (missing.length > 0) return context.skip(`${missing.join(' and ')} not installed`);
        const session = join(folder, slug);
        mkdirSync(session);
        writeOwnFiles(page, session);
        const texts = commands.map(({ text }) => text);
        const { outputs, stderr } = await runSession(session, texts, await freePorts());
        assert.doesNotMatch(stderr, /command not found|syntax error/);
        for (const [at, block] of commands.entries()) {
          if (block.output !== undefined) expectOutput(page.path, block, outputs[at] ?? '', stderr);
        }
      });
    }

    const runOnce = once(() => runTogether(page, slug));
    for (const [at, block] of listScripts(page).entries()) {
      test(`the script ${at + 1}, under "${block.section}", prints what is shown`, (context) => {
        const script = buildScript(block, listScripts(page).slice(0, at));
        const reason = reasonToSkip(page, block, script);
        if (reason !== undefined) return context.skip(reason);
        if (!isOfTests(script)) {
          const { failed, output } = runOnce().get(at) ?? { failed: true, output: 'it has not ended' };
          assert.equal(failed, false, `${script}\n${output}`);
          expectOutput(page.path, block, output);
          return;
        }
        const name = `${slug}-${at}.mjs`;
        writeOwnFiles(page, folder);
        writeFileSync(join(folder, name), script);
        const { status, output } = node(folder, '--test-reporter=spec', name);
        assert.equal(status, block.output?.includes('✖') ? 1 : 0, output);
        assert.ok(stable(output).includes(stable(block.output ?? '')), output);
      });
    }

    for (const [at, block] of page.blocks.filter(({ language }) => language === 'diff').entries()) {
      test(`the mistake ${at + 1} in ${block.file} makes its tests fail as shown`, () => {
        const output = runChanged(`${slug}-change-${at}`, block);
        assert.ok(stable(output).includes(stable(block.output ?? '')), output);
      });
    }
  });
}

test('README.md has at most 150 lines and names the two commands on lines of their own', () => {
  const lines = readme.text.trimEnd().split('\n');
  assert.ok(lines.length <= 150, `${lines.length} lines`);
  assert.ok(lines.includes('npm ci && npm start') && lines.includes('npm ci && npm test'));
});

test('the index of docs/ links to every page', () => {
  const linked = new Set(relativeLinks(readPage('docs/README.md')));
  for (const { path } of pages.filter((page) => dirname(page.path) === 'docs')) {
    if (path !== 'docs/README.md') assert.ok(linked.has(basename(path)), path);
  }
});

test('operations.md lists every option of the server', () => {
  const { output } = node(root, 'dist/server.js', 'serve', '--help');
  const page = readPage('docs/operations.md').text;
  const options = [...output.matchAll(/^ {2}(--[a-z0-9-]+)/gm)].map(([, name = '']) => name);
  assert.ok(options.length > 30, output);
  for (const name of options) assert.ok(page.includes(`\`${name}\``), name);
});

/** Whether `npm pack` takes the file. */
function isPacked(path: string): boolean {
  if (['README.md', 'LICENSE', 'package.json'].includes(path)) return true;
  return manifest.files.some((entry) => path === entry || path.startsWith(`${entry}/`));
}

test('no document in the package links to a file outside of the package', () => {
  for (const page of pages.filter(({ path }) => isPacked(path))) {
    for (const link of relativeLinks(page)) {
      const [path = ''] = link.split('#');
      const target = path === '' ? page.path : normalize(join(dirname(page.path), path)).replace(/\/$/, '');
      const isFolder = isRepositoryFile(target) && statSync(join(root, target)).isDirectory();
      assert.ok(isPacked(target) || (isFolder && isPacked(`${target}/`)), `${page.path} links to ${link}`);
    }
  }
});

/** Returns the scripts in a folder and its folders. An installed package can be a link to the repository itself. */
function scriptsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : scriptsIn(path);
    return /\.(?:[cm]?[jt]s)$/.test(entry.name) ? [path] : [];
  });
}

test('no resource in a document or an example inserts a value into XML without escaping it', () => {
  const sources = scriptsIn(join(root, 'examples')).map((path) => ({
    path,
    text: readFileSync(path, 'utf8'),
  }));
  assert.ok(sources.length > 5);
  for (const { path, text } of [...pages, ...sources])
    assert.doesNotMatch(text, /\bxml\(\s*`[^`]*\$\{/, path);
});

test('the documents state the minimum version of TypeScript, with which a project is compiled', () => {
  const project: { devDependencies: { typescript: string } } = JSON.parse(
    readFileSync(join(root, 'fixtures/projects/least-typescript/package.json'), 'utf8'),
  );
  const [least] = /^[0-9]+\.[0-9]+/.exec(project.devDependencies.typescript) ?? [];
  for (const { path, text } of [readme, readPage('docs/library.md')])
    assert.ok(text.includes(`The types require TypeScript ${least} or later`), path);
});

test('the documents use standard English', () => {
  const avoided = /\b(?:tells?|told|whoever|lets go|namesakes?|the house)\b/i;
  for (const { path, text } of pages.filter((page) => page.path !== 'ARCHITECTURE.md')) {
    const [prose = ''] = text.split('<!-- results:');
    const line = prose.split('\n').find((each) => avoided.test(each));
    assert.equal(line, undefined, path);
  }
});
