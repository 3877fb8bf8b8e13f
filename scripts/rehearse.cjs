// Starts what was built, in a process of its own, and writes down in a file what came of it:
// rehearse.cjs WHAT KIND SCRIPT DATA FILE. KIND is what is started, `library` or `command`; DATA a directory for the command to
// keep its own in. WHAT is
//   modules  which modules were loaded in each step, and what each exports
//   caches   what V8 has compiled of the script, and of those that it loads, in the end: a file for each, beside it
'use strict';
const { writeFileSync } = require('node:fs');
const { get } = require('node:http');
const { createServer } = require('node:net');
const { basename, dirname, join } = require('node:path');

const [what, kind, script, data, file] = process.argv.slice(2);
const dist = dirname(script);
for (const name of Object.keys(process.env)) if (name.startsWith('COUNTERSIGN_')) delete process.env[name];

let plain;
let port;

/** The first step is what every start takes, the others what many do. */
const steps = {
  library: [
    async (load) => {
      const { startDouble } = load('double/index.js');
      plain = await startDouble({ users: { ann: {} }, https: false });
    },
    async (load) => (await load('double/index.js').startDouble({ users: { ann: {} } })).close(),
    () => askOften(plain.url),
    async () => {
      const { status } = await plain.as('ann').fetch('/articles');
      if (status !== 200) throw new Error(`the library does not work: ${status}`);
      await plain.close();
    },
    // An ES module names all.
    async (load) => void [load('index.js'), load('double/index.js')].map(Object.values),
  ],
  command: [
    async (load) => {
      port = await freePort();
      await start(load, '--no-tls', '--memory', '--port', port);
    },
    () => askOften(`http://127.0.0.1:${port}`),
    async (load) => {
      await start(load, '--memory');
      await start(load, '--data', join(data, 'known'));
      await start(load, '--data', join(data, `new ${process.pid}`));
    },
  ],
}[kind];

/** What is asked for first, as a rule: what there is, and what is not there. */
async function askOften(url) {
  for (const path of ['/', '/articles', '/articles/1']) await ask(`${url}${path}`);
}

function ask(url) {
  return new Promise((resolve, reject) =>
    get(url, (reply) => reply.resume().on('end', resolve)).on('error', reject),
  );
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port: free } = server.address();
      server.close(() => resolve(String(free)));
    });
  });
}

async function start(load, ...options) {
  const common = ['--tls-port', '0', '--log', 'off', ...(options.includes('--port') ? [] : ['--port', '0'])];
  const status = await load('cli/main.js').main([...common, ...options], join(dist, '..'));
  if (status !== undefined) throw new Error(`the command does not start: ${status}`);
}

async function modules() {
  const used = new Set();
  const { load, all } = require(script)((name) => used.add(name));
  const loaded = [];
  for (const step of steps) {
    await step(load);
    loaded.push([...used].filter((name) => !loaded.flat().includes(name)));
  }
  const members = (name) => Object.keys(load(name)).filter((member) => member !== '__esModule');
  return { loaded, members: Object.fromEntries(all.map((name) => [name, members(name)])) };
}

async function caches() {
  const compiled = require(join(dist, 'compiled.js'));
  const made = new Map();
  const load = (path) => {
    if (!path.startsWith('./')) return require(path);
    const before = made.get(path);
    if (before !== undefined) return before.module.exports;
    const compiling = compiled.scriptOf(path.slice('./'.length, -'.js'.length));
    const module = { exports: {} };
    made.set(path, { compiling, module });
    compiling.runInThisContext()(module, load);
    return module.exports;
  };
  const first = `./${basename(script)}`;
  const loadModule = load(first);
  for (const step of steps) await step(loadModule);
  load(first.replace('.js', '-rest.js'));
  for (const [path, { compiling }] of made)
    writeFileSync(join(dist, path.replace('.js', '.cache')), compiling.createCachedData());
  return [...made.keys()];
}

({ modules, caches })[what]().then(
  (result) => {
    writeFileSync(file, JSON.stringify(result));
    process.exit();
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
