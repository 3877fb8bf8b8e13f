#!/usr/bin/env node
// Runs the command, which is one script, with what V8 made of it when it was built: half of a start would be spent
// on compiling otherwise. V8 checks only its own version, and two releases of Node.js with the same one crash on each
// other's code; so it is used by the very build that made it, and everybody else compiles as usual.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');

const filename = join(__dirname, 'command.js');

const build = JSON.stringify([process.versions, process.platform, process.arch, process.config]);

function compiledBefore() {
  try {
    if (readFileSync(join(__dirname, 'command.build'), 'utf8') !== build) return {};
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
