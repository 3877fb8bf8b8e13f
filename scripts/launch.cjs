#!/usr/bin/env node
// Runs the command, which is a few scripts.
'use strict';
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { load } = require('./compiled.cjs');

const { main } = load('./command.js')('cli/main.js');
main(process.argv.slice(2), pathToFileURL(join(__dirname, '..', '/'))).then((status) => {
  process.exitCode = status;
});
