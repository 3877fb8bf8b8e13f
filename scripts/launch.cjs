#!/usr/bin/env node
// Runs the command, which is one script.
'use strict';
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { cacheOf, scriptOf } = require('./compiled.js');

const command = scriptOf('command', cacheOf('command')).runInThisContext();
const { main } = command(require)('cli/main.js');
main(process.argv.slice(2), pathToFileURL(join(__dirname, '..', '/'))).then((status) => {
  process.exitCode = status;
});
