#!/usr/bin/env node
// Runs the command, which is a few scripts.
'use strict';
const { join } = require('node:path');
const { load } = require('./compiled.cjs');

const { main } = load('./command.js')('cli/main.js');
main(process.argv.slice(2), join(__dirname, '..')).then((status) => {
  process.exitCode = status;
  // A server runs: what its first answer takes is loaded while its client learns of that.
  if (status === undefined) load('./command-answer.js');
});
