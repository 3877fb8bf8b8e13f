import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { before, test } from 'node:test';
import { onlyLong } from '../support/store/thoroughness.ts';
import { installedPackage, run as runIn } from './packed.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
let tarball: string;

/** Runs a program in the folder that has the package installed; its output, or the failure with all it said. */
function run(command: string, args: readonly string[]): string {
  return runIn(command, args, folder);
}

function script(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return run(process.execPath, [name]);
}

before(() => {
  ({ folder, tarball } = installedPackage());
});

const use = `
  const service = createService({ users: { ann: { secret: 's' } } });
  const { url } = await service.listen({});
  const content = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';
  const put = await signedFetch(url + '/articles/tea', {
    method: 'PUT', user: 'ann', secret: 's', body: content, headers: { 'Content-Type': 'application/xml' },
  });
  const get = await fetch(url + '/articles/tea');
  let events = 0;
  const parser = createParser({ startElement: () => { events += 1; } });
  parser.write(new TextEncoder().encode(await get.text()));
  parser.end();
  const headers = signRequest({ method: 'GET', url, user: 'ann', secret: 's' });
  console.log(put.status, get.status, events, Object.keys(headers).join());
  await service.close();
`;

test('the package installs no dependencies', () => {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/countersign']);
});

/** The files of the installed package with this ending, by their paths in it. */
function installedFiles(ending: string): readonly string[] {
  const names = readdirSync(installed(), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith(ending));
}

/** The scripts in CommonJS. The other ones are those in dist/esm, and the modules of the console. */
function commonJsScripts(): readonly string[] {
  const others = [join('dist', 'esm'), join('dist', 'console')];
  return installedFiles('.js').filter((name) => !others.some((folder) => name.startsWith(folder)));
}

function installed(): string {
  return join(folder, 'node_modules/countersign');
}

test('the package has at most 200 files and 5 MB', () => {
  const names = readdirSync(installed(), { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => statSync(join(installed(), name))).filter((file) => file.isFile());
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  assert.ok(files.length <= 200, `${files.length} files: join chunks in scripts/build.mjs`);
  assert.ok(bytes <= 5_000_000, `${bytes} bytes`);
});

test('no document of the package has a broken relative link', () => {
  const dead = installedFiles('.md').flatMap((name) => {
    const text = readFileSync(join(installed(), name), 'utf8').replace(/^```.*?^```/gms, '');
    const targets = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target = '']) => target);
    const relative = targets.filter((target) => !/^[a-z]+:/.test(target));
    return relative
      .filter((target) => !existsSync(join(installed(), dirname(name), target)))
      .map((to) => `${name}: ${to}`);
  });
  assert.ok(installedFiles('.md').length > 2);
  assert.deepEqual(dead, []);
});

/** Tells whether a script has a function besides those that load a chunk on first use. */
function hasFunction(name: string): boolean {
  const text = readFileSync(join(installed(), name), 'utf8');
  return /^(?:async )?function \w+\(/m.test(text);
}

test('every CommonJS script that defines functions has a source map with files of the repository', () => {
  const scripts = commonJsScripts().filter((name) => name.startsWith('dist') && hasFunction(name));
  assert.ok(scripts.length > 20);
  for (const name of scripts) {
    const path = join(installed(), name);
    assert.match(readFileSync(path, 'utf8'), /\n\/\/# sourceMappingURL=\S+\.js\.map\n$/, name);
    const { sources }: { sources: string[] } = JSON.parse(readFileSync(`${path}.map`, 'utf8'));
    for (const source of sources) {
      const inPackage = relative(installed(), join(dirname(path), source));
      assert.ok(existsSync(join(root, inPackage)), source);
    }
  }
});

test('a stack trace from the library shows lines and columns of its sources', () => {
  const text = `
    import { createService } from 'countersign';
    try { createService({ hmacSimple: 'some' }); } catch ({ stack }) { console.log(stack); }`;
  writeFileSync(join(folder, 'trace.mjs'), text);
  const stack = run(process.execPath, ['--enable-source-maps', 'trace.mjs']);
  const frames = [...stack.matchAll(/at (\w+) \(\S*countersign[\\/](src[\\/][^:)]+\.ts):(\d+):(\d+)\)/g)];
  const places = frames.map(([, , file = '', line, column]) => {
    const source = readFileSync(join(root, file), 'utf8').split('\n')[Number(line) - 1];
    return source?.slice(Number(column) - 1) ?? '';
  });
  assert.match(places[0] ?? '', /^new RangeError\('hmacSimple is not/, stack);
  // Each function was called by the next one.
  for (const [at, place] of places.slice(1).entries())
    assert.ok(place.startsWith(`${frames[at]?.[1]}(`), stack);
  assert.equal(frames.at(-1)?.[1], 'createService', stack);
});

test('no CommonJS script of the library calls import(), which Jest does not support', () => {
  for (const name of commonJsScripts()) {
    // The command loads the module of --module, which is an ES module.
    if (name.endsWith('/data.js')) continue;
    assert.doesNotMatch(readFileSync(join(installed(), name), 'utf8'), /\bimport\(/, name);
  }
});

test('the installed package serves the console, with all its modules in one script', () => {
  const text = `
    import { startDouble } from 'countersign/double';
    const double = await startDouble({ https: false });
    const { url } = await double.openControl();
    for (const path of ['/', '/console.js', '/console.css'])
      console.log(JSON.stringify(await (await fetch(url + path)).text()));
    await double.close();`;
  writeFileSync(join(folder, 'console.mjs'), text);
  const served = run(process.execPath, ['console.mjs']).trim().split('\n');
  const [document, script, style] = served.map((line) => String(JSON.parse(line)));
  const source = (name: string): string => readFileSync(join(root, 'src/console', name), 'utf8');
  assert.equal(document, source('index.html').replace(/<link rel="modulepreload".*\n/g, ''));
  assert.equal(style, source('console.css'));
  assert.doesNotMatch(script ?? '', /^import /m);
  const functions = readdirSync(join(root, 'src/console'))
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) =>
      Array.from(source(name).matchAll(/^export function (\w+)/gm), ([, each = '']) => each),
    );
  assert.ok(functions.length > 20);
  for (const name of functions) assert.match(script ?? '', new RegExp(`function ${name}\\d*\\(`));
});

test('nothing in the package is minified', () => {
  for (const name of installedFiles('.js')) {
    const lines = readFileSync(join(installed(), name), 'utf8').split('\n');
    const longest = Math.max(
      ...lines.filter((line) => !line.startsWith('export const {')).map((line) => line.length),
    );
    // A regular expression or a message may be long.
    assert.ok(longest < 1000, `${name} has a line of ${longest} characters`);
  }
});

test('the package can be imported as ES modules', () => {
  const text = `
    import { createService } from 'countersign';
    import { signedFetch, signRequest } from 'countersign/client';
    import { createParser } from 'countersign/xml';
    ${use}`;
  assert.equal(script('esm.mjs', text), '201 200 3 Date,Authentication\n');
});

test('the package can be required as CommonJS', () => {
  const text = `
    const { createService } = require('countersign');
    const { signedFetch, signRequest } = require('countersign/client');
    const { createParser } = require('countersign/xml');
    (async () => { ${use} })();`;
  assert.equal(script('commonjs.cjs', text), '201 200 3 Date,Authentication\n');
});

const double = `
  const double = await startDouble({ users: { ann: { secret: 's' } } });
  double.resource('/weather', { GET: action('anyone', async () => { throw new Problem('not-found', 'No weather.'); }) });
  const answers = [await double.fetch('/weather'), await double.as('ann').fetch('/articles'), await fetch(double.url)];
  console.log(...answers.map(({ status }) => status));
  await double.close();
`;

test('the required double responds with a Problem of the main entry', () => {
  const text = `
    const { action, Problem } = require('countersign');
    const { startDouble } = require('countersign/double');
    (async () => { ${double} })();`;
  assert.equal(script('double.cjs', text), '404 200 200\n');
});

test('import and require load the same classes and functions', () => {
  const text = `
    import { createRequire } from 'node:module';
    import { Problem } from 'countersign';
    import { XmlError } from 'countersign/xml';
    import { attack } from 'countersign/attack';
    const require = createRequire(import.meta.url);
    console.log(Problem === require('countersign').Problem);
    console.log(XmlError === require('countersign/xml').XmlError);
    console.log(attack === require('countersign/attack').attack);`;
  assert.equal(script('same.mjs', text), 'true\ntrue\ntrue\n');
});

test('every entry exports the same names to import and to require', () => {
  const text = `
    import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    for (const entry of ['', '/double', '/attack', '/client', '/xml']) {
      const [imported, required] = [await import('countersign' + entry), require('countersign' + entry)];
      const names = Object.keys(imported);
      console.log(names.length > 0, names.join() === Object.keys(required).sort().join());
    }`;
  assert.equal(script('names.mjs', text), 'true true\n'.repeat(5));
});

test('loading the double loads no module of Node.js for TLS, compression, fetch, performance or asynchronous files', () => {
  const text = `
    const before = new Set(process.moduleLoadList);
    require('countersign/double');
    const added = process.moduleLoadList.filter((name) => !before.has(name));
    console.log(added.filter((name) => /https|undici|internal\\/tls|zlib|perf_hooks|fs\\/promises/.test(name)).join());`;
  assert.equal(script('lazy.cjs', text), '\n');
});

test('a double loads no code of unused features to process a signed request', () => {
  const text = `
    const { startDouble } = require('countersign/double');
    (async () => {
      const double = await startDouble({ users: ['ann'] });
      const { status } = await double.as('ann').fetch('/articles');
      const chunks = Object.keys(require.cache).filter((path) => /[/\\\\]chunks[/\\\\]/.test(path));
      console.log(status, chunks.map((path) => path.replace(/.*[/\\\\]|[.]js$/g, '')).sort().join(' '));
      await double.close();
    })();`;
  assert.equal(script('loaded.cjs', text), '200 common double service signing\n');
});

test('a double rejects invalid content with 400 even after a test runner has reset its modules', () => {
  const text = `
    const { startDouble } = require('countersign/double');
    (async () => {
      const double = await startDouble({ users: ['ann'] });
      for (const path of Object.keys(require.cache)) delete require.cache[path];
      for (const [type, body] of [['application/json', '{'], ['application/xml', '<article>']]) {
        const headers = { 'Content-Type': type };
        const { status } = await double.as('ann').fetch('/articles', { method: 'POST', headers, body });
        console.log(status);
      }
      await double.close();
    })();`;
  assert.equal(script('reset.cjs', text), '400\n400\n');
});

test('the command signs with hmac without the code of the service and of the configuration', () => {
  const text = `
    const { spawnSync } = require('node:child_process');
    const { writeFileSync } = require('node:fs');
    const { join } = require('node:path');
    const program = require.resolve('countersign/package.json').replace('package.json', 'dist/server.js');
    const hook = join(__dirname, 'list-chunks.cjs');
    writeFileSync(hook, 'process.on("exit", () => console.log(Object.keys(require.cache).join(" ")))');
    const args = ['-r', hook, program, 'sign', 'GET', 'http://127.0.0.1/', '--user', 'ann'];
    const { stdout } = spawnSync(process.execPath, args, { env: { COUNTERSIGN_SECRET: 's3cret' }, encoding: 'utf8' });
    console.log(/hmac ann:/.test(stdout), stdout.match(/[a-z-]+(?=[.]js(?: |$))/gm).sort().join(' '));`;
  assert.equal(script('signs.cjs', text), 'true command common registration server sign signing\n');
});

test('the installed command prints its version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.equal(run(join(folder, 'node_modules/.bin/countersign'), ['--version']), `${version}\n`);
});

test('importing a module that is not exported throws ERR_PACKAGE_PATH_NOT_EXPORTED', () => {
  const text = "import('countersign/dist/service.js').catch(({ code }) => console.log(code));";
  assert.equal(script('private.mjs', text), 'ERR_PACKAGE_PATH_NOT_EXPORTED\n');
});

for (const [name, program, args] of [
  ['publint', 'publint/src/cli.js', ['run', '--strict']],
  ['arethetypeswrong', '@arethetypeswrong/cli/dist/index.js', ['--no-definitely-typed', '--format', 'ascii']],
] as const) {
  test(`${name} reports no problem in the tarball`, {
    skip: name === 'arethetypeswrong' && onlyLong,
  }, (context) => {
    const path = join(root, 'test/node_modules', program);
    if (!existsSync(path)) return context.skip(`${name} is not installed: npm ci --prefix test`);
    const said = run(process.execPath, [path, ...args, tarball]);
    assert.match(said, /All good!|No problems found/);
  });
}

for (const [name, module, resolution] of [
  ['nodenext', 'nodenext', 'nodenext'],
  ['bundler', 'esnext', 'bundler'],
] as const) {
  test(`TypeScript finds the types under moduleResolution ${resolution}`, () => {
    const project = join(folder, name);
    mkdirSync(project);
    const text = `
      import { action, createService, type Resource, xml } from 'countersign';
      import { type AttackReport, attack } from 'countersign/attack';
      import { signRequest } from 'countersign/client';
      import { type Double, type DoubleSnapshot, startDouble } from 'countersign/double';
      import { createParser, XmlError } from 'countersign/xml';
      const weather: Resource = { GET: action('anyone', async (call) => xml(call.path)) };
      const service = createService({ resources: { '/weather/{city}': weather } });
      const listening: Promise<{ url: string; port: number }> = service.listen({ port: 0 });
      const headers: Record<string, string> = signRequest({ method: 'GET', url: 'http://a/', user: 'u', secret: 's' });
      export async function trial(): Promise<DoubleSnapshot> {
        const double: Double = await startDouble({ users: { ann: {} }, resources: { '/weather': weather } });
        const reply: Response = await double.as('ann', { scheme: 'basic' }).fetch('/articles', { method: 'HEAD' });
        double.clock.advance(reply.ok ? '11m' : 500);
        await double.close();
        return double.snapshot();
      }
      createParser({ text: (data: string) => data.length }).end();
      export const report: Promise<AttackReport> = attack('http://a/', []);
      export const line = (error: XmlError): number => error.line;
      export { headers, listening };`;
    writeFileSync(join(project, 'use.ts'), text);
    writeFileSync(join(project, 'use.cts'), text);
    const options = {
      module,
      moduleResolution: resolution,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: ['node'],
    };
    const files = resolution === 'nodenext' ? ['use.ts', 'use.cts'] : ['use.ts'];
    const typeRoots = [join(root, 'node_modules/@types')];
    // Once is enough for the declarations themselves, which takes most of the time.
    const skipLibCheck = resolution !== 'nodenext';
    const compilerOptions = { ...options, strict: true, noEmit: true, skipLibCheck, typeRoots };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    run(process.execPath, [join(root, 'node_modules/@typescript/native/bin/tsc'), '-p', project]);
  });
}
