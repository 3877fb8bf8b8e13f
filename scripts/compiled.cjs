// Loads the scripts that the library and the command are, with what V8 made of them when they were built: half of a start
// would be spent on compiling otherwise. V8 checks only its own version, and two releases of Node.js with the same one crash
// on each other's code; so it is used by the very build that made it, and for everybody else they are modules like any other.
'use strict';
const { readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');

const here = (name) => join(__dirname, name);
const loaded = new Map();
let known;

/** What tells builds of Node.js apart: what they say of themselves, and the program's own file. */
exports.build = () => {
  const { versions, arch, execPath } = process;
  const { size, mtimeMs } = statSync(execPath);
  return JSON.stringify({ versions, arch, execPath, size, mtimeMs });
};

/** What this build of Node.js made of a script; undefined where another one did, or none. */
exports.cacheOf = (name) => {
  try {
    known ??= readFileSync(here('node.build'), 'utf8') === exports.build();
    return known ? readFileSync(here(`${name}.cache`)) : undefined;
  } catch {
    known ??= false;
    return undefined;
  }
};

/** A script as a function of `module` and `require`; it is ASCII. */
exports.scriptOf = (name, cachedData) => {
  const { Script } = require('node:vm');
  const filename = here(`${name}.js`);
  const source = `(function (module, require) {${readFileSync(filename, 'latin1')}\n})`;
  return new Script(source, { filename, cachedData });
};

/** What a script of this folder exports, `./modules.js`; anything else is required. */
exports.load = (path) => {
  if (!path.startsWith('./')) return require(path);
  if (!loaded.has(path)) loaded.set(path, exportsOf(path, path.slice('./'.length, -'.js'.length)));
  return loaded.get(path);
};

/**
 * A test runner may have a world of its own for each test, which shows in its `Function`; code that was compiled for this one
 * does not belong there.
 */
function exportsOf(path, name) {
  const cache = exports.cacheOf(name);
  const run = cache && exports.scriptOf(name, cache).runInThisContext();
  if (!(run instanceof Function)) return require(path);
  const module = { exports: {} };
  run(module, exports.load);
  return module.exports;
}
