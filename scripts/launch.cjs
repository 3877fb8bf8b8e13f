#!/usr/bin/env node
// Runs the command, which is a few scripts. An older Node.js might not be able to parse them, or what loads them.
'use strict';
const { join } = require('node:path');
const { nodeVersionFault } = require('../src/node-version.ts');

function start() {
  const { load } = require('./compiled.cjs');
  const { main } = load('./command.js')('cli/main.js');
  main(process.argv.slice(2), join(__dirname, '..')).then((status) => {
    process.exitCode = status;
    // A server runs: what its first answer takes is loaded while its client learns of that.
    if (status === undefined) load('./command-answer.js');
  });
}

const fault = nodeVersionFault(process.version);
if (fault === undefined) start();
else {
  console.error(`countersign: ${fault}`);
  process.exitCode = 1;
}
