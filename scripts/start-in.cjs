// Starts the command that was built in each of the directories given, and ends; writes before that what V8 compiled of it,
// where a file for it is given.
'use strict';
const { writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { pathToFileURL } = require('node:url');

const [compiled, cache, ...directories] = process.argv.slice(2);
const script = require(compiled).scriptOf('command');
const load = script.runInThisContext()(createRequire(compiled));
const root = pathToFileURL(`${dirname(dirname(compiled))}/`);

async function start() {
  for (const directory of directories) {
    const kept = directory === '' ? ['--memory'] : ['--data', directory];
    const options = ['--port', '0', '--tls-port', '0', '--log', 'off', ...kept];
    const status = await load('cli/main.js').main(options, root);
    if (status !== undefined) process.exit(status);
  }
  if (cache !== '') writeFileSync(cache, script.createCachedData());
  process.kill(process.pid, 'SIGTERM');
}

start();
