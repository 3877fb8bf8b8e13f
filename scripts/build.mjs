// Builds dist:
//   dist/server.js      the command
//   dist/cjs            the library as CommonJS: a script for each entry of package.json, and shared code in chunks/
//   dist/esm            an ES module for each entry that re-exports the CommonJS entry, so that each class exists only once in
//                       a process
//   dist/console        the console: its document, its stylesheet, and one script with all its modules
//   *.d.ts              one file of declarations for each entry and module format (declarations.mjs)
//   *.js.map            source maps with the positions of stack traces, but without the sources
// The scripts are bundled but not minified. Loading 300 separate modules would double the time of a start, and so would the
// ES module loader compared with `require`. A module that is loaded with `import()` is in a separate chunk.
// The time of a start depends mostly on how much code it loads, and from how many files. So the chunks follow the entries and
// commands, and what many starts do not need is loaded on first use: by `import()` each command, the data directory, HTTPS, the
// control interface, the XML reader and the explanation of a wrong signature; by a `require` that the build writes into the
// functions that call it (`onFirstUse`) the configured schemes, the OAuth endpoints, the catalogue of mistakes, the JSON reader,
// certificates, the texts of the journal, faults, stubs and the attacks.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build, transform } from 'esbuild';
import { rollup } from 'rollup';
import { writeDeclarations } from './declarations.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const require = createRequire(import.meta.url);

/** The entries of the library, by their paths in src and dist. If several export a type, the first of them declares it. */
const entries = [
  'index',
  'client/index',
  'attack/index',
  'xml/index',
  'store/contract/index',
  'postgres/index',
  'redis/index',
  'double/index',
  'double/matchers/index',
];

/** Strips the types of a module. */
const typescript = {
  name: 'typescript',
  async transform(code, id) {
    const options = { loader: 'ts', target: 'node20', sourcefile: id, sourcemap: true };
    const { code: stripped, map } = await transform(code, options);
    return { code: stripped.replace(/[^\0-\x7f]/g, escaped), map };
  },
  // The path of --module is known only when the command runs, and the module is an ES module.
  renderDynamicImport({ moduleId, targetModuleId }) {
    const isUserModule = targetModuleId === null && moduleId === source('cli/module/load-module');
    return isUserModule ? { left: 'import(', right: ')' } : null;
  },
  resolveImportMeta(property) {
    if (property === 'url') return "require('node:url').pathToFileURL(__filename).href";
    throw new Error(`import.meta.${property} has no counterpart in CommonJS`);
  },
};

/** Escapes a character in a comment; strings are escaped already. V8 reads a script faster if it is ASCII. */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * The chunks. Each contains the listed modules and their imports, except those in a previous chunk and those listed in another
 * chunk of `onFirstUse`. Without them, there would be a small chunk for each set of entries and commands that share a module:
 * 98 in place of 31, and each file adds a third of a millisecond to a start. Commands that are rarely used share one chunk.
 */
const chunks = {
  common: [
    'accounts/registered',
    'accounts/quota-policy',
    'countersign-error',
    'duration',
    'http/headers/date',
    'http/syntax/control-character',
    'http/syntax/ip-address',
    'oauth/lifetimes',
    'oauth/oauth2-options',
    'oauth/paths',
    'once',
    'pipeline/cors-policy',
    'pipeline/origin',
    'pipeline/proxy',
    'pipeline/resource',
    'shape/duration',
    'shape/shape',
    'store/errors',
    'store/files/error-code',
    'timers',
    'xml/name-form',
  ],
  signing: [
    'accounts/parse-account-key',
    'accounts/user-name',
    'client/private-key',
    'client/sign',
    'client/signed-fetch',
    'client/redirect',
    'client/fetch-target',
    'http/structured-fields/parse',
    'http/syntax/token',
    'http/syntax/percent',
  ],
  writing: ['xml/writer', 'xml/names'],
  xml: ['xml/index'],
  registration: ['accounts/registration', 'oauth/oauth2-shape'],
  command: [
    'cli/main',
    'cli/output-errors',
    'cli/errors',
    'cli/command-table',
    'cli/help',
    'cli/mask-secrets',
    'cli/accounts/secret-input',
    'options/table',
    'options/flags',
  ],
  // Signing a request by hmac loads neither the service nor the configuration.
  sign: ['cli/commands/sign'],
  service: [
    'service/service',
    'accounts/secret-box',
    'schemes/decoded-secret',
    'schemes/hmac/signature',
    'schemes/verify',
    'collections/formats/json/content-reader',
    'http/field-lines',
    'oauth/oauth1/secrets',
    'pipeline/thrown-problem',
  ],
  oauth: [
    'oauth/oauth1/authorization',
    'oauth/oauth1/parameters',
    'oauth/oauth1/signature',
    'oauth/oauth1/token-endpoints',
    'oauth/consent/consents',
    'oauth/oauth2/authorization',
    'oauth/oauth2/client-authentication',
    'oauth/oauth2/issued-tokens',
    'oauth/oauth2/metadata',
    'oauth/oauth2/openid',
    'oauth/oauth2/reasons',
    'oauth/oauth2/token',
    'oauth/oauth2/client-assertion',
    'oauth/oauth2/dpop',
    'oauth/oauth2/token-signer',
    'oauth/oauth2/trusted-issuers',
    'net/fetch-json',
  ],
  double: ['double/double'],
  schemes: [
    'schemes/declared/options',
    'schemes/rfc9421/options',
    'schemes/api-key/options',
    'schemes/api-key/scheme',
    'schemes/aws4/options',
    'schemes/aws4/scheme',
    'schemes/declared/scheme',
    'schemes/defined/scheme',
    'schemes/draft-cavage/scheme',
    'schemes/rfc9421/scheme',
    'client/read-declaration',
    'schemes/declared/signing',
  ],
  verification: ['schemes/explain/sent-keys'],
  reading: ['collections/formats/xml/decoder'],
  explanation: [
    'oauth/oauth1/mistakes',
    'oauth/oauth1/parameter-mistakes',
    'schemes/aws4/mistakes',
    'schemes/draft-cavage/mistakes',
    'schemes/explain/content',
    'schemes/explain/explain',
    'schemes/rfc9421/mistakes',
  ],
  items: [
    'collections/formats/json/writer',
    'collections/formats/json/content',
    'collections/formats/json/decoder',
    'collections/fields/pattern/ecma-syntax',
    'collections/fields/pattern/syntax',
    'collections/idempotency-key',
    'collections/lists/query',
    'collections/lists/searched-list',
  ],
  certificate: ['net/tls/certificate'],
  journal: [
    'double/journal/match',
    'double/journal/mistakes',
    'double/journal/verdict',
    'double/journal/view',
  ],
  rules: [
    'double/faults/declaration',
    'double/match',
    'double/stubs/content',
    'double/stubs/declaration',
    'double/stubs/response',
  ],
  attack: [
    'attack/create-attempts',
    'attack/run',
    'attack/signers',
    'attack/oauth/attack-oauth2',
    'attack/oauth/attack-oauth1',
    'net/raw-client',
  ],
  // A store in a directory loads nothing of the command.
  files: ['store/files/atomic-write', 'store/files/lock'],
  store: ['store/durable-store'],
  configuration: ['options/options', 'cli/accounts/credentials', 'cli/serve/notices', 'cli/with-module'],
  serve: ['cli/commands/serve', 'cli/serve/compose'],
  partner: ['cli/serve/partner', 'double/partner/partner'],
  openapi: ['service/openapi/create'],
  control: ['double/control/control', 'cli/serve/control'],
  signatures: [
    'schemes/api-key/signature',
    'schemes/aws4/signature',
    'schemes/declared/signature',
    'schemes/defined/signature',
    'schemes/rfc9421/signature',
    'service/sign-responses',
  ],
  data: [
    'cli/tls/open-certificate',
    'accounts/account-files',
    'accounts/clients',
    'accounts/signing-keys',
    'accounts/users',
    'accounts/watcher',
    'accounts/revocations',
    'cli/accounts/account-files',
    'cli/accounts/revocation',
    'cli/accounts/secret-box-key',
    'cli/serve/data-directory',
    'cli/module/load-module',
    'cli/module/module-data',
    'cli/module/request-hook',
  ],
  maintenance: [
    'cli/commands/user',
    'cli/commands/client',
    'cli/commands/consumer',
    'cli/commands/key',
    'cli/configured-scheme',
    'cli/commands/copy',
    'cli/commands/export',
    'cli/commands/grant',
    'cli/commands/import',
    'cli/commands/check',
    'cli/commands/openapi',
    'cli/inspect-data',
    'schemes/unsigned-parts',
    'cli/commands/schema',
    'cli/commands/attack',
    'cli/commands/completion',
  ],
};

/**
 * The chunks of features that many starts do not use. A chunk that imports one of them loads it when it first uses one of its
 * names, because most of the time of a start is spent on compiling what is loaded.
 */
const onFirstUse = [
  'writing',
  'registration',
  'schemes',
  'verification',
  'explanation',
  'oauth',
  'items',
  'certificate',
  'journal',
  'rules',
  'attack',
];

const listedOnFirstUse = new Set(onFirstUse.flatMap((name) => chunks[name].map(source)));

/** Returns a function that finds the first chunk that contains a module; undefined leaves the choice to the bundler. */
function createChunkOf() {
  const contents = new Map();
  return (id, { getModuleInfo }) =>
    Object.keys(chunks).find((name) => {
      if (!contents.has(name)) contents.set(name, imported(chunks[name].map(source), getModuleInfo));
      return contents.get(name).has(id);
    });
}

/** Returns the modules with these paths and their static imports, except those listed in a chunk of `onFirstUse`. */
function imported(paths, getModuleInfo) {
  const found = new Set(paths);
  for (const path of found) {
    const module = getModuleInfo(path);
    if (module === null) throw new Error(`${path} is not part of the bundle`);
    for (const id of module.importedIds) if (!listedOnFirstUse.has(id)) found.add(id);
  }
  return found;
}

/** Replaces the imports of the chunks of `onFirstUse` by objects whose members load the chunk. */
const lazyImports = {
  name: 'lazy-imports',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle).filter(({ type }) => type === 'chunk'))
      for (const path of chunk.imports.filter((path) => onFirstUse.includes(bundle[path]?.name)))
        chunk.code = importedLazily(chunk.code, posix.basename(path), chunk.importedBindings[path]);
  },
};

/**
 * Returns the code with the import of a chunk replaced. The members are at its end, so that all lines of the source map stay
 * where they are.
 */
function importedLazily(code, file, names) {
  const pattern = new RegExp(`^const ([\\w$]+) = require\\(('\\.[^']*/${file}')\\);$`, 'm');
  const [statement, variable, path] = pattern.exec(code) ?? [];
  if (statement === undefined) throw new Error(`the import of ${file} is not found`);
  const members = names.map((name) => `    get ${name}() { return load().${name}; },\n`);
  const imported = code.replace(statement, () => `const ${variable} = ${variable}$onFirstUse();`);
  const last = imported.lastIndexOf('//# sourceMappingURL=');
  return `${imported.slice(0, last)}
function ${variable}$onFirstUse() {
  let loaded;
  const load = () => (loaded ??= require(${path}));
  return {
${members.join('')}  };
}
${imported.slice(last)}`;
}

/**
 * Keeps the positions in source maps that a stack trace can contain: where a line, a statement of another line, a call, a
 * construction or a member begins. The sources are not part of the package, and the maps of all tokens are larger than the
 * scripts.
 */
const tracedPositions = {
  name: 'traced-positions',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle).filter(({ type }) => type === 'chunk')) {
      const file = bundle[chunk.sourcemapFileName];
      const map = JSON.parse(file.source);
      const lines = chunk.code.split('\n');
      const kept = decode(map.mappings).map((segments, at) => segments.filter(isTraced(lines[at])));
      file.source = JSON.stringify({ ...map, mappings: encode(kept) });
      if (kept.some((segments) => segments.length > 0)) continue;
      // The chunk only exports names of other chunks.
      delete bundle[chunk.sourcemapFileName];
      chunk.code = chunk.code.replace(/\/\/# sourceMappingURL=.*\n$/, '');
    }
  },
};

/** Returns a filter of the segments of a line. */
function isTraced(line) {
  return ([column, source, sourceLine], at, segments) => {
    const [, previousSource, previousLine] = segments[at - 1] ?? [];
    if (source !== previousSource || sourceLine !== previousLine) return true;
    return line[column - 1] === '.' || /^(?:new |throw |[\w$]+\()/.test(line.slice(column));
  };
}

/** Returns the path of a module in src. */
function source(module) {
  return join(root, 'src', `${module}.ts`);
}

async function writeScripts() {
  const library = entries.map((entry) => [`cjs/${entry}`, source(entry)]);
  const bundle = await rollup({
    input: { server: source('server'), ...Object.fromEntries(library) },
    external: /^node:/,
    plugins: [typescript, lazyImports, tracedPositions],
    treeshake: { moduleSideEffects: false },
    onwarn(warning) {
      // A chunk that is loaded on first use may import the one that loads it.
      if (warning.code === 'CIRCULAR_CHUNK' && warning.ids.some((name) => onFirstUse.includes(name))) return;
      throw new Error(warning.message);
    },
  });
  await bundle.write({
    dir: dist,
    format: 'cjs',
    entryFileNames: '[name].js',
    chunkFileNames: 'cjs/chunks/[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    exports: 'named',
    esModule: true,
    externalLiveBindings: false,
    freeze: false,
    hoistTransitiveImports: false,
    manualChunks: createChunkOf(),
    interop: 'default',
    dynamicImportInCjs: false, // Jest does not support import() in CommonJS
    generatedCode: { preset: 'es2015', symbols: false },
  });
  await bundle.close();
}

/** Writes the ES module that re-exports a CommonJS entry. */
function writeModule(entry) {
  const file = join(dist, 'esm', `${entry}.js`);
  const names = Object.keys(require(join(dist, 'cjs', `${entry}.js`)));
  const path = posix.relative(posix.dirname(`esm/${entry}`), `cjs/${entry}.js`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `import library from '${path}';\n\nexport const { ${names.sort().join(', ')} } = library;\n`,
  );
}

/** Writes the console. In `src`, a browser loads each of its modules from the control port; here they are one script. */
async function writeConsole() {
  const [from, to] = [join(root, 'src', 'console'), join(dist, 'console')];
  const served = {
    name: 'served',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\/console\// }, ({ path }) => ({ path: join(root, 'src', path) })),
  };
  const options = { bundle: true, format: 'esm', target: 'es2022', charset: 'utf8', plugins: [served] };
  await build({ ...options, entryPoints: [join(from, 'console.js')], outfile: join(to, 'console.js') });
  cpSync(join(from, 'console.css'), join(to, 'console.css'));
  const document = readFileSync(join(from, 'index.html'), 'utf8');
  writeFileSync(join(to, 'index.html'), document.replace(/<link rel="modulepreload".*\n/g, ''));
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, 'esm'), { recursive: true });
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(join(dist, 'esm', 'package.json'), '{ "type": "module" }\n');
await Promise.all([writeScripts(), writeDeclarations(root, entries)]);
for (const entry of entries) writeModule(entry);
await writeConsole();
chmodSync(join(dist, 'server.js'), 0o755);
