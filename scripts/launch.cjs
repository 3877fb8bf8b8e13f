#!/usr/bin/env node
// Runs the command, which is one script, with what V8 made of it when it was built: half of a start would be spent
// on compiling otherwise. V8 itself refuses what another version of it made, and then compiles as usual.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');

const filename = join(__dirname, 'command.js');

function compiledBefore() {
  try {
    return { cachedData: readFileSync(join(__dirname, 'command.cache')) };
  } catch {
    return {};
  }
}

const script = new Script(readFileSync(filename, 'utf8'), { filename, ...compiledBefore() });
const { main } = script.runInThisContext()(require)('cli/main.js');
main(process.argv.slice(2), pathToFileURL(join(__dirname, '..', '/'))).then((status) => {
  process.exitCode = status;
});
